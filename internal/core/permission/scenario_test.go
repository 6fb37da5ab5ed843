package permission_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

const (
	objects = "arn:aws:s3:::b/*"
	queue   = "arn:aws:sqs:eu-west-1:111122223333:q"
	// accounts are what most requests of these tests name.
	accounts = `"serviceAccountNames":["operator"]`
)

var subject = permission.Subject{Package: "p", Version: "1.1.0", CSV: "p.v1.1.0", Cloud: permission.AWS}

// entry is a statement of a request.
func entry(resource string, actions ...string) string {
	text, err := json.Marshal(actions)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"effect":"Allow","action":%s,"resource":%q}`, text, resource)
}

// request is one to AWS, with further fields of its spec and statements.
func request(spec string, statements ...string) string {
	return fmt.Sprintf(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"p"},"spec":{"secretRef":{"name":"creds","namespace":"$(NAMESPACE)"},%s,"providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[%s]}}}`, spec, strings.Join(statements, ","))
}

// declared is what a CSV with this annotation says.
func declared(annotation string) permission.Set {
	return permission.ReadAnnotations(subject, "p.v1.1.0", map[string]string{permission.Annotation: annotation})
}

func old() permission.Set {
	return declared("[" + request(accounts, entry(objects, "s3:GetObject")) + "]")
}

func newer() permission.Set {
	return declared("[" + request(accounts, entry(objects, "s3:GetObject", "s3:PutObject"), entry(queue, "sqs:SendMessage")) + "]")
}

// tokens is old, of a CSV that says this of its support.
func tokens(support permission.Support) permission.Set {
	set := old()
	set.TokenAuth = support
	return set
}

// audience is old, of a CSV whose pods mount tokens for this audience.
func audience(name string) permission.Set {
	known := subject
	known.Audiences = []string{name}
	return permission.ReadAnnotations(known, "p", map[string]string{permission.Annotation: "[" + request(accounts, entry(objects, "s3:GetObject")) + "]"})
}

func texts(s permission.Set) []string {
	var out []string
	for _, one := range s.Sentences() {
		out = append(out, one.Text)
	}
	return out
}

func codes(s permission.Set) []string {
	out := []string{}
	for _, f := range s.Findings {
		out = append(out, string(f.Code)+" "+f.Path)
	}
	return out
}

func classesOf(d permission.Difference) []string {
	out := []string{}
	for _, c := range d.Changes {
		out = append(out, string(c.Class))
	}
	return out
}

// accepted fails for what tabard policy check finds in a document.
func accepted(t *testing.T, document string) {
	t.Helper()
	policy, err := iampolicy.Parse([]byte(document))
	if err == nil {
		err = policy.Validate(iampolicy.IdentityPolicy)
	}
	if err == nil {
		err = policy.Lint(iampolicy.IdentityPolicy, iampolicy.LintOptions{})
	}
	if err != nil {
		t.Errorf("%v\n%s", err, document)
	}
}

func TestScenario13TheAnnotationDeclaresThreeAtoms(t *testing.T) {
	set := newer()
	want := []permission.Atom{
		{Request: "p", Cloud: "aws", Kind: "action", Effect: "Allow", Action: "s3:GetObject", Resource: objects},
		{Request: "p", Cloud: "aws", Kind: "action", Effect: "Allow", Action: "s3:PutObject", Resource: objects},
		{Request: "p", Cloud: "aws", Kind: "action", Effect: "Allow", Action: "sqs:SendMessage", Resource: queue},
	}
	if diff := cmp.Diff(want, set.Atoms()); diff != "" {
		t.Error(diff)
	}
	if set.Certainty != permission.Declared || set.Source.Kind != permission.SourceAnnotation || set.Source.Digest != set.Digest() || len(set.Findings) > 0 {
		t.Errorf("certainty %s, source %+v, findings %v", set.Certainty, set.Source, set.Findings)
	}
	wantTexts := []string{
		"may read objects (s3:GetObject) of " + objects,
		"may write objects (s3:PutObject) of " + objects,
		"may call sqs:SendMessage on " + queue,
		"ServiceAccount $(NAMESPACE)/operator becomes the role by tokens for the audience openshift (assumed: no source tells)",
	}
	if diff := cmp.Diff(wantTexts, texts(set)); diff != "" {
		t.Error(diff)
	}
	policies := set.Policy()
	if len(policies.Documents) != 1 || policies.Note != "" {
		t.Fatalf("policies: %+v", policies)
	}
	accepted(t, policies.Documents[0])
	wantPolicy := iampolicy.Document{
		{Actions: []string{"s3:GetObject", "s3:PutObject"}, Resources: []string{objects}},
		{Actions: []string{"sqs:SendMessage"}, Resources: []string{queue}},
	}
	if diff := cmp.Diff(wantPolicy.String(), policies.Documents[0]); diff != "" {
		t.Error(diff)
	}
}

