package inject_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

var update = flag.Bool("update", false, "rewrite testdata/*.want.yaml")

// setup is what a *.binding.yaml file says. Settings left out are the defaults.
type setup struct {
	Settings inject.Settings `json:"settings"`
	// Jitter is the random number of container credentials, if any.
	Jitter *int64 `json:"jitter"`
	// Namespace is that of the request.
	Namespace string `json:"namespace"`
	// NamespaceLabels, Annotations and Labels are those of the namespace and of
	// the ServiceAccount.
	NamespaceLabels map[string]string `json:"namespaceLabels"`
	Annotations     map[string]string `json:"annotations"`
	Labels          map[string]string `json:"labels"`
	// Unknown says that there is no such ServiceAccount.
	Unknown bool `json:"unknown"`
	// Mapping and Identities are the two documents as they are written.
	Mapping    string `json:"mapping"`
	Identities string `json:"identities"`
	// Problems are those that the documents have.
	Problems []string `json:"problems"`
}

func newSetup() setup { return setup{Settings: inject.Defaults(), Namespace: "shop"} }

// TestGolden takes each testdata/NAME.pod.yaml through the injector set up by
// NAME.binding.yaml, and compares the pod that comes out, with the operations
// and warnings as comments above it, with NAME.want.yaml.
func TestGolden(t *testing.T) {
	t.Parallel()
	pods, err := filepath.Glob("testdata/*.pod.yaml")
	if err != nil || len(pods) == 0 {
		t.Fatalf("no testdata/*.pod.yaml: %v", err)
	}
	for _, file := range pods {
		name := strings.TrimSuffix(file, ".pod.yaml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			given := newSetup()
			if err := yaml.UnmarshalStrict(readFile(t, name+".binding.yaml"), &given); err != nil {
				t.Fatalf("%s.binding.yaml: %v", name, err)
			}
			pod, err := yaml.YAMLToJSON(readFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			result := injected(t, given, pod)
			got := render(t, pod, result)
			if again := injected(t, given, apply(t, pod, result.Patch)); again.Patch != nil {
				t.Errorf("injected again: patch %s", again.Patch)
			}
			if *update {
				if err := os.WriteFile(name+".want.yaml", []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(readFile(t, name+".want.yaml")), got); diff != "" {
				t.Errorf("%s.want.yaml (-want +got):\n%s", name, diff)
			}
		})
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// injected takes a pod as JSON through the injector.
func injected(t *testing.T, given setup, pod []byte) inject.Result {
	t.Helper()
	if given.Jitter != nil {
		given.Settings.Jitter = func(int64) int64 { return *given.Jitter }
	}
	injector, err := inject.New(given.Settings)
	if err != nil {
		t.Fatal(err)
	}
	subject, problems := given.subject()
	if diff := cmp.Diff(given.Problems, problems); diff != "" {
		t.Errorf("problems of mapping and identities (-want +got):\n%s", diff)
	}
	result, err := decide(injector, subject, pod)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// subject is the one of the setup, and the problems of its documents.
func (s setup) subject() (inject.Subject, []string) {
	subject := inject.Subject{Namespace: s.Namespace, NamespaceLabels: s.NamespaceLabels}
	if !s.Unknown {
		subject.Account = &inject.ServiceAccount{Annotations: s.Annotations, Labels: s.Labels}
	}
	var problems, more []string
	if s.Mapping != "" {
		subject.Mapping, problems = inject.ParseMapping([]byte(s.Mapping))
	}
	subject.Identities, more = inject.ParseIdentities([]byte(s.Identities))
	return subject, append(problems, more...)
}

func decide(injector *inject.Injector, subject inject.Subject, text []byte) (inject.Result, error) {
	object, err := raw.Parse(text)
	if err != nil {
		return inject.Result{}, err
	}
	pod, err := injector.Read(object)
	if err != nil {
		return inject.Result{}, err
	}
	return injector.Inject(pod, subject)
}

// apply applies a patch by an implementation of RFC 6902 that is not ours.
func apply(t *testing.T, pod, patch []byte) []byte {
	t.Helper()
	if patch == nil {
		return pod
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatalf("patch %s: %v", patch, err)
	}
	after, err := decoded.Apply(pod)
	if err != nil {
		t.Fatalf("patch %s does not apply: %v", patch, err)
	}
	return after
}

func render(t *testing.T, pod []byte, result inject.Result) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "# reason: %s\n", result.Reason)
	if result.Method != inject.NoMethod {
		fmt.Fprintf(&text, "# method: %s\n", result.Method)
	}
	for _, warning := range result.Warnings {
		fmt.Fprintf(&text, "# warning: %s\n", warning)
	}
	var operations []struct{ Op, From, Path string }
	if result.Patch != nil {
		if err := json.Unmarshal(result.Patch, &operations); err != nil {
			t.Fatalf("patch %s: %v", result.Patch, err)
		}
	}
	for _, operation := range operations {
		fmt.Fprintf(&text, "# %s\n", strings.Join(strings.Fields(operation.Op+" "+operation.From+" "+operation.Path), " "))
	}
	after, err := yaml.JSONToYAML(apply(t, pod, result.Patch))
	if err != nil {
		t.Fatal(err)
	}
	text.Write(after)
	return text.String()
}
