package lab

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/lab/port"
	"github.com/tabard-dev/tabard/internal/lab/process"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func example(dir string) Lab {
	return Lab{
		APIVersion: apiVersion, Kind: kind, Dir: dir, Bucket: "tabard-lab-01020304-oidc", Localkube: "/bin/localkube", Tabard: "/bin/tabard",
		Ports: Ports{APIServer: 20001, Etcd: 20002, EtcdPeer: 20003, ControllerManager: 20004, AWS: 20005, Webhook: 20006},
	}
}

func TestPlan(t *testing.T) {
	lab := plan("/d", 20000, [4]byte{1, 2, 3, 0xff})
	want := Ports{APIServer: 20000, Etcd: 20001, EtcdPeer: 20002, ControllerManager: 20003, AWS: 20004, Webhook: 20005, Scheduler: 20006}
	if diff := cmp.Diff(want, lab.Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if lab.Ports.Scheduler-lab.Ports.APIServer >= portsOfALab {
		t.Errorf("the ports %v are not all in a block of %d", lab.Ports, portsOfALab)
	}
	if lab.Bucket != "tabard-lab-010203ff-oidc" || lab.Dir != "/d" {
		t.Errorf("bucket %q, dir %q", lab.Bucket, lab.Dir)
	}
}

func TestNewLabsDiffer(t *testing.T) {
	first, claim, err := newLab(t.Context(), "/d", false)
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Close() //nolint:errcheck // its ports are not used
	second, another, err := newLab(t.Context(), "/d", false)
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close() //nolint:errcheck // its ports are not used
	if first.Bucket == second.Bucket {
		t.Errorf("two labs share the bucket %s", first.Bucket)
	}
	if first.Ports.APIServer == second.Ports.APIServer {
		t.Errorf("two labs share the ports %v", first.Ports)
	}
	if first.Ports.AWS < port.Labs.First || first.Ports.AWS > port.Labs.Last {
		t.Errorf("port %d", first.Ports.AWS)
	}
}

func TestCheckDir(t *testing.T) {
	tests := map[string]struct{ dir, refused string }{
		"an absolute path is fine":     {dir: "/tmp/lab"},
		"80 bytes are fine":            {dir: "/" + strings.Repeat("x", 79)},
		"81 bytes are refused":         {dir: "/" + strings.Repeat("x", 80), refused: "socket"},
		"a folder without a name":      {dir: "", refused: "--dir"},
		"a long relative one, as well": {dir: strings.Repeat("y", 100), refused: "socket"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := CheckDir(test.dir)
			var unusable *DirError
			if (test.refused != "") != errors.As(err, &unusable) || (err != nil && !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
		})
	}
}

func TestLoadReturnsWhatWasSaved(t *testing.T) {
	want := example(t.TempDir())
	if _, err := Load(want.Dir); !errors.Is(err, ErrNone) {
		t.Fatalf("an empty folder: %v", err)
	}
	must.Do(t, want.save())
	got := must.Get(Load(want.Dir))(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(want.Path("lab.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestForeignFilesAreNoLab(t *testing.T) {
	good := must.Get(json.Marshal(example("/d")))(t)
	tests := map[string]struct{ data, path, refused string }{
		"no JSON":            {"{", "/d/lab.json", "not readable"},
		"another kind":       {`{"apiVersion":"lab.tabard.dev/v1","kind":"Zoo"}`, "/d/lab.json", "not a lab of this program"},
		"a later version":    {`{"apiVersion":"lab.tabard.dev/v9","kind":"Lab"}`, "/d/lab.json", "not a lab of this program"},
		"a lab that moved":   {string(good), "/elsewhere/lab.json", "cannot be moved"},
		"nothing in it":      {"", "/d/lab.json", "not readable"},
		"a lab in its place": {string(good), "/d/lab.json", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(test.data), test.path)
			if (err != nil) != (test.refused != "") || (err != nil && !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
		})
	}
}

func TestPrepareDir(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "lab")
	must.Do(t, prepareDir(dir))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info, err)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600))
	if err := prepareDir(dir); err == nil || !strings.Contains(err.Error(), "precious") {
		t.Errorf("a folder of somebody else: %v", err)
	}
	must.Do(t, example(dir).save())
	if err := prepareDir(dir); err != nil {
		t.Errorf("a lab with a file beside it: %v", err)
	}
}