func TestScenario14WithoutASourceThePermissionsAreUnknown(t *testing.T) {
	unreadable, nothing := declared("{"), declared("[]")
	for name, set := range map[string]permission.Set{
		"no annotation":                    permission.ReadAnnotations(subject, "p.v1.1.0", map[string]string{"other": "[]"}),
		"no source":                        permission.Nothing(subject),
		"the zero set":                     {},
		"an annotation that is no JSON":    unreadable,
		"no request that can be read":      declared("[{}]"),
		"null":                             declared("null"),
		"an empty annotation":              declared(""),
		"a file without requests":          permission.ReadFiles(subject, permission.SourceRequests, "f", []permission.File{{Name: "f", Text: []byte("kind: Deployment")}}),
		"no file":                          permission.ReadFiles(subject, permission.SourceRequests, "f", nil),
		"no request in the cluster":        permission.ReadRequests(subject, permission.Source{Kind: permission.SourceLive}, nil),
		"requests to another cloud alone":  old().ForCloud(permission.GCP),
		"requests to another cloud":        declared("[" + strings.NewReplacer("AWSProviderSpec", "AzureProviderSpec", `"statementEntries":[]`, `"permissions":["a/read"]`).Replace(request(accounts)) + "]"),
		"what cannot be read, among other": permission.Choose(subject, "", unreadable, permission.Nothing(subject)),
	} {
		t.Run(name, func(t *testing.T) {
			requests, known := set.Requests()
			if known || requests != nil || set.AsksNothing() || set.Digest() != "" {
				t.Errorf("known %v, requests %v, asks nothing %v", known, requests, set.AsksNothing())
			}
			text, err := json.Marshal(set)
			if err != nil || !strings.Contains(string(text), `"certainty":"unknown"`) || strings.Contains(string(text), `"requests":`) {
				t.Errorf("%v\n%s", err, text)
			}
			all := strings.Join(texts(set), "\n") + string(text)
			if !strings.Contains(all, "unknown") || strings.Contains(strings.ToLower(all), "no permissions") {
				t.Error(all)
			}
			if got := permission.Diff(set, nothing).Verdict; got != permission.VerdictUnknown {
				t.Errorf("compared with nothing asked for the verdict is %s", got)
			}
		})
	}
	text, err := json.Marshal(nothing)
	if requests, known := nothing.Requests(); !known || len(requests) != 0 || !nothing.AsksNothing() || err != nil || !strings.Contains(string(text), `"requests":[]`) {
		t.Errorf("an empty list declares that nothing is asked for: %s", text)
	}
	if got := texts(nothing); !slices.Equal(got, []string{"The operator declares that it asks the cloud for nothing."}) {
		t.Error(got)
	}
}

