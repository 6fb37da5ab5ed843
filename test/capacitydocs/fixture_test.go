package capacitydocs

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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
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
	t       *testing.T
	dir     string
	api     *testkit.APIServer
	cluster client.Client
	aws     *awslocal.Server
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	var roots *x509.CertPool
	b.api, roots = testkit.StartIssuer(t)
	b.api.InstallForeign(t, testkit.MachineAPI, testkit.ClusterAPI, testkit.ClusterAPIAWS)
	var err error
	if b.cluster, err = client.New(b.api.Config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, each := range []string{machines, "openshift-config-managed", "capa-annotator"} {
		b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: each}})
	}
	b.aws = startAWS(t, roots)
	b.write("ca.pem", b.aws.CACertificate())
	return b
}

// startAWS starts a local AWS that can read an issuer, over TLS and without.
func startAWS(t *testing.T, roots *x509.CertPool) *awslocal.Server {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if err := server.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return server
}

// administratorOf is a configuration by which the SDK asks as the account's
// administrator.
func administratorOf(server *awslocal.Server) aws.Config {
	key := server.Administrator(account)
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(server.PlainURL()),
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	}
}

func (b *bench) write(file string, content []byte) string {
	b.t.Helper()
	where := filepath.Join(b.dir, file)
	if err := os.WriteFile(where, content, 0o600); err != nil {
		b.t.Fatal(err)
	}
	return where
}

func (b *bench) create(object client.Object) {
	b.t.Helper()
	testkit.Create(b.t, b.cluster, object)
}

// shell runs commands of the page, and returns what they print.
func (b *bench) shell(script string) string {
	b.t.Helper()
	return testkit.Shell(b.t, b.api.Config, script)
}

// apply applies an object of the page.
func (b *bench) apply(text string) {
	b.t.Helper()
	b.shell("kubectl apply -f - <<'END'\n" + text + "\nEND\n")
}

// deployment is one as it stands in the cluster.
func (b *bench) deployment(of string) *appsv1.Deployment {
	b.t.Helper()
	var found appsv1.Deployment
	if err := b.cluster.Get(b.t.Context(), client.ObjectKey{Namespace: system, Name: of}, &found); err != nil {
		b.t.Fatal(err)
	}
	return &found
}

// token is one of a ServiceAccount, bound to a pod as the kubelet's are if there is
// one.
func (b *bench) token(account, audience string, of ...*corev1.Pod) []byte {
	b.t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}
	for _, pod := range of {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	who := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	if err := b.cluster.SubResource("token").Create(b.t.Context(), who, request); err != nil {
		b.t.Fatal(err)
	}
	return []byte(request.Status.Token)
}

// environment is what the Deployment's ConfigMap says. The token file is the
// kubelet's work: it must be a projected token that the Deployment mounts.
func (b *bench) environment(d *appsv1.Deployment) []string {
	b.t.Helper()
	var config corev1.ConfigMap
	container := d.Spec.Template.Spec.Containers[0]
	if len(container.EnvFrom) == 0 {
		return nil
	}
	named := client.ObjectKey{Namespace: system, Name: container.EnvFrom[0].ConfigMapRef.Name}
	if err := b.cluster.Get(b.t.Context(), named, &config); err != nil {
		if client.IgnoreNotFound(err) == nil && *container.EnvFrom[0].ConfigMapRef.Optional {
			return nil
		}
		b.t.Fatal(err)
	}
	var out []string
	for variable, value := range config.Data {
		if variable == "AWS_WEB_IDENTITY_TOKEN_FILE" {
			value = b.write("token", b.token(d.Spec.Template.Spec.ServiceAccountName, audienceAt(b.t, d.Spec.Template.Spec, value)))
		}
		out = append(out, variable+"="+value)
	}
	return out
}

// audienceAt is the audience of the projected token at a path of a pod.
func audienceAt(t *testing.T, pod corev1.PodSpec, file string) string {
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
	b.t.Helper()
	program := os.Getenv("TABARD_BIN")
	if program == "" {
		b.t.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	d := b.deployment(of)
	config := rest.CopyConfig(b.api.Config)
	config.BearerToken = string(b.token(d.Spec.Template.Spec.ServiceAccountName, "api"))
	kubeconfig := b.write("kubeconfig", nil)
	testkit.WriteKubeconfig(b.t, kubeconfig, config)
	args := slices.Concat(d.Spec.Template.Spec.Containers[0].Args, []string{"--metrics-bind-address=0"}, flags)
	command := exec.CommandContext(context.WithoutCancel(b.t.Context()), program, args...)
	command.Env = slices.Concat(b.environment(d), environment, []string{
		"KUBECONFIG=" + kubeconfig, "AWS_ENDPOINT_URL=" + b.aws.URL(), "AWS_CA_BUNDLE=" + filepath.Join(b.dir, "ca.pem"),
	})
	return testkit.StartProcess(b.t, command)
}

// startAlone is start for tabard capacity.
func (b *bench) startAlone(environment ...string) *testkit.Process {
	b.t.Helper()
	flags := []string{"--health-addr=0", "--leader-elect-lease-duration=6s"}
	if !strings.Contains(strings.Join(b.deployment(name).Spec.Template.Spec.Containers[0].Args, " "), "--leader-elect-resource-namespace") {
		flags = append(flags, "--leader-elect-resource-namespace="+system)
	}
	return b.start(name, flags, environment...)
}

// await waits until the question is answered with nil.
func (b *bench) await(question func() error) {
	b.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(b.t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		last = question()
		return last == nil, nil
	})
	if err != nil {
		b.t.Fatal(last)
	}
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
	b.t.Helper()
	if got := fmt.Sprint(b.callers()); got != "["+want+"]" {
		b.t.Errorf("EC2 was asked by %s, want %s alone", got, want)
	}
	b.aws.Admin().ClearJournal()
}
