package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite testdata/want")

func TestMain(m *testing.M) {
	os.Exit(testkit.RunAsProgram(m, func(args []string) error {
		root := New(command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, connect)
		root.SetArgs(args[1:]) // "migrate …"
		return root.Execute()
	}))
}

func connect(kubeconfig *command.Kubeconfig) (dynamic.Interface, error) {
	config, err := kubeconfig.Config()
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(config)
}

// result is what a command did.
type result struct {
	code        int
	out, errOut string
}

// run runs "migrate carm" with arguments.
func run(t *testing.T, in string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	root := New(command.Streams{In: strings.NewReader(in), Out: &out, Err: &errOut}, connect)
	root.SetArgs(append([]string{"carm"}, args...))
	root.SetOut(&out)
	root.SetErr(&errOut)
	err := root.ExecuteContext(t.Context())
	r := result{out: out.String(), errOut: errOut.String()}
	if said, ok := errors.AsType[*command.Exit](err); ok {
		r.code = said.ExitCode()
	} else if err != nil {
		t.Fatalf("migrate carm %v: %v, which has no exit code of its own", args, err)
	}
	return r
}

// file writes a file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// tree are the files of a folder.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		all[name] = strings.ReplaceAll(string(text), folder, "FOLDER")
		return err
	}))
	return all
}

const bundleFolder = "testdata/bundle"

// TestPlanWritesAFolder compares all that plan writes for the example with
// testdata/want.
func TestPlanWritesAFolder(t *testing.T) {
	for name, args := range map[string][]string{
		"names":  nil,
		"labels": {"--labels", "--controllers", "tabard", "--controllers-file", "testdata/controllers.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "migration")
			got := run(t, "", append([]string{"plan", "-f", bundleFolder, "--out", folder}, args...)...)
			if got.code != 0 || got.errOut != "" {
				t.Fatalf("%+v", got)
			}
			files := tree(t, folder)
			files["stdout.txt"] = got.out
			want := filepath.Join("testdata", "want", name)
			if *update {
				rewrite(t, want, files)
			}
			if diff := cmp.Diff(tree(t, want), files); diff != "" {
				t.Errorf("(-want +got); -update rewrites:\n%s", diff)
			}
			if again := run(t, "", append([]string{"plan", "-f", bundleFolder, "--out", folder}, args...)...); again.code != 0 || again.out != got.out {
				t.Errorf("the same run again: %+v", again)
			}
			refusesOthers(t, folder, files)
		})
	}
}

// refusesOthers has plan write into a folder that another run wrote, whole or in part, or
// that holds another file, and sees that nothing there is changed.
func refusesOthers(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	changed, foreign := filepath.Join(folder, "findings.json"), filepath.Join(folder, "notes.txt")
	for name, change := range map[string]func(){
		"a changed file": func() { must.Do(t, os.WriteFile(changed, []byte("{}"), 0o600)) },
		"a missing file": func() { must.Do(t, os.Remove(changed)) },
		"another's file": func() { must.Do(t, os.WriteFile(foreign, nil, 0o600)) },
	} {
		must.Do(t, os.RemoveAll(foreign))
		must.Do(t, os.WriteFile(changed, []byte(files["findings.json"]), 0o600))
		change()
		before := tree(t, folder)
		got := run(t, "", "plan", "-f", bundleFolder, "--out", folder)
		if got.code != command.Unusable || !strings.Contains(got.errOut, "is not empty") {
			t.Errorf("%s: %+v", name, got)
		}
		if diff := cmp.Diff(before, tree(t, folder)); diff != "" {
			t.Errorf("%s: the folder changed:\n%s", name, diff)
		}
	}
}