func TestScenario15EachSlipIsAFindingAndTheRestIsShown(t *testing.T) {
	good := entry(objects, "s3:GetObject")
	withSpec := func(field, value string) string {
		return strings.Replace(request(accounts, good), `"kind":"AWSProviderSpec"`, fmt.Sprintf(`"kind":"AWSProviderSpec",%q:%q`, field, value), 1)
	}
	azure := strings.NewReplacer("AWSProviderSpec", "AzureProviderSpec", `"statementEntries":[]`, `"azureClientID":"a","azureRegion":"b","azureSubscriptionID":"c","azureTenantID":"d","roleBindings":[{"role":"Reader"}]`).Replace(request(accounts))
	google := strings.NewReplacer("AWSProviderSpec", "GCPProviderSpec", `"statementEntries":[]`, `"serviceAccountEmail":"a","audience":"b","permissions":["storage.objects.get"]`).Replace(request(accounts))
	for name, row := range map[string]struct {
		annotation string
		want       []string
		atoms      int
	}{
		"invalid JSON":                      {`[{"kind":`, []string{"InvalidJSON "}, 0},
		"text behind the list":              {`[] []`, []string{"InvalidJSON "}, 0},
		"an object":                         {request(accounts, good), []string{"InvalidJSON "}, 0},
		"nothing wrong":                     {"[" + request(accounts, good) + "]", []string{}, 1},
		"a role that is set":                {"[" + withSpec("stsIAMRoleARN", "arn:aws:iam::111122223333:role/x") + "]", []string{"MustBeEmpty [0].spec.providerSpec.stsIAMRoleARN"}, 1},
		"no ServiceAccounts":                {"[" + request(`"cloudTokenPath":"/t"`, good) + "]", []string{"NoServiceAccountNames [0].spec.serviceAccountNames"}, 1},
		"what is no request beside one":     {"[7," + request(accounts, good) + "]", []string{"InvalidRequest [0]"}, 1},
		"another kind beside one":           {`[{"apiVersion":"v1","kind":"Secret"},` + request(accounts, good) + "]", []string{"WrongKind [0]"}, 1},
		"a provider that is missing":        {`[{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"x"}},` + request(accounts, good) + "]", []string{"NoProviderSpec [0].spec.providerSpec"}, 1},
		"a provider of another cloud":       {"[" + strings.ReplaceAll(request(accounts, good), "AWSProviderSpec", "IBMCloudProviderSpec") + "," + request(accounts, good) + "]", []string{"OtherCloud [0].spec.providerSpec.kind"}, 1},
		"an effect that is none":            {"[" + request(accounts, strings.Replace(good, "Allow", "allow", 1), good) + "]", []string{"InvalidEffect [0].spec.providerSpec.statementEntries[0]"}, 1},
		"an action without a service":       {"[" + request(accounts, entry(objects, "GetObject", "s3:GetObject")) + "]", []string{"NoVendor [0].spec.providerSpec.statementEntries[0].action[0]"}, 1},
		"an action with a space":            {"[" + request(accounts, entry(objects, "s3:Get Object", "s3:GetObject")) + "]", []string{"InvalidAction [0].spec.providerSpec.statementEntries[0].action[0]"}, 1},
		"no action":                         {"[" + request(accounts, entry(objects), good) + "]", []string{"InvalidAction [0].spec.providerSpec.statementEntries[0].action"}, 1},
		"a resource that is none":           {"[" + request(accounts, entry("bucket", "s3:GetObject"), good) + "]", []string{"InvalidResource [0].spec.providerSpec.statementEntries[0]"}, 1},
		"an ARN with parts missing":         {"[" + request(accounts, entry("arn:aws:s3", "s3:GetObject", "s3:PutObject"), good) + "]", []string{"ShortResource [0].spec.providerSpec.statementEntries[0]"}, 1},
		"an operator that does not exist":   {"[" + request(accounts, strings.Replace(good, "{", `{"policyCondition":{"StringIs":{"aws:RequestedRegion":"x"}},`, 1), good) + "]", []string{"UnknownOperator [0].spec.providerSpec.statementEntries[0]"}, 1},
		"a condition of an object":          {"[" + request(accounts, strings.Replace(good, "{", `{"policyCondition":{"StringEquals":{"aws:RequestedRegion":{}}},`, 1), good) + "]", []string{"InvalidCondition [0].spec.providerSpec.statementEntries[0].policyCondition"}, 1},
		"a field that is misspelt":          {"[" + request(accounts, strings.Replace(good, "{", `{"policyConditions":{},`, 1)) + "]", []string{"MisspeltField [0].spec.providerSpec"}, 1},
		"a namespace that is none":          {"[" + strings.Replace(request(accounts, good), "$(NAMESPACE)", "$(NAMESPACE)-x", 1) + "]", []string{"InvalidNamespace [0].spec.secretRef.namespace"}, 1},
		"no Secret":                         {"[" + strings.Replace(request(accounts, good), `"name":"creds",`, "", 1) + "]", []string{"NoTarget [0].spec"}, 1},
		"a name with a terminal escape":     {"[" + strings.Replace(request(accounts, good), `{"name":"p"}`, `{"name":"p\u001b[2J"}`, 1) + "]", []string{"InvalidName [0].metadata.name"}, 1},
		"a resource with a terminal escape": {"[" + request(accounts, strings.Replace(good, "b/*", `b\u001b[2J/*`, 1), good) + "]", []string{"InvalidText [0].spec.providerSpec.statementEntries[0].resource"}, 1},
		"two requests of a name":            {"[" + request(accounts, good) + "," + request(accounts, good) + "]", []string{"DuplicateRequest [1].metadata.name"}, 1},
		"a request for nothing":             {"[" + request(accounts) + "]", []string{"EmptyRequest [0]"}, 0},
		"fields of Azure": {"[" + azure + "]", []string{
			"MustBeEmpty [0].spec.providerSpec.azureClientID", "MustBeEmpty [0].spec.providerSpec.azureRegion",
			"MustBeEmpty [0].spec.providerSpec.azureSubscriptionID", "MustBeEmpty [0].spec.providerSpec.azureTenantID",
		}, 1},
		"fields of Google Cloud": {"[" + google + "]", []string{"MustBeEmpty [0].spec.providerSpec.serviceAccountEmail", "MustBeEmpty [0].spec.providerSpec.audience"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			every := subject
			every.Cloud = ""
			set := permission.ReadAnnotations(every, "p.v1.1.0", map[string]string{permission.Annotation: row.annotation})
			if diff := cmp.Diff(row.want, codes(set)); diff != "" {
				t.Error(diff, set.Findings)
			}
			if len(set.Atoms()) != row.atoms {
				t.Errorf("%d atoms, want %d", len(set.Atoms()), row.atoms)
			}
			for _, f := range set.Findings {
				if strings.ContainsRune(f.Message, '\x1b') || f.Message == "" {
					t.Errorf("%q", f.Message)
				}
			}
			for _, document := range set.Policy().Documents {
				accepted(t, document)
			}
		})
	}
}

