package docs

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// What the page names.
const (
	account   = "111122223333"
	region    = "eu-central-1"
	system    = "tabard-system"
	name      = "tabard-capacity"
	machines  = "openshift-machine-api"
	pagesName = "oidc.example.com"
)

// bench is a cluster and an AWS that can read its issuer.
type bench struct {
	*testkit.Cluster
	dir string
	aws *awstest.Lab
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), Cluster: testkit.StartCluster(t, testkit.ClusterOptions{
		Foreign: []testkit.ForeignKinds{testkit.MachineAPI, testkit.ClusterAPI, testkit.ClusterAPIAWS},
	})}
	b.MakeNamespaces(machines, "openshift-config-managed", "capa-annotator")
	b.aws = startAWS(t, b.Roots)
	b.write("ca.pem", b.aws.CACertificate())
	return b
}

// startAWS starts a local AWS that can read an issuer, over TLS and without.
func startAWS(t *testing.T, roots *x509.CertPool) *awstest.Lab {
	t.Helper()
	return awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: roots})
}

// administratorOf is a configuration by which the SDK asks as the account's
// administrator.
func administratorOf(server *awstest.Lab) aws.Config {
	return server.As(server.Administrator(account))
}

func (b *bench) write(file string, content []byte) string {
	b.Helper()
	where := filepath.Join(b.dir, file)
	must.Do(b, os.WriteFile(where, content, 0o600))
	return where
}

// apply applies an object of the page.
func (b *bench) apply(text string) {
	b.Helper()
	b.Shell("kubectl apply -f - <<'END'\n" + text + "\nEND\n")
}

// typed types commands of the page twice in a row, and returns what the second time printed.
func (b *bench) typed(commands string) string {
	b.Helper()
	b.Shell(commands)
	return b.Shell(commands)
}

// deployment is one as it stands in the cluster.
func (b *bench) deployment(of string) *appsv1.Deployment {
	b.Helper()
	var found appsv1.Deployment
	must.Do(b, b.Get(b.Context(), client.ObjectKey{Namespace: system, Name: of}, &found))
	return &found
}

// token is one of a ServiceAccount, bound to a pod as the kubelet's are if there is
// one.
func (b *bench) token(account, audience string, of ...*corev1.Pod) []byte {
	b.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
	for _, pod := range of {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	who := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	must.Do(b, b.SubResource("token").Create(b.Context(), who, request))
	return []byte(request.Status.Token)
}

// environment is what the Deployment's ConfigMap says. The token file is the
// kubelet's work: it must be a projected token that the Deployment mounts.
func (b *bench) environment(d *appsv1.Deployment) []string {
	b.Helper()
	var config corev1.ConfigMap
	container := d.Spec.Template.Spec.Containers[0]
	if len(container.EnvFrom) == 0 {
		return nil
	}
	named := client.ObjectKey{Namespace: system, Name: container.EnvFrom[0].ConfigMapRef.Name}
	if err := b.Get(b.Context(), named, &config); err != nil {
		if client.IgnoreNotFound(err) == nil && *container.EnvFrom[0].ConfigMapRef.Optional {
			return nil
		}
		b.Fatal(err)
	}
	var out []string
	for variable, value := range config.Data {
		if variable == "AWS_WEB_IDENTITY_TOKEN_FILE" {
			value = b.write("token", b.token(d.Spec.Template.Spec.ServiceAccountName, audienceAt(b, d.Spec.Template.Spec, value)))
		}
		out = append(out, variable+"="+value)
	}
	return out
}

// audienceAt is the audience of the projected token at a path of a pod.
func audienceAt(t testing.TB, pod corev1.PodSpec, file string) string {
	t.Helper()
	for _, mount := range pod.Containers[0].VolumeMounts {
		for _, volume := range pod.Volumes {
			if mount.MountPath != path.Dir(file) || mount.Name != volume.Name || volume.Projected == nil {
				continue
			}
			if found := volume.Projected.Sources[0].ServiceAccountToken; found.Path == path.Base(file) {
				return found.Audience
			}
		}
	}
	t.Fatalf("the pod has no token at %s: %+v", file, pod.Volumes)
	return ""
}

// start runs tabard as a Deployment says: with its arguments, its ServiceAccount's
// rights and its environment, and what else a test must say, because there is no
// pod and no kubelet.
func (b *bench) start(of string, flags []string, environment ...string) *testkit.Process {
	b.Helper()
	d := b.deployment(of)
	config := rest.CopyConfig(b.Config)
	config.BearerToken = string(b.token(d.Spec.Template.Spec.ServiceAccountName, "api"))
	kubeconfig := b.write("kubeconfig", nil)
	testkit.WriteKubeconfig(b, kubeconfig, config)
	args := slices.Concat(d.Spec.Template.Spec.Containers[0].Args, []string{"--metrics-bind-address=0"}, flags)
	command := exec.CommandContext(context.WithoutCancel(b.Context()), testkit.Tabard(b), args...)
	command.Env = slices.Concat(b.environment(d), environment, []string{
		"KUBECONFIG=" + kubeconfig, "AWS_ENDPOINT_URL=" + b.aws.URL(), "AWS_CA_BUNDLE=" + filepath.Join(b.dir, "ca.pem"),
	})
	return testkit.StartProcess(b, command)
}

// startAlone is start for tabard capacity.
func (b *bench) startAlone(environment ...string) *testkit.Process {
	b.Helper()
	flags := []string{"--health-addr=0", "--leader-elect-lease-duration=6s"}
	if !strings.Contains(strings.Join(b.deployment(name).Spec.Template.Spec.Containers[0].Args, " "), "--leader-elect-resource-namespace") {
		flags = append(flags, "--leader-elect-resource-namespace="+system)
	}
	return b.start(name, flags, environment...)
}

// callers are who asked EC2, each once, without the names of sessions.
func (b *bench) callers() (out []string) {
	for _, entry := range b.aws.Admin().Journal() {
		if entry.Service != "ec2" {
			continue
		}
		who := entry.Caller
		if strings.Contains(who, ":assumed-role/") {
			who = path.Dir(who)
		}
		if !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	return out
}

// wantCallers demands that nobody else has asked EC2 since the last time.
func (b *bench) wantCallers(want string) {
	b.Helper()
	if got := fmt.Sprint(b.callers()); got != "["+want+"]" {
		b.Errorf("EC2 was asked by %s, want %s alone", got, want)
	}
	b.aws.Admin().ClearJournal()
}
