package app

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// runInit runs the command and returns its exit code and what it said.
func runInit(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	root := rootCommand("tabard", local.Commands())
	root.SetArgs(append([]string{"issuer", "init"}, args...))
	var stdout, stderr bytes.Buffer
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err := root.ExecuteContext(t.Context())
	code = program.ExitCode(&stderr, err)
	return code, stdout.String(), stderr.String()
}

func TestInitReplacesNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "issuer.yaml")
	args := []string{"--region", "eu-central-1", "--account", "123456789012", "-f", file}
	if code, out, said := runInit(t, args...); code != program.ExitFine || out != "" || !strings.Contains(said, "tabard issuer bootstrap -f "+file) {
		t.Fatalf("exit code %d, %q and %q", code, out, said)
	}
	if _, err := readIssuer(file); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o600 != 0o600 || info.Mode().Perm()&0o133 != 0 {
		t.Errorf("the file has the mode %v (%v)", info.Mode(), err)
	}
	must.Do(t, os.WriteFile(file, []byte("mine"), 0o600))
	if code, _, said := runInit(t, args...); code != program.ExitRefused || !strings.Contains(said, "--force") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q (%v), want it as it was", text, err)
	}
	if code, _, said := runInit(t, append(args, "--force")...); code != program.ExitFine {
		t.Errorf("exit code %d with --force, said %q", code, said)
	}
	if _, err := readIssuer(file); err != nil {
		t.Error(err)
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	if code, _, said := runInit(t, "--account", "123456789012", "-f", "-"); code != program.ExitUnusable || !strings.Contains(said, "AWS_REGION") {
		t.Errorf("without a region: exit code %d, said %q", code, said)
	}
}

// TestInitWritesBothFilesOrNone has a folder with nothing, with one of the files, and with
// both.
func TestInitWritesBothFilesOrNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prod")
	wanted, manifest := filepath.Join(dir, "issuer.yaml"), filepath.Join(dir, "manifests", "cluster-authentication-02-config.yaml")
	args := []string{"--platform=OpenShift", "--region", "eu-central-1", "--account", "123456789012", "--output-dir", dir}
	if code, out, said := runInit(t, args...); code != program.ExitFine || out != "" || !strings.Contains(said, manifest) {
		t.Fatalf("exit code %d, %q and %q", code, out, said)
	}
	must.Get(readIssuer(wanted))(t)
	if code, _, said := runInit(t, args...); code != program.ExitFine {
		t.Errorf("a second time, with nothing changed: exit code %d, said %q", code, said)
	}
	for _, file := range []string{wanted, manifest} {
		other := map[string]string{wanted: manifest, manifest: wanted}[file]
		must.Do(t, os.WriteFile(file, []byte("mine"), 0o600))
		must.Do(t, os.Remove(other))
		if code, _, said := runInit(t, args...); code != program.ExitRefused || !strings.Contains(said, file+" is there already") || !strings.Contains(said, "--force") {
			t.Errorf("%s is there: exit code %d, said %q", file, code, said)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
			t.Errorf("%s holds %q (%v), want it as it was", file, text, err)
		}
		if _, err := os.Lstat(other); !os.IsNotExist(err) {
			t.Errorf("%s is written beside %s: %v", other, file, err)
		}
		if code, _, said := runInit(t, append(args, "--force")...); code != program.ExitFine {
			t.Errorf("exit code %d with --force, said %q", code, said)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) == "mine" {
			t.Errorf("%s is not replaced with --force (%v)", file, err)
		}
	}
	if code, _, said := runInit(t, append(args, "-f", wanted)...); code != program.ExitUnusable || !strings.Contains(said, "exclude each other") {
		t.Errorf("with a file and a folder: exit code %d, said %q", code, said)
	}
	if code, _, said := runInit(t, "--platform", "EKS", "--region", "eu-central-1"); code != program.ExitUnusable || !strings.Contains(said, "expected Kubernetes or OpenShift") {
		t.Errorf("for EKS: exit code %d, said %q", code, said)
	}
}