func TestScenario17AnUpgradeAddsTwoAtomsAndADowngradeRemovesThem(t *testing.T) {
	up, down := permission.Diff(old(), newer()), permission.Diff(newer(), old())
	if diff := cmp.Diff([]string{"added", "added"}, classesOf(up)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"removed", "removed"}, classesOf(down)); diff != "" {
		t.Error(diff)
	}
	if up.Verdict != permission.VerdictChanged || up.TrustMustChange {
		t.Errorf("%+v", up)
	}
	text, err := json.Marshal(up)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		APIVersion, Kind, Verdict string
		Changes                   []struct {
			Class, Text string
			To          []permission.Atom
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if read.APIVersion != "tabard.dev/v1alpha1" || read.Kind != "OperatorPermissionsDifference" || read.Verdict != "Changed" || len(read.Changes) != 2 {
		t.Fatalf("%s", text)
	}
	for i, want := range []string{"s3:PutObject", "sqs:SendMessage"} {
		if c := read.Changes[i]; c.Class != "added" || len(c.To) != 1 || c.To[0].Action != want || !strings.Contains(c.Text, want) {
			t.Errorf("%+v", c)
		}
	}
}

func TestScenario18WhatWidensNarrowsAndChangesTheTrust(t *testing.T) {
	of := func(spec string, statements ...string) permission.Set {
		return declared("[" + request(spec, statements...) + "]")
	}
	secure := strings.Replace(entry(objects, "s3:GetObject"), "{", `{"policyCondition":{"Bool":{"aws:SecureTransport":"true"}},`, 1)
	for name, row := range map[string]struct {
		from, to permission.Set
		want     []string
		says     string
	}{
		"a service instead of its reads":     {of(accounts, entry(objects, "s3:Get*")), of(accounts, entry(objects, "s3:*")), []string{"widened"}, "every action of s3"},
		"a part of the bucket":               {of(accounts, entry(objects, "s3:GetObject")), of(accounts, entry("arn:aws:s3:::b/data/*", "s3:GetObject")), []string{"narrowed"}, "b/data/*"},
		"two ServiceAccounts":                {of(accounts, entry(objects, "s3:GetObject")), of(`"serviceAccountNames":["operator","agent"]`, entry(objects, "s3:GetObject")), []string{"subject"}, "trust must change"},
		"several reads that become all":      {of(accounts, entry(objects, "s3:GetObject", "s3:GetObjectTagging")), of(accounts, entry(objects, "s3:Get*")), []string{"widened"}, "s3:GetObjectTagging"},
		"all that become several reads":      {of(accounts, entry(objects, "s3:Get*")), of(accounts, entry(objects, "s3:GetObject", "s3:GetObjectTagging")), []string{"narrowed"}, "s3:GetObjectTagging"},
		"a condition less":                   {of(accounts, secure), of(accounts, entry(objects, "s3:GetObject")), []string{"widened"}, "only if aws:SecureTransport Bool true"},
		"a condition more":                   {of(accounts, entry(objects, "s3:GetObject")), of(accounts, secure), []string{"narrowed"}, "only if"},
		"another condition":                  {of(accounts, secure), of(accounts, strings.Replace(secure, `"true"`, `"false"`, 1)), []string{"changed"}, "Bool false"},
		"another resource":                   {of(accounts, entry(objects, "s3:GetObject")), of(accounts, entry("arn:aws:s3:::c/*", "s3:GetObject")), []string{"changed"}, "arn:aws:s3:::c/*"},
		"wider, and on less":                 {of(accounts, entry(objects, "s3:Get*")), of(accounts, entry("arn:aws:s3:::b/data/*", "s3:*")), []string{"added", "removed"}, ""},
		"an action in other case":            {of(accounts, entry(objects, "s3:GetObject")), of(accounts, entry(objects, "S3:getobject")), []string{}, ""},
		"another namespace":                  {old().In("a"), old().In("b"), []string{"subject", "secret"}, "a/operator"},
		"an audience that is known now":      {old(), audience("sts.amazonaws.com"), []string{"subject"}, "one of the two is assumed"},
		"an audience of two that are known":  {audience("openshift"), audience("sts.amazonaws.com"), []string{"subject"}, "sts.amazonaws.com, before openshift; the role's trust must change"},
		"tokens that are supported no more":  {tokens(permission.Supported), tokens(permission.NotSupported), []string{"support"}, "may not use the role"},
		"tokens that are supported from now": {tokens(permission.NotSupported), tokens(permission.Supported), []string{"support"}, "support of tokens: yes, before no"},
		"another path of the token":          {of(accounts+`,"cloudTokenPath":"/a"`, entry(objects, "s3:GetObject")), of(accounts+`,"cloudTokenPath":"/b"`, entry(objects, "s3:GetObject")), []string{"tokenPath"}, "/b, before /a"},
		"a Deny that is gone":                {of(accounts, strings.Replace(entry(objects, "s3:GetObject"), "Allow", "Deny", 1)), declared("[" + request(accounts) + "]"), []string{"removed"}, "less is denied"},
		"a Deny of less":                     {of(accounts, strings.Replace(entry(objects, "s3:*"), "Allow", "Deny", 1)), of(accounts, strings.Replace(entry(objects, "s3:Get*"), "Allow", "Deny", 1)), []string{"narrowed"}, "less is denied"},
		"of one side nothing is known":       {permission.Nothing(subject), newer(), []string{"unknown", "unknown", "unknown", "unknown", "unknown", "unknown"}, "unknown"},
		"of the other side nothing is known": {old(), permission.Nothing(subject), []string{"unknown", "unknown", "unknown", "unknown"}, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			d := permission.Diff(row.from, row.to)
			if diff := cmp.Diff(row.want, classesOf(d)); diff != "" {
				t.Error(diff)
			}
			var all []string
			for _, c := range d.Changes {
				all = append(all, c.Text+fmt.Sprint(c.Marks))
			}
			if !strings.Contains(strings.Join(all, "\n"), row.says) {
				t.Errorf("%q does not say %q", all, row.says)
			}
			if want := slices.Contains(row.want, "subject"); d.TrustMustChange != want {
				t.Errorf("trust must change: %v", d.TrustMustChange)
			}
			if _, known := row.from.Requests(); !known && d.Verdict != permission.VerdictUnknown {
				t.Errorf("the verdict is %s", d.Verdict)
			}
		})
	}
	widened := permission.Diff(of(accounts, entry(objects, "s3:Get*")), of(accounts, entry(objects, "s3:*"))).Changes[0]
	if len(widened.Marks) == 0 {
		t.Errorf("%+v is not sensitive", widened)
	}
}
