package permission_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// files are read as what a person gives.
func files(all ...permission.File) permission.Set {
	return permission.ReadFiles(subject, permission.SourceRequests, "requests", all)
}

func TestRequestsAreReadFromDocuments(t *testing.T) {
	one := request(accounts, entry(objects, "s3:GetObject"))
	inYAML := `
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: other}
spec:
  secretRef: {name: creds, namespace: team}
  serviceAccountNames: [operator]
  cloudTokenPath: /var/run/token
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    statementEntries:
    - {effect: Allow, action: ["s3:PutObject"], resource: "*"}
`
	for name, row := range map[string]struct {
		text  string
		atoms int
		want  []string
	}{
		"JSON":                    {one, 1, []string{}},
		"YAML":                    {inYAML, 1, []string{}},
		"several documents":       {"---\n" + one + "\n---\n# nothing\n---\n" + inYAML, 2, []string{}},
		"a list":                  {"[" + one + "]", 1, []string{}},
		"a List":                  {`{"apiVersion":"v1","kind":"List","items":[` + one + "]}", 1, []string{}},
		"an empty list":           {"[]", 0, []string{}},
		"an empty List":           {"kind: CredentialsRequestList\nitems: []", 0, []string{}},
		"a document that is none": {"a: b: c\n---\n" + one, 1, []string{"InvalidYAML f.yaml document 1"}},
		"a document of text":      {"text\n---\n" + one, 1, []string{"InvalidRequest f.yaml document 1"}},
		"another kind":            {"kind: Deployment\n---\n" + one, 1, []string{"WrongKind f.yaml document 1"}},
		"anchors and aliases":     {"a: &a [b]\nc: [*a, *a]\n---\n" + one, 1, []string{"InvalidYAML f.yaml document 1"}},
		"what is set for one cluster, which is the giver's": {strings.Replace(one, `"kind":"AWSProviderSpec"`, `"kind":"AWSProviderSpec","stsIAMRoleARN":"arn:aws:iam::111122223333:role/x"`, 1), 1, []string{}},
		"no ServiceAccounts": {strings.Replace(one, accounts, `"cloudTokenPath":"/t"`, 1), 1, []string{"NoServiceAccountNames f.yaml document 1 spec.serviceAccountNames"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := files(permission.File{Name: "f.yaml", Text: []byte(row.text)})
			if diff := cmp.Diff(row.want, codes(set)); diff != "" {
				t.Error(diff, set.Findings)
			}
			if got := len(set.Atoms()); got != row.atoms {
				t.Errorf("%d atoms, want %d", got, row.atoms)
			}
			if _, known := set.Requests(); !known || set.Certainty != permission.Given || set.AsksNothing() != (row.atoms == 0) {
				t.Errorf("known %v, certainty %s, asks nothing %v", known, set.Certainty, set.AsksNothing())
			}
		})
	}
}