func rewrite(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	must.Do(t, os.RemoveAll(folder))
	for name, text := range files {
		path := filepath.Join(folder, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func TestSelectorsGoToTheOutputAndWordsToTheErrors(t *testing.T) {
	want := ""
	for _, name := range []string{"carm-07562ef0", "carm-40ad16bc", "carm-89331758", "carm-c6cda6ed", "carm-e4f160b1"} {
		text := must.Get(os.ReadFile(filepath.Join("testdata/want/names/selectors", name+".yaml")))(t)
		want += "---\n" + string(text)
	}
	for _, args := range [][]string{{"plan", "-f", bundleFolder}, {"-f", bundleFolder}} {
		got := run(t, "", args...)
		if diff := cmp.Diff(want, got.out); got.code != 0 || diff != "" {
			t.Errorf("%v: exit code %d (-want +got):\n%s", args, got.code, diff)
		}
		if !strings.Contains(got.errOut, "5 selectors give 3 controllers what CARM gives.") {
			t.Errorf("%v: nothing is said: %s", args, got.errOut)
		}
	}
}

func TestPlanSpeaksJSON(t *testing.T) {
	got := run(t, "", "plan", "-f", bundleFolder, "-o", "json")
	var d document
	if err := json.Unmarshal([]byte(got.out), &d); err != nil || got.code != 0 || got.errOut != "" {
		t.Fatalf("%v: %+v", err, got)
	}
	if d.Kind != "CARMMigration" || !d.Equal || len(d.Controllers) != 3 || len(d.Selectors) != 5 || d.Compared != 27 || len(d.NotEqual) != 0 || d.Plan == "" {
		t.Errorf("got %+v", d)
	}
}

// changed is the example with files of it replaced.
func changed(t *testing.T, replace ...string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range tree(t, bundleFolder) {
		for i := 0; i < len(replace); i += 2 {
			text = strings.ReplaceAll(text, replace[i], replace[i+1])
		}
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}

func TestWhatSelectorsCannotExpressIsRefused(t *testing.T) {
	folder, out := changed(t, "arn:aws:iam::444455556666:role/ack-data", "role/ack-data"), filepath.Join(t.TempDir(), "out")
	got := run(t, "", "plan", "-f", folder, "--out", out)
	if got.code != command.Unusable || !strings.Contains(got.out, `U2 refused: "data" in ack-role-team-map is "role/ack-data"`) || !strings.Contains(got.out, "No selectors are written") {
		t.Errorf("%+v", got)
	}
	files := tree(t, out)
	if len(files) != 2 || files["findings.json"] == "" || files["controllers.yaml"] == "" {
		t.Errorf("the folder has %v; want only what was found", files)
	}
	piped := run(t, "", "plan", "-f", folder)
	if piped.code != command.Unusable || piped.out != "" {
		t.Errorf("without a folder: %+v", piped)
	}
	spoken := run(t, "", "plan", "-f", folder, "-o", "json")
	var d document
	if err := json.Unmarshal([]byte(spoken.out), &d); err != nil || spoken.code != command.Unusable || d.Equal || len(d.Selectors) != 0 || d.Plan != "" {
		t.Errorf("%v %+v", err, spoken)
	}
}

func TestABlockerIsPutIntoTheAccountThatIsNamed(t *testing.T) {
	folder := changed(t, "777788889999", "newcomers")
	if got := run(t, "", "plan", "-f", folder); got.code != command.Unusable || !strings.Contains(got.errOut, "--blocker-account newcomers=ACCOUNT") {
		t.Errorf("without an account: %+v", got)
	}
	if got := run(t, "", "plan", "-f", folder, "--blocker-account", "newcomers=777788889999"); got.code != 0 || !strings.Contains(got.out, "arn:aws:iam::777788889999:role/carm-gave-no-role") {
		t.Errorf("with an account: %+v", got)
	}
}

// cutOver is the example after the selectors of a plan were applied and the
// resources were managed with them.
func cutOver(t *testing.T, record map[string]string) string {
	t.Helper()
	folder := changed(t)
	for name, text := range tree(t, "testdata/want/names/selectors") {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	resources := tree(t, folder)["resources.yaml"]
	for name, status := range record {
		resources = strings.Replace(resources, "name: "+name+",", "name: "+name+", annotations: {}, ", 1)
		before, after, _ := strings.Cut(resources, "name: "+name+",")
		after = strings.Replace(after, "ackResourceMetadata: {", status, 1)
		resources = before + "name: " + name + "," + after
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, "resources.yaml"), []byte(resources), 0o600))
	return folder
}

func TestVerifyReadsWhatIsThere(t *testing.T) {
	const (
		asDocumented = "ackResourceMetadata: {iamRoleSelector: {selectorName: carm-c6cda6ed, resourceVersion: \"7\"}, "
		asShipped    = "conditions: [{type: ACK.IAMRoleSelected, status: \"True\", message: Selected, reason: \"roleARN: arn:aws:iam::444455556666:role/ack, selectorName: carm-07562ef0, selectorResourceVersion: 7\"}]\n  ackResourceMetadata: {"
	)
	before := run(t, "", "verify", "-f", bundleFolder, "--live=false")
	if before.code != command.Found || !strings.Contains(before.out, "different: ack-system/ack-s3-controller: team-a, s3.services.k8s.aws/v1alpha1/Bucket: CARM arn:aws:iam::444455556666:role/ack-s3, selectors DEFAULT") {
		t.Errorf("without selectors: %+v", before)
	}
	for name, test := range map[string]struct {
		record map[string]string
		args   []string
		code   int
		want   string
	}{
		"before the change-over":  {nil, []string{"--live=false"}, 0, "Proof: 27 compared, 27 equal, 0 different, 0 pending"},
		"nothing is recorded yet": {nil, nil, command.Found, "25 equal, 0 different, 2 pending"},
		"all is recorded":         {map[string]string{"logs": asDocumented, "main": asShipped}, nil, 0, "27 equal"},
		"another selector is recorded": {map[string]string{"logs": strings.ReplaceAll(asDocumented, "carm-c6cda6ed", "other"), "main": asShipped}, nil, command.Found,
			`team-a, s3.services.k8s.aws/v1alpha1/Bucket logs: CARM arn:aws:iam::444455556666:role/ack-s3, selectors arn:aws:iam::444455556666:role/ack-s3: the status names the selector "other"`},
		"lines of JSON": {map[string]string{"logs": asDocumented}, []string{"-o", "json"}, command.Found,
			`{"controller":"ack-system/ack-ec2-controller","namespace":"team-b","gvk":"ec2.services.k8s.aws/v1alpha1/VPC","resource":"main","carm":"arn:aws:iam::444455556666:role/ack","irs":"arn:aws:iam::444455556666:role/ack","verdict":"pending","reason":"the status names no selector yet"}`},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"verify", "-f", cutOver(t, test.record)}, test.args...)
			if got := run(t, "", args...); got.code != test.code || !strings.Contains(got.out, test.want) {
				t.Errorf("%+v, want exit code %d and %s", got, test.code, test.want)
			}
		})
	}
	planted := cutOver(t, nil)
	path := filepath.Join(planted, "carm-c6cda6ed.yaml")
	text := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.WriteFile(path, []byte(strings.Replace(string(text), "role/ack-s3", "role/planted", 1)), 0o600))
	if got := run(t, "", "verify", "-f", planted, "--live=false"); got.code != command.Found || !strings.Contains(got.out, "role/planted") {
		t.Errorf("a planted role: %+v", got)
	}
}

func TestControllersAreDescribedAfterTheChangeOverAsBefore(t *testing.T) {
	folder := changed(t, "IAMRoleSelector=false", "IAMRoleSelector=true", "--enable-carm=true", "--enable-carm=false")
	for name, text := range tree(t, "testdata/want/names/selectors") {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	if got := run(t, "", "verify", "-f", folder, "--live=false"); got.code != 0 {
		t.Errorf("%+v", got)
	}
}

func TestHelpTeaches(t *testing.T) {
	for command, wants := range map[string][]string{
		"":       {"kind: ClusterRole", "kubectl get", "systemNamespace: ack-system", "Exit code 0", "--blocker-account", "Examples:"},
		"plan":   {"proof.jsonl", "--wildcard-types", "Exit code 0", "Examples:"},
		"verify": {"--live", "Exit code 0", "Examples:"},
	} {
		args := slices.DeleteFunc([]string{command, "--help"}, func(a string) bool { return a == "" })
		got := run(t, "", args...)
		for _, want := range wants {
			if !strings.Contains(got.out, want) {
				t.Errorf("%s --help does not say %q:\n%s", command, want, got.out)
			}
		}
	}
}
