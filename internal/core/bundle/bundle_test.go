package bundle_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/bundle"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func decode(text []byte) ([]byte, error) { return yaml.YAMLToJSON(text) }

const request = `{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"r"},"spec":{"secretRef":{"name":"s","namespace":"$(NAMESPACE)"},"serviceAccountNames":["operator"],"cloudTokenPath":"/t/token","providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"*"}]}}}`

const rule = `"clusterPermissions":[{"serviceAccountName":"operator","rules":[{"apiGroups":["cloudcredential.openshift.io"],"resources":["credentialsrequests"],"verbs":["create","patch"]}]}],`

const pod = `{"serviceAccountName":"operator","containers":[{"volumeMounts":[{"name":"t","mountPath":"/t"}]}],"volumes":[{"name":"t","projected":{"sources":[{"serviceAccountToken":{"audience":"openshift","path":"token"}}]}}]}`

// csv is a ClusterServiceVersion with annotations and what is in its install strategy.
func csv(t testing.TB, annotations map[string]string, strategy string) bundle.File {
	t.Helper()
	return csvOf(t, annotations, strategy, pod)
}

// csvOf is one with a Deployment of such pods.
func csvOf(t testing.TB, annotations map[string]string, strategy, pod string) bundle.File {
	t.Helper()
	text := `{"kind":"ClusterServiceVersion","metadata":{"name":"p.v1","annotations":` + string(must.Get(json.Marshal(annotations))(t)) +
		`},"spec":{"install":{"spec":{` + strategy + `"deployments":[{"spec":{"template":{"spec":` + pod + `}}}]}}}}`
	return bundle.ReadFile("csv.yaml", []byte(text), decode)
}

func codes(all []bundle.Finding) []string {
	out := []string{}
	for _, f := range all {
		out = append(out, string(f.Severity)+" "+string(f.Code))
	}
	return out
}