// TestTheStoryOfOpenShift types the page's commands, with kubectl in place of oc, at an
// API server with OpenShift's Authentication.
func TestTheStoryOfOpenShift(t *testing.T) {
	const url = "https://prod-oidc-123456789012.s3.eu-central-1.amazonaws.com"
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/oidc-issuer.md")))(t))
	_, section, _ := strings.Cut(page, "\n## On OpenShift\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := testkit.Blocks(section, "sh")
	if len(blocks) != 3 {
		t.Fatalf("the page's section has %d blocks", len(blocks))
	}
	cluster := theCluster(t)
	cluster.MakeNamespaces("openshift-kube-apiserver")
	keys := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-kube-apiserver", Name: "bound-sa-token-signing-certs"},
		Data:       map[string]string{"service-account-001.pub": "a key", "service-account-002.pub": "the next"},
	}
	cluster.Make(keys)
	dir := t.TempDir()
	typed := func(lines string) string {
		return testkit.Shell(t, cluster.Config, `root=$PWD PATH="$(dirname "$TABARD_BIN"):$PATH"; oc() { kubectl "$@"; }; cd `+dir+"\n"+lines)
	}

	if said := typed(blocks[2]); !strings.Contains(said, "openshift-install create cluster") {
		t.Errorf("it said\n%s", said)
	}
	typed("oc apply --validate=strict -f prod/manifests/cluster-authentication-02-config.yaml")
	authentication := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "config.openshift.io/v1", "kind": "Authentication"}}
	issuerNow := func() string {
		must.Do(t, cluster.Get(t.Context(), client.ObjectKey{Name: "cluster"}, authentication))
		text, _, err := unstructured.NestedString(authentication.Object, "spec", "serviceAccountIssuer")
		must.Do(t, err)
		return text
	}
	if got := issuerNow(); got != url {
		t.Errorf("the installed cluster has the issuer %q", got)
	}

	typed(`oc patch authentication cluster --type=merge -p '{"spec":{"serviceAccountIssuer":""}}'`)
	said := typed(blocks[0])
	if !strings.Contains(said, "\n  "+blocks[1]+"\n") {
		t.Errorf("it prints another patch than the page has:\n%s", said)
	}
	if got := issuerNow(); got != "" {
		t.Errorf("the command has set the issuer %q", got)
	}
	typed("oc apply -f $root/config/manifests/openshift/issuer.yaml && oc apply --validate=strict -f issuer.yaml")
	typed(blocks[1])
	if got := issuerNow(); got != url {
		t.Errorf("the patched cluster has the issuer %q", got)
	}
	stored := &v1alpha1.OIDCIssuer{}
	must.Do(t, cluster.Get(t.Context(), client.ObjectKey{Name: "prod"}, stored))
	defer cluster.Remove(stored) // another test lists all
	wantKeysReadable(t, cluster, stored, keys.Data)
}

// wantKeysReadable reads the keys of an OIDCIssuer as its controller's account.
func wantKeysReadable(t *testing.T, cluster *testkit.Cluster, stored *v1alpha1.OIDCIssuer, want map[string]string) {
	t.Helper()
	own := rest.CopyConfig(cluster.Config)
	own.Impersonate.UserName = "system:serviceaccount:tabard-system:tabard-issuer"
	reader := must.Get(client.New(own, client.Options{Scheme: cluster.Scheme()}))(t)
	testkit.Await(t, func() error {
		seen, _ := (&issuer.Cluster{Config: own, Client: reader}).Observe(t.Context(), stored.Spec.Keys)
		if seen.ConfigMap == nil || !maps.Equal(seen.ConfigMap.Data, want) {
			return fmt.Errorf("the controller reads the keys %+v", seen.ConfigMap)
		}
		return nil
	})
	var others corev1.ConfigMapList
	if err := reader.List(t.Context(), &others, client.InNamespace("openshift-kube-apiserver")); !apierrors.IsForbidden(err) {
		t.Errorf("the controller lists all ConfigMaps: %v", err)
	}
}

// TestWhatInitWritesIsStored has a real API server take the file.
func TestWhatInitWritesIsStored(t *testing.T) {
	cluster := theCluster(t)
	file := filepath.Join(t.TempDir(), "issuer.yaml")
	if code, _, said := runInit(t, "--region", "eu-central-1", "--account", "123456789012", "-f", file); code != program.ExitFine {
		t.Fatalf("exit code %d, said %q", code, said)
	}
	testkit.Shell(t, cluster.Config, "kubectl apply --validate=strict -f "+file)
	wanted := must.Get(readIssuer(file))(t)
	defer cluster.Remove(wanted) // another test lists all
	stored := wanted.DeepCopy()
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(wanted), stored); err != nil || stored.Spec.URL != wanted.Spec.URL {
		t.Errorf("stored is %+v (%v)", stored.Spec, err)
	}
}