func TestEmptyLeavesWhatIsNotTheLabs(t *testing.T) {
	lab := example(t.TempDir())
	must.Do(t, errors.Join(lab.save(), lab.makeFolders(), os.WriteFile(lab.Path("notes.txt"), nil, 0o600)))
	must.Do(t, lab.empty())
	entries, err := os.ReadDir(lab.Dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "notes.txt" {
		t.Errorf("left: %v, %v; want notes.txt", entries, err)
	}
}

func TestRepairKeepsKeys(t *testing.T) {
	lab := example(t.TempDir())
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	must.Do(t, errors.Join(lab.makeFolders(), lab.ensureKeys(now)))
	read := func() map[string]string {
		files := map[string]string{}
		paths := must.Get(filepath.Glob(lab.pki("*")))(t)
		for _, path := range paths {
			data := must.Get(os.ReadFile(path))(t)
			files[filepath.Base(path)] = string(data)
		}
		return files
	}
	first := read()
	must.Do(t, lab.ensureKeys(now.Add(time.Hour)))
	if diff := cmp.Diff(first, read()); diff != "" {
		t.Errorf("a second look changed keys (-want +got):\n%s", diff)
	}
	// Interrupted before the last certificate: all are made again, but the
	// token signing key, which tokens hang on, stays.
	must.Do(t, os.Remove(lab.pki("admin.crt")))
	must.Do(t, lab.ensureKeys(now))
	second := read()
	if first["ca.crt"] == second["ca.crt"] || first["service-account.key"] != second["service-account.key"] {
		t.Error("after an interruption the CA must be new and the signing key the old one")
	}
}

func TestManifestsFitTheirKinds(t *testing.T) {
	lab := example(t.TempDir())
	must.Do(t, errors.Join(lab.makeFolders(), lab.writeManifests()))
	var issuer identityv1alpha1.OIDCIssuer
	var webhook admissionregistrationv1.MutatingWebhookConfiguration
	for name, into := range map[string]any{"issuer.yaml": &issuer, "webhook.yaml": &webhook} {
		data := must.Get(os.ReadFile(lab.Path("manifests", name)))(t)
		if err := yaml.UnmarshalStrict(data, into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if want := "https://127.0.0.1:20005/tabard-lab-01020304-oidc"; issuer.Spec.URL != want || issuer.Spec.Publication.S3.Bucket != lab.Bucket {
		t.Errorf("issuer %q, want %q; bucket %q", issuer.Spec.URL, want, issuer.Spec.Publication.S3.Bucket)
	}
	var hooks []string
	for _, hook := range webhook.Webhooks {
		hooks = append(hooks, hook.Name+" "+*hook.ClientConfig.URL)
	}
	want := []string{"pod-identity.tabard.dev https://127.0.0.1:20006/mutate", "required.pod-identity.tabard.dev https://127.0.0.1:20006/mutate/required",
		"skippable.required.pod-identity.tabard.dev https://127.0.0.1:20006/mutate/required/skippable",
		"probe.tabard.dev https://localhost:20006/probe"}
	if diff := cmp.Diff(want, hooks); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
}

func TestComponentsListenOnLoopbackOnly(t *testing.T) {
	t.Setenv("KUBECONFIG", "/somebody/else")
	t.Setenv("AWS_PROFILE", "production")
	lab := example("/d")
	for _, name := range lab.Components() {
		spec := lab.component(name)
		text := strings.Join(spec.Command, " ")
		if !strings.Contains(text, Loopback) || strings.Contains(text, "0.0.0.0") || strings.Contains(text, "localhost") {
			t.Errorf("%s: %s", name, text)
		}
		for _, variable := range spec.Env {
			if key, _, _ := strings.Cut(variable, "="); key != "PATH" && key != "HOME" && key != "TMPDIR" {
				t.Errorf("%s is told %s of its caller's environment", name, key)
			}
		}
	}
	want := "--service-account-issuer=" + lab.IssuerURL()
	if arguments := strings.Join(lab.apiServerArguments(), "\n"); !strings.Contains(arguments, want) {
		t.Errorf("the API server is not told %s", want)
	}
}

func TestWaves(t *testing.T) {
	var records []process.Record
	for _, name := range []string{"etcd", "kube-apiserver", "operator.command", "operator", "awslocal", "run-7", "node", "kubelet", "containerd", "kube-proxy"} {
		records = append(records, process.Record{Name: name})
	}
	var got [][]string
	for _, wave := range waves(records) {
		var names []string
		for _, record := range wave {
			names = append(names, record.Name)
		}
		got = append(got, names)
	}
	want := [][]string{{"operator", "run-7"}, {"operator.command"}, {"kubelet", "kube-proxy"}, {"containerd"}, {"kube-apiserver", "awslocal"}, {"etcd", "node"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPodsEndBeforeTheControlPlane(t *testing.T) {
	var records []process.Record
	for _, name := range []string{"awslocal", "containerd", "etcd", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubelet", "node", "operator"} {
		records = append(records, process.Record{Name: name})
	}
	peers, control := split(records)
	names := func(of []process.Record) (out []string) {
		for _, each := range of {
			out = append(out, each.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"operator", "kube-proxy", "kubelet", "containerd"}, names(peers)); diff != "" {
		t.Errorf("before the pods (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"awslocal", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", "node"}, names(control)); diff != "" {
		t.Errorf("after the pods (-want +got):\n%s", diff)
	}
}

func TestStatus(t *testing.T) {
	lab := example(t.TempDir())
	must.Do(t, lab.makeFolders())
	self := must.Get(process.Identify(os.Getpid()))(t)
	good, bad := 0, 3
	gone := process.Identity{PID: os.Getpid(), Start: "another"}
	put := func(record process.Record) {
		must.Do(t, lab.Processes().Put(record))
	}
	for _, name := range lab.Components() {
		put(process.Record{Name: name, Identity: self})
	}
	put(process.Record{Name: "done", Identity: gone, Exit: &good, Log: "x"})
	put(process.Record{Name: "run-1", Identity: gone})
	status, err := lab.Status()
	if err != nil || !status.Up() || len(status.Processes) != 5 {
		t.Fatalf("a lab whose command ended well: %+v, %v", status, err)
	}
	if first := status.Processes[0]; first.Name != Etcd || first.Port != 20002 || first.ResidentBytes == 0 || first.State != Running {
		t.Errorf("etcd: %+v", first)
	}
	put(process.Record{Name: "done", Identity: gone, Exit: &bad, Log: "x"})
	if status, err = lab.Status(); err != nil || status.Up() {
		t.Errorf("a command that failed: up %v, %v", status.Up(), err)
	}
	put(process.Record{Name: "done", Identity: gone, Exit: &good, Log: "x"})
	put(process.Record{Name: APIServer, Identity: gone})
	if status, err = lab.Status(); err != nil || status.Up() {
		t.Errorf("a component whose ID is somebody else's now: up %v, %v", status.Up(), err)
	}
}

func TestAdministrator(t *testing.T) {
	tests := map[string]struct{ account, data, refused string }{
		"the account's key is read":        {data: `{"123456789012":{"accessKeyID":"AKIA1","secretAccessKey":"s"}}`},
		"a further account's key is read":  {account: "222222222222", data: `{"222222222222":{"accessKeyID":"AKIA1","secretAccessKey":"s"},"123456789012":{}}`},
		"an unknown account is refused":    {account: "333333333333", refused: `the lab has no account "333333333333"; it has [123456789012 222222222222]`},
		"another account's is not":         {data: `{"210987654321":{"accessKeyID":"AKIA1","secretAccessKey":"s"}}`, refused: "names no administrator"},
		"a broken file is told":            {data: `[`, refused: "unexpected end of JSON"},
		"a file that is not there is told": {refused: "is the lab up?"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lab := example(t.TempDir())
			lab.Accounts = []string{"222222222222"}
			must.Do(t, lab.makeFolders())
			if test.data != "" {
				must.Do(t, os.WriteFile(lab.Path("aws", "administrators.json"), []byte(test.data), 0o600))
			}
			must.Do(t, os.WriteFile(lab.Path("aws", "admin-token"), []byte("t23456789012345678901\n"), 0o600))
			account := AccountID
			if test.account != "" {
				account = test.account
			}
			environment, err := lab.Env(account)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if set := environment.Set; err != nil || set[5] != (Variable{"AWS_ACCESS_KEY_ID", "AKIA1"}) || set[7] != (Variable{"AWSLOCAL_ADMIN_TOKEN", "t23456789012345678901"}) {
				t.Errorf("got %v, %v", environment, err)
			}
		})
	}
}
