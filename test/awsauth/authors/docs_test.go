package authors

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	page    = "../../../docs/operator-authors.md"
	example = "../../../examples/token-operator"
	// pagesRole and pagesToken are the role and the token file that the page names.
	pagesRole  = "arn:aws:iam::" + account + ":role/operators/first"
	pagesToken = "/var/run/secrets/openshift/serviceaccount/token"
	// pagesPattern are the roles that the page's CredentialsBoundary allows.
	pagesPattern = "arn:aws:iam::" + account + ":role/operators/*"
)

func readAll(t testing.TB, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	all := ""
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		all += string(text) + "\n"
	}
	return all
}

// TestThePagesCommands runs the commands of docs/operator-authors.md, applies
// its examples and its trust policy, and starts the operator as the Deployment
// that they leave behind says.
func TestThePagesCommands(t *testing.T) {
	text := readAll(t, page)
	commands, policies := testkit.Blocks(text, "sh"), testkit.Blocks(text, "json")
	if len(commands) != 5 || len(policies) != 1 {
		t.Fatalf("%s has %d commands and %d policies; the test knows 5 and 1", page, len(commands), len(policies))
	}
	w := newWorld(t)
	w.serveCluster()
	w.serveRequests()
	w.describe("AWS", "Manual")
	w.register()
	if got, want := w.typed(commands[0]), "AWS\nManual\n"+w.Issuer()+"\n"; got != want {
		t.Errorf("the cluster says %q, want %q", got, want)
	}
	w.typed(commands[2] + "\n" + commands[3])
	trust := strings.ReplaceAll(policies[0], "oidc.example.com", strings.TrimPrefix(w.Issuer(), "https://"))
	must.Get(w.administrator().CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("first"), Path: aws.String("/operators/"), AssumeRolePolicyDocument: &trust,
	}))(t)
	p := w.start(w.deployedRole())
	w.awaitCondition("WaitingForSecret", "does not exist")
	w.checkExamples(testkit.Blocks(text, "yaml"))
	w.install()
	w.allow(pagesPattern)
	w.typed(commands[1])
	controller := w.fulfil()
	shown := w.typed(commands[4])
	for _, want := range []string{session("first"), "WaitingForSecret", "Assumed", "AWSProviderSpec"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the commands do not show %s:\n%s", want, shown)
		}
	}
	p.End()
	controller.End()
}

// typed types commands of the page twice in a row, and returns what the second time printed.
func (w *world) typed(commands string) string {
	w.Helper()
	w.Shell(commands)
	return w.Shell(commands)
}

// deployedRole is the role in the Deployment's environment; it also sees that
// the pod mounts a token of the test's audience where the operator looks for it.
func (w *world) deployedRole() string {
	w.Helper()
	found := must.Get(w.Kube.AppsV1().Deployments(name).Get(w.Context(), name, metav1.GetOptions{}))(w)
	pod := found.Spec.Template.Spec
	token := pod.Volumes[0].Projected.Sources[0].ServiceAccountToken
	if got := pod.Containers[0].VolumeMounts[0].MountPath + "/" + token.Path; got != pagesToken || token.Audience != audience {
		w.Errorf("the pod mounts a token for %s at %s", token.Audience, got)
	}
	return valueOf(pod.Containers[0].Env)
}

// valueOf is that of ROLEARN.
func valueOf(variables []corev1.EnvVar) string {
	for _, variable := range variables {
		if variable.Name == "ROLEARN" {
			return variable.Value
		}
	}
	return ""
}

// checkExamples compares the page's objects with those that the operator and what
// fulfils its request make, and what is no object with the manifests.
func (w *world) checkExamples(examples []string) {
	w.Helper()
	manifests := flat(readAll(w, filepath.Join(example, "manifests", "*.yaml")))
	kinds := map[string]int{}
	for _, text := range examples {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil || object.GetKind() == "" {
			if !strings.Contains(manifests, flat(text)) {
				w.Errorf("no manifest of the example has\n%s", text)
			}
			continue
		}
		kinds[object.GetKind()]++
		switch object.GetKind() {
		case "CredentialsRequest":
			want := w.wantSpec(pagesRole)
			want["cloudTokenPath"] = pagesToken
			if diff := cmp.Diff(want, object.Object["spec"]); diff != "" {
				w.Errorf("the page's CredentialsRequest (-want +got):\n%s", diff)
			}
			w.Shell("kubectl apply --dry-run=server -f - <<'END'\n" + text + "\nEND\n")
		case "Secret":
			if got, want := w.field(&object, "stringData", "credentials"), content(pagesRole, pagesToken); got != want {
				w.Errorf("the page's Secret has %q, want %q", got, want)
			}
		case "Role": // the test of tenants grants it
		case "CredentialsBoundary": // applied for the controller credentials
		case "Subscription":
			var subscription struct {
				Spec struct{ Config struct{ Env []corev1.EnvVar } }
			}
			if err := yaml.Unmarshal([]byte(text), &subscription); err != nil || valueOf(subscription.Spec.Config.Env) != pagesRole {
				w.Errorf("the page's Subscription does not name the role: %+v %v", subscription, err)
			}
		default:
			w.Errorf("the test does not know what to do with the page's %s", object.GetKind())
		}
	}
	if diff := cmp.Diff(map[string]int{"CredentialsBoundary": 1, "CredentialsRequest": 1, "Role": 1, "Secret": 1, "Subscription": 1}, kinds); diff != "" {
		w.Errorf("the page's objects (-want +got):\n%s", diff)
	}
}

// flat is a text without the indentation of its lines.
func flat(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(strings.TrimSpace(text), "")
}

// TestThePagesCode finds the page's code in files that are compiled and run.
func TestThePagesCode(t *testing.T) {
	quoted := testkit.Blocks(readAll(t, page), "go")
	if len(quoted) < 4 {
		t.Fatalf("%s has %d pieces of code; the test has not found them", page, len(quoted))
	}
	code := flat(readAll(t, filepath.Join(example, "*.go")) + readAll(t, "controllerruntime_test.go") + readAll(t, "tenant_test.go"))
	for _, piece := range quoted {
		if !strings.Contains(code, flat(piece)) {
			t.Errorf("neither the example nor its test has this code of the page:\n%s", piece)
		}
	}
}

// TestThePagesReasons compares the table of reasons with the example's.
func TestThePagesReasons(t *testing.T) {
	var told, real []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (Normal|Warning) ").FindAllStringSubmatch(readAll(t, page), -1) {
		told = append(told, row[1]+" "+row[2])
	}
	kinds := map[string]string{"waiting": "Normal", "problem": "Warning", "EventTypeNormal": "Normal"}
	calls := regexp.MustCompile(`(waiting|problem|EventTypeNormal)(?:\(|, )"(\w+)"`)
	for _, call := range calls.FindAllStringSubmatch(readAll(t, filepath.Join(example, "*.go")), -1) {
		real = append(real, call[2]+" "+kinds[call[1]])
	}
	slices.Sort(told)
	slices.Sort(real)
	if diff := cmp.Diff(slices.Compact(real), told); diff != "" {
		t.Errorf("reasons (-example +page):\n%s", diff)
	}
}