func TestARequestIsReadWhole(t *testing.T) {
	const condition = `{"policyCondition":{"StringEquals":{"aws:RequestedRegion":["b","a","b"]},"Bool":{"aws:SecureTransport":true}},`
	text := request(accounts+`,"cloudTokenPath":"/var/run/token"`, strings.Replace(entry(objects, "s3:GetObject"), "{", condition, 1))
	known := subject
	known.Audiences = []string{"sts.amazonaws.com"}
	set := permission.ReadAnnotations(known, "p", map[string]string{permission.Annotation: "[" + text + "]"})
	got, _ := set.In("team").Requests()
	want := []permission.Request{{
		Name: "p", Secret: permission.Secret{Namespace: "team", Name: "creds"}, TokenPath: "/var/run/token",
		Audiences: []string{"sts.amazonaws.com"}, ServiceAccounts: []permission.ServiceAccount{{Namespace: "team", Name: "operator"}},
		AWS: &permission.AWSRequest{Statements: []permission.Statement{{
			Effect: "Allow", Actions: []string{"s3:GetObject"}, Resource: objects,
			Condition: `{"Bool":{"aws:SecureTransport":["true"]},"StringEquals":{"aws:RequestedRegion":["a","b"]}}`,
		}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if before, _ := set.Requests(); before[0].Secret.Namespace != permission.InstallNamespace || before[0].ServiceAccounts[0].Namespace != permission.InstallNamespace {
		t.Error("the set itself was changed")
	}
}

func TestWhatTheSourceDoesNotTellComesFromTheCSV(t *testing.T) {
	from := subject
	from.ServiceAccounts = []permission.ServiceAccount{{Namespace: permission.InstallNamespace, Name: "of-csv"}}
	set := permission.ReadAnnotations(from, "p", map[string]string{permission.Annotation: "[" + request(`"cloudTokenPath":"/t"`, entry(objects, "s3:GetObject")) + "]"})
	got, _ := set.Requests()
	if diff := cmp.Diff(from.ServiceAccounts, got[0].ServiceAccounts); diff != "" {
		t.Error(diff)
	}
	if !got[0].AudiencesAssumed || got[0].Audiences[0] != permission.DefaultAudience {
		t.Errorf("%+v", got[0])
	}
}

func TestWhatTheCSVTellsIsNotTrusted(t *testing.T) {
	from := subject
	from.Audiences = []string{"a\x1b[2J", "sts.amazonaws.com"}
	from.ServiceAccounts = []permission.ServiceAccount{{Namespace: "team", Name: "A\x1b"}, {Namespace: "team", Name: "a"}}
	set := permission.ReadAnnotations(from, "p", map[string]string{permission.Annotation: "[" + request(`"cloudTokenPath":"/t"`, entry(objects, "s3:GetObject")) + "]"})
	if diff := cmp.Diff([]string{"NoServiceAccountNames [0].spec.serviceAccountNames", "InvalidName ", "InvalidText "}, codes(set)); diff != "" {
		t.Error(diff, set.Findings)
	}
	want := "ServiceAccount team/a becomes the role by tokens for the audience sts.amazonaws.com"
	if got := texts(set); !slices.Contains(got, want) {
		t.Errorf("%q", got)
	}
}

func TestRequestsOfAClusterAreObserved(t *testing.T) {
	var object cloudv1.CredentialsRequest
	object.Name, object.Namespace = "live", "team"
	object.Spec.Storage = &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: "team", Name: "own"}}
	set := permission.ReadRequests(subject, permission.Source{Kind: permission.SourceLive, Ref: "team/live"}, []cloudv1.CredentialsRequest{object})
	if diff := cmp.Diff([]string{"NoProviderSpec [0].spec.providerSpec"}, codes(set)); diff != "" {
		t.Error(diff)
	}
	object.Spec.ProviderSpec = provider(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"arn:aws:iam::111122223333:role/x","statementEntries":[` + entry(objects, "s3:GetObject") + `]}`)
	set = permission.ReadRequests(subject, permission.Source{Kind: permission.SourceLive, Ref: "team/live"}, []cloudv1.CredentialsRequest{object})
	got, known := set.Requests()
	if !known || len(set.Findings) > 0 || set.Certainty != permission.Observed || got[0].Secret != (permission.Secret{}) || got[0].ServiceAccounts[0].Name != "own" {
		t.Errorf("%+v %+v", got, set.Findings)
	}
}

func TestARequestForAServiceAccountIsForNoOther(t *testing.T) {
	text := strings.Replace(request(accounts, entry(objects, "s3:GetObject")), `"secretRef":{"name":"creds","namespace":"$(NAMESPACE)"}`, `"storage":{"serviceAccount":{"name":"own","namespace":"$(NAMESPACE)"}}`, 1)
	set := declared("[" + text + "]")
	got, _ := set.Requests()
	want := []permission.ServiceAccount{{Namespace: permission.InstallNamespace, Name: "own"}}
	if diff := cmp.Diff(want, got[0].ServiceAccounts); diff != "" || len(set.Findings) > 0 {
		t.Error(diff, set.Findings)
	}
}

func TestRequestsInManyDocumentsAreBounded(t *testing.T) {
	one := request(accounts, entry(objects, "s3:GetObject")) + "\n---\n"
	for name, all := range map[string][]permission.File{
		"one file":   {{Name: "f", Text: []byte(strings.Repeat(one, 500))}},
		"many files": slices.Repeat([]permission.File{{Name: "f", Text: []byte(strings.Repeat(strings.Replace(one, `"name":"p"`, `"name":"q"`, 1), 30))}}, 50),
	} {
		set := files(all...)
		if got, _ := set.Requests(); len(got) == 0 || len(got) > 100 || len(set.Findings) > 101 || !set.Incomplete {
			t.Errorf("%s: %d requests, %d findings, incomplete %v", name, len(got), len(set.Findings), set.Incomplete)
		}
	}
}

func TestABundleWithARequestAmongItsManifestsIsNotInstallable(t *testing.T) {
	text := []byte(request(accounts, entry(objects, "s3:GetObject")))
	set := permission.ReadFiles(subject, permission.SourceManifests, "bundle", []permission.File{{Name: "manifests/cr.yaml", Text: text}})
	if diff := cmp.Diff([]string{"BundleNotInstallable "}, codes(set)); diff != "" || set.Certainty != permission.Declared {
		t.Error(diff, set.Certainty)
	}
}

func TestHostileSourcesAreBounded(t *testing.T) {
	many := func(count int, text string) string { return strings.TrimSuffix(strings.Repeat(text+",", count), ",") }
	tiny := `{"effect":"Allow","action":["s3:*"],"resource":"*"}`
	for name, row := range map[string]struct {
		text string
		code permission.Code
	}{
		"a million statements":          {"[" + request(accounts, many(1_000_000, tiny)) + "]", permission.CodeTooLong},
		"statements that just fit":      {"[" + request(accounts, many(4500, tiny)) + "]", permission.CodeTooMany},
		"empty statements that fit":     {"[" + request(accounts, many(80_000, "{}")) + "]", permission.CodeTooMany},
		"actions that just fit":         {"[" + request(accounts, entry(objects, strings.Split(many(40_000, "s:A"), ",")...)) + "]", permission.CodeTooMany},
		"actions that are none":         {"[" + request(accounts, entry(objects, strings.Split(many(40_000, "x"), ",")...)) + "]", permission.CodeTooMany},
		"requests that are none":        {"[" + many(120_000, "1") + "]", permission.CodeTooMany},
		"empty objects":                 {"[" + many(80_000, "{}") + "]", permission.CodeTooMany},
		"lists in lists":                {strings.Repeat("[", 130_000) + strings.Repeat("]", 130_000), permission.CodeInvalidJSON},
		"objects in objects":            {"[" + strings.Repeat(`{"a":`, 40_000) + "1" + strings.Repeat("}", 40_000) + "]", permission.CodeInvalidJSON},
		"a resource of 100 KB":          {"[" + request(accounts, entry("arn:aws:s3:::"+strings.Repeat("x", 100_000), "s3:*")) + "]", permission.CodeInvalidText},
		"a name of 100 KB":              {"[" + strings.Replace(request(accounts, tiny), `"name":"p"`, `"name":"`+strings.Repeat("x", 100_000)+`"`, 1) + "]", permission.CodeInvalidName},
		"ServiceAccounts that just fit": {"[" + request(`"serviceAccountNames":[`+many(20_000, `"a"`)+"]", tiny) + "]", permission.CodeTooMany},
		"text that turns its direction": {"[" + request(accounts, entry("arn:aws:s3:::b\u202ex", "s3:*")) + "]", permission.CodeInvalidText},
		"a file of 2 MB":                {strings.Repeat("a: b\n", 400_000), permission.CodeTooLong},
		"a condition of 100 KB":         {"[" + request(accounts, strings.Replace(tiny, "{", `{"policyCondition":{"StringEquals":{"aws:x":["`+strings.Repeat("x", 100_000)+`"]}},`, 1)) + "]", permission.CodeInvalidText},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for what, set := range map[string]permission.Set{"annotation": declared(row.text), "file": files(permission.File{Name: "f", Text: []byte(row.text)})} {
				found := false
				for _, f := range set.Findings {
					found = found || f.Code == row.code
					if len(f.Message) > 1000 || len(f.Path) > 1000 {
						t.Errorf("%s: a finding of %d characters", what, len(f.Message))
					}
				}
				if what == "annotation" && !found || len(set.Findings) == 0 || len(set.Findings) > 101 || len(set.Atoms()) > 2000 || set.AsksNothing() {
					t.Errorf("%s: %d findings, %d atoms; %v", what, len(set.Findings), len(set.Atoms()), set.Findings[:min(3, len(set.Findings))])
				}
				if _, known := set.Requests(); known && row.code == permission.CodeTooMany && !set.Incomplete {
					t.Errorf("%s: not told that a part is missing", what)
				}
			}
			runtime.ReadMemStats(&after)
			if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 400 {
				t.Errorf("%d MiB were allocated", got)
			} else {
				t.Logf("%d MiB", got)
			}
		})
	}
}
