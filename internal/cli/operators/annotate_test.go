package operators

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func annotate(t *testing.T, args ...string) outcome {
	t.Helper()
	return onAWS().run(t, "", append([]string{"annotate"}, args...)...)
}

func TestAnnotatePrintsAndChangesNoFile(t *testing.T) {
	dir := ownBundle(t)
	before := tree(t, dir)
	got := annotate(t, dir).exits(t, 0)
	says(t, got.out, "  operators.tabard.dev/credentials-requests: '[{", "👩‍💻")
	says(t, got.errOut, "no file was changed", "1 CredentialsRequest moves")
	if printed := annotate(t, dir+"/"+csvFile, "--requests", dir+"/"+requestFile).exits(t, 0); printed.out != got.out {
		t.Errorf("with --requests it prints\n%s", printed.out)
	}
	csv := before[csvFile]
	if piped := onAWS().run(t, csv, "annotate", "-", "--requests", dir+"/"+requestFile).exits(t, 0); piped.out != got.out {
		t.Errorf("of the standard input it prints\n%s", piped.out)
	}
	for name, text := range tree(t, dir) {
		if before[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
}

func TestAnnotateKeepsWhatIsThere(t *testing.T) {
	dir := ownBundle(t)
	csv := dir + "/" + csvFile
	must.Do(t, os.Chmod(csv, 0o640))
	annotate(t, "-w", dir).exits(t, 0)
	if mode := must.Get(os.Stat(csv))(t).Mode().Perm(); mode != 0o640 {
		t.Errorf("the permissions are %o", mode)
	}
	before := tree(t, dir)
	rewrite(t, dir+"/credentials-requests/request.yaml", "s3:GetObject", "s3:PutObject")
	got := annotate(t, "-w", dir).exits(t, 1)
	says(t, got.errOut, "other content: 1 CredentialsRequest, and now it would be 1 CredentialsRequest", "--overwrite")
	if tree(t, dir)[csvFile] != before[csvFile] {
		t.Error("the annotation was replaced")
	}
	annotate(t, "-w", "--overwrite", dir).exits(t, 0)
	if got, want := tree(t, dir)[csvFile], strings.ReplaceAll(before[csvFile], "s3:GetObject", "s3:PutObject"); got != want {
		t.Errorf("it has become\n%s", got)
	}
	lint(t, dir).exits(t, 0)
}

func TestAnnotateRefusesWhatLintWouldFind(t *testing.T) {
	for old, with := range map[string]string{
		"statementEntries:":               "stsIAMRoleARN: arn:aws:iam::111122223333:role/r\n    statementEntries:",
		"serviceAccountNames: [operator]": "serviceAccountNames: []",
		"s3:GetObject":                    "everything",
		"kind: CredentialsRequest":        "kind: CredentialsRequest\nkind: CredentialsRequest",
	} {
		dir := ownBundle(t)
		rewrite(t, dir+"/"+requestFile, old, with)
		before := tree(t, dir)
		annotate(t, "-w", dir).exits(t, 2)
		annotate(t, "-w", dir+"/"+csvFile, "--requests", dir+"/"+requestFile).exits(t, 2)
		for name, text := range tree(t, dir) {
			if before[name] != text {
				t.Errorf("%s: %s has changed", with, name)
			}
		}
	}
	dir := ownBundle(t)
	must.Do(t, os.Rename(dir+"/"+requestFile, dir+"/request.yaml"))
	says(t, annotate(t, dir).exits(t, 2).errOut, "no CredentialsRequest in manifests/ or credentials-requests/")
	says(t, annotate(t, dir+"/"+csvFile).exits(t, 2).errOut, "type --requests PATH")
	annotate(t, "-", "--requests", "-").exits(t, 2)
	annotate(t, "-w", "-").exits(t, 2)
	must.Do(t, os.Symlink("bucket.clusterserviceversion.yaml", dir+"/manifests/link"))
	says(t, annotate(t, "-w", dir+"/manifests/link", "--requests", dir+"/request.yaml").exits(t, 2).errOut, "it is a link")
}

// TestAnnotateMovesOnlyTheRequest: other documents of its file stay, and nothing is written over.
func TestAnnotateMovesOnlyTheRequest(t *testing.T) {
	dir := ownBundle(t)
	request := tree(t, dir)[requestFile]
	const account = "apiVersion: v1\nkind: ConfigMap # stays\nmetadata: {name: c}\n"
	must.Do(t, os.WriteFile(dir+"/"+requestFile, []byte(account+"---\n"+request+"---\n"+account), 0o600))
	must.Do(t, os.Mkdir(dir+"/credentials-requests", 0o700))
	must.Do(t, os.WriteFile(dir+"/credentials-requests/request.yaml", []byte(strings.ReplaceAll(request, "name: bucket-operator\n", "name: other\n")), 0o600))
	before := tree(t, dir)
	says(t, annotate(t, "-w", dir).exits(t, 2).errOut, "where another file is")
	if got := tree(t, dir); got[requestFile] != before[requestFile] || got[csvFile] != before[csvFile] {
		t.Errorf("something has changed: %v", got)
	}
	must.Do(t, os.Remove(dir+"/credentials-requests/request.yaml"))
	annotate(t, "-w", dir).exits(t, 0)
	after := tree(t, dir)
	if after[requestFile] != account+"---\n"+account || after["credentials-requests/request.yaml"] != request {
		t.Errorf("%q\n%q", after[requestFile], after["credentials-requests/request.yaml"])
	}
	lint(t, dir).exits(t, 0)
}

// TestAnnotateInEveryStyle: the annotation is read again as it was meant, and twice is once.
func TestAnnotateInEveryStyle(t *testing.T) {
	const tail = "spec: {version: 1.0.0, install: {spec: {deployments: [{spec: {template: {spec: {serviceAccountName: operator}}}}]}}}\n"
	const head = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n"
	request := filepath.Join("testdata", "bundle", requestFile)
	old := permission.Annotation
	for name, text := range map[string]string{
		"no annotations":      head + "metadata:\n    # the name\n    name: p.v1\n" + tail,
		"null annotations":    head + "metadata:\n  annotations:\n  name: p.v1\n" + tail,
		"empty annotations":   head + "metadata:\n  annotations: {} # none\n  name: p.v1\n" + tail,
		"flow":                head + "metadata: {name: p.v1, annotations: {a: b}} # flow\n" + tail,
		"a folded one":        head + "metadata:\n  annotations:\n    " + old + ": >-\n      []\n\n    # next\n    z: y\n  name: p.v1\n" + tail,
		"a long quoted one":   head + "metadata:\n  annotations:\n    " + old + ": '[\n\n      ]'\n  name: p.v1\n" + tail,
		"Windows' line ends":  strings.ReplaceAll(head+"metadata:\n  annotations:\n    a: b\n  name: p.v1\n"+tail, "\n", "\r\n"),
		"the second document": "# first\n---\n" + head + "metadata:\n  annotations: {a: b}\n  name: p.v1\n" + tail + "---\nkind: ConfigMap\n",
		"JSON":                `{"kind":"ClusterServiceVersion","apiVersion":"v","metadata":{"name":"p.v1"},"spec":{}}`,
		"JSON, indented":      "{\n  \"spec\": {},\n  \"metadata\": {\n    \"annotations\": {\n      \"z\": \"\\ud83d\\ude00 <\",\n      \"a\": \"b\"\n    }\n  },\n  \"kind\": \"ClusterServiceVersion\"\n}\n",
		"JSON, there":         `{"metadata": {"annotations": {"b": "c", "` + old + `" : "[]" , "a": "b"}}, "kind": "ClusterServiceVersion"}`,
		"JSON, null":          `{"metadata": {"annotations": null}, "kind": "ClusterServiceVersion"}`,
		"JSON, empty":         `{"metadata": {"annotations": { }}, "kind": "ClusterServiceVersion"}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "csv.yaml")
			must.Do(t, os.WriteFile(path, []byte(text), 0o600))
			annotate(t, "-w", "--overwrite", path, "--requests", request).exits(t, 0)
			got := string(must.Get(os.ReadFile(path))(t))
			says(t, got, old, "s3:GetObject")
			for _, comment := range []string{"# the name", "# none", "# flow", "# next", "# first", "kind: ConfigMap", `\ud83d\ude00 <`} {
				if strings.Contains(text, comment) {
					says(t, got, comment)
				}
			}
			if strings.HasPrefix(text, "{") {
				if !json.Valid([]byte(got)) {
					t.Errorf("it is no JSON: %s", got)
				}
			}
			if strings.Contains(text, "\r\n") && strings.Count(got, "\n") != strings.Count(got, "\r\n") {
				t.Errorf("the ends of lines are mixed: %q", got)
			}
			says(t, annotate(t, "-w", path, "--requests", request).exits(t, 0).errOut, "nothing changes")
			if again := string(must.Get(os.ReadFile(path))(t)); again != got {
				t.Errorf("twice is not once:\n%s", again)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "csv.yaml")
	must.Do(t, os.WriteFile(path, []byte(head+"metadata:\n  labels: &l {a: b}\n  annotations: *l\n"+tail), 0o600))
	says(t, annotate(t, "-w", path, "--requests", request).exits(t, 2).errOut, "without changing more than that")
}

// TestTheExampleOperatorCanBeDeclared makes a bundle of the repository's example.
func TestTheExampleOperatorCanBeDeclared(t *testing.T) {
	dir := t.TempDir()
	examples := filepath.Join("..", "..", "..", "examples", "token-operator", "manifests")
	says(t, lint(t, examples).exits(t, 1).out, "NoClusterServiceVersion", "KindNotSupported", `"Deployment"`)
	must.Do(t, os.Mkdir(dir+"/manifests", 0o700))
	must.Do(t, os.WriteFile(dir+"/manifests/crd.yaml", must.Get(os.ReadFile(filepath.Join(examples, "crd.yaml")))(t), 0o600))
	csv := strings.ReplaceAll(file(t, "bundle/"+csvFile), "serviceAccountName: operator", "serviceAccountName: token-operator")
	must.Do(t, os.WriteFile(dir+"/manifests/csv.yaml", []byte(csv), 0o600))
	request := strings.NewReplacer("[operator]", "[token-operator]", "[s3:GetObject]", "[sts:GetCallerIdentity]", "arn:aws:s3:::b/*", `"*"`).Replace(file(t, "bundle/"+requestFile))
	must.Do(t, os.WriteFile(dir+"/manifests/request.yaml", []byte(request), 0o600))
	lint(t, dir).exits(t, 1)
	annotate(t, "-w", dir).exits(t, 0)
	says(t, lint(t, dir).exits(t, 0).out, "Nothing is wrong.")
}

// TestAnnotateGoesOnAfterAFailure: what was written before the failure is no obstacle.
func TestAnnotateGoesOnAfterAFailure(t *testing.T) {
	dir := ownBundle(t)
	request := tree(t, dir)[requestFile]
	annotate(t, "-w", dir).exits(t, 0)
	done := tree(t, dir)
	must.Do(t, os.WriteFile(dir+"/"+requestFile, []byte(request), 0o600))
	annotate(t, "-w", dir).exits(t, 0)
	if got := tree(t, dir); len(got) != len(done) || got[csvFile] != done[csvFile] {
		t.Errorf("it ends with %v", got)
	}
	must.Do(t, os.Remove(dir+"/"+csvFile))
	must.Do(t, os.WriteFile(dir+"/"+csvFile, []byte(file(t, "bundle/"+csvFile)), 0o600))
	must.Do(t, os.WriteFile(dir+"/"+requestFile, []byte(request), 0o600))
	annotate(t, "-w", dir).exits(t, 0)
	if got := tree(t, dir); len(got) != len(done) || got[csvFile] != done[csvFile] {
		t.Errorf("it ends with %v", got)
	}
}

// TestAnnotateKeepsWhatSomebodyElseWrites between reading and writing.
func TestAnnotateKeepsWhatSomebodyElseWrites(t *testing.T) {
	dir := ownBundle(t)
	read := must.Get(readAuthored(strings.NewReader(""), dir, onAWS().world().JSON))(t)
	rewrite(t, dir+"/"+csvFile, "Basic Install", "Full Lifecycle")
	before := tree(t, dir)
	var said strings.Builder
	err := (&annotateFlags{write: true}).run(command.Streams{Out: &said, Err: &said}, read)
	if err == nil || !strings.Contains(err.Error(), "has changed since it was read") || said.Len() > 0 {
		t.Errorf("%v\n%s", err, said.String())
	}
	for name, text := range tree(t, dir) {
		if before[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
}