func TestLint(t *testing.T) {
	const feature = "features.operators.openshift.io/token-auth-"
	declared := func(more ...string) map[string]string {
		out := map[string]string{permission.Annotation: "[" + request + "]", feature + "aws": "true"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for name, c := range map[string]struct {
		annotations map[string]string
		strategy    string
		more        string
		want        []string
	}{
		"clean":                        {declared(), rule, "", []string{}},
		"no tokens at all":             {map[string]string{"a": "b"}, "", "", []string{}},
		"no right":                     {declared(), "", "", []string{"warning RightMissing"}},
		"the right of somebody else":   {declared(), strings.ReplaceAll(rule, `"operator"`, `"other"`), "", []string{"warning RightMissing"}},
		"create only":                  {declared(), strings.ReplaceAll(rule, `,"patch"`, ""), "", []string{"warning RightMissing"}},
		"the right by a ClusterRole":   {declared(), "", `{"kind":"ClusterRole","rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`, []string{}},
		"tokens, nothing declared":     {map[string]string{feature + "aws": "true"}, rule, "", []string{"warning RequestsNotDeclared"}},
		"tokens, declared nothing":     {map[string]string{feature + "aws": "true", permission.Annotation: "[]"}, rule, "", []string{}},
		"another cloud":                {declared(feature+"gcp", "true"), rule, "", []string{"warning RequestsNotDeclared"}},
		"declared, not stated":         {declared(feature+"aws", "false"), rule, "", []string{"warning TokenAuthNotStated"}},
		"an odd value":                 {declared(feature+"gcp", "True"), rule, "", []string{"warning ValueOdd"}},
		"the legacy list":              {map[string]string{"operators.openshift.io/infrastructure-features": `["TokenAuth"]`}, rule, "", []string{"warning TokenAuthClaimed"}},
		"broken JSON":                  {declared(permission.Annotation, "[{"), rule, "", []string{"error InvalidJSON", "warning RequestsNotDeclared"}},
		"a role":                       {declared(permission.Annotation, strings.ReplaceAll("["+request+"]", `"statementEntries"`, `"stsIAMRoleARN":"arn:aws:iam::111122223333:role/r","statementEntries"`)), rule, "", []string{"error MustBeEmpty"}},
		"no ServiceAccount":            {declared(permission.Annotation, strings.ReplaceAll("["+request+"]", `["operator"]`, `[]`)), rule, "", []string{"error NoServiceAccountNames"}},
		"another ServiceAccount":       {declared(permission.Annotation, strings.ReplaceAll("["+request+"]", `["operator"]`, `["other"]`)), rule, "", []string{"warning ServiceAccountNotUsed"}},
		"large annotations":            {declared("alm-examples", strings.Repeat("x", 130<<10)), rule, "", []string{"warning AnnotationsLarge"}},
		"annotations that are refused": {declared("alm-examples", strings.Repeat("x", 256<<10)), rule, "", []string{"error AnnotationsTooLarge"}},
		"a request":                    {declared(), rule, request, []string{"error BundleNotInstallable"}},
		"a list of requests":           {declared(), rule, `{"kind":"List","items":[` + request + `]}`, []string{"error BundleNotInstallable"}},
		"a list of several kinds":      {declared(), rule, `{"kind":"List","items":[` + request + `,{"kind":"Secret"}]}`, []string{"error BundleNotInstallable", "error WrongKind"}},
		"another request":              {declared(), rule, strings.ReplaceAll(request, "s3:Get", "s3:Put"), []string{"error BundleNotInstallable", "error SourcesDisagree"}},
		"another kind":                 {declared(), rule, `{"kind":"Deployment"}`, []string{"warning KindNotSupported"}},
		"a foreign CredentialsRequest": {declared(), rule, `{"apiVersion":"example.com/v1","kind":"CredentialsRequest"}`, []string{"warning KindNotSupported"}},
		"a ConfigMap":                  {declared(), rule, `{"kind":"ConfigMap","metadata":{"labels":{"` + bundle.RequestsLabel + `":"true"}},"data":{"a":` + string(must.Get(json.Marshal(request))(t)) + `}}`, []string{}},
		"a ConfigMap that differs":     {declared(), rule, `{"kind":"ConfigMap","metadata":{"labels":{"` + bundle.RequestsLabel + `":"true"}},"data":{"a":"[]"}}`, []string{"error SourcesDisagree"}},
		"broken YAML":                  {declared(), rule, "a: [", []string{"error InvalidYAML"}},
		"a key twice":                  {declared(), rule, `{"kind":"Secret","data":{"a":"","a":""}}`, []string{"error InvalidYAML"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := bundle.Bundle{Manifests: []bundle.File{csv(t, c.annotations, c.strategy)}, Fix: "tabard operators annotate --write b"}
			if c.more != "" {
				b.Manifests = append(b.Manifests, bundle.ReadFile("more.yaml", []byte(c.more), func(text []byte) ([]byte, error) {
					if json.Valid(text) {
						return text, nil
					}
					return decode(text)
				}))
			}
			got := bundle.Lint(b)
			if !slices.Equal(codes(got), c.want) {
				t.Errorf("%v, want %v\n%+v", codes(got), c.want, got)
			}
			for _, f := range got {
				if f.Message == "" || f.File == "" || bundle.HasErrors(got) != strings.HasPrefix(strings.Join(c.want, " "), "error") {
					t.Errorf("%+v", f)
				}
				if f.Code == bundle.CodeNotInstallable && !strings.Contains(f.Message, b.Fix) {
					t.Errorf("no way to fix it: %s", f.Message)
				}
			}
		})
	}
}

func TestAnnotationIsCanonical(t *testing.T) {
	a := strings.ReplaceAll(request, `"name":"r"`, `"name":"a","uid":"1","generation":3,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}`)
	messy := ` { "status": {"provisioned": true}, ` + strings.TrimPrefix(a, "{")
	got := must.Get(bundle.Annotation([]json.RawMessage{[]byte(request), []byte(messy), []byte(request)}))(t)
	want := must.Get(bundle.Annotation([]json.RawMessage{[]byte(strings.ReplaceAll(request, `"name":"r"`, `"name":"a"`)), []byte(request)}))(t)
	if got != want || strings.Contains(got, "status") || !strings.HasPrefix(got, `[{"apiVersion"`) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := must.Get(bundle.Annotation([]json.RawMessage{[]byte(`{"a":"<\u2028\u001b\ud83d\ude00>","b":12345678901234567890}`)}))(t); got != `[{"a":"<\u2028\u001b😀>","b":12345678901234567890}]` {
		t.Error(got)
	}
	if got := must.Get(bundle.Annotation(nil))(t); got != "[]" {
		t.Error(got)
	}
}

// FuzzLint demands that no bundle ends the program, that findings are bounded and harmless, and
// that moving loses no byte but the lines --- between documents.
func FuzzLint(f *testing.F) {
	whole := string(csv(f, map[string]string{permission.Annotation: "[" + request + "]"}, rule).Text)
	for _, seed := range []string{"", "{}", "null", "[]", "---\n---", "a: [\n---\n" + request, whole, whole + "\n---\n" + request + "\n...\n# end", "--- " + request, `{"kind":"List","items":[` + request + `,7]}`, `{"kind":"ClusterServiceVersion","metadata":7}`, "\xff\xfe"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, manifests, requests string) {
		b := bundle.Bundle{Manifests: []bundle.File{bundle.ReadFile("m.yaml", []byte(manifests), decode)}, RequestsFolder: "r", Fix: "fix"}
		b.Requests = []bundle.File{bundle.ReadFile("r/r.yaml", []byte(requests), decode)}
		found := bundle.Lint(b)
		if len(found) > 201 {
			t.Errorf("%d findings", len(found))
		}
		for _, one := range found {
			if strings.ContainsAny(one.Message, "\x1b\n") {
				t.Errorf("%q", one.Message)
			}
		}
		if !bundle.HasErrors(found) && len(b.CSVs()) != 1 {
			t.Errorf("no error without a ClusterServiceVersion: %+v", found)
		}
		writes, err := b.Move(bundle.Place{File: -1}, nil)
		if err != nil {
			t.Errorf("nothing is in the way: %v", err)
		}
		kept := func(text string) string {
			return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-. \t\r\n", r) }), "")
		}
		all := ""
		for _, w := range writes {
			if !w.Remove {
				all += kept(string(w.Text))
			}
		}
		if len(writes) > 0 && len(all) != len(kept(manifests)) {
			t.Errorf("moving made %q of %q", all, kept(manifests))
		}
	})
}
