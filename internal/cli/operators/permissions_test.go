package operators

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	policies "github.com/tabard-dev/tabard/internal/cli/policy"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// accepted fails for what "tabard policy check" says of a document.
func accepted(t *testing.T, document string) {
	t.Helper()
	var out bytes.Buffer
	check := policies.New(command.Streams{In: strings.NewReader(document), Out: &out, Err: &out})
	check.SetArgs([]string{"check", "--fail-on", "warning", "-"})
	if err := check.ExecuteContext(t.Context()); err != nil {
		t.Errorf("%v: %s\n%s", err, out.String(), document)
	}
}

func TestScenario13TheAnnotationDeclares(t *testing.T) {
	got := on(t, "all.json", "permissions", "p").exits(t, 0)
	says(t, got.out, "p 1.1.0 (p.v1.1.0)", "annotation of p.v1.1.0, declared", "s3:GetObject", "s3:PutObject", "sqs:SendMessage", "$(NAMESPACE)/operator becomes the role")
	if got.errOut != "" {
		t.Errorf("it says %s", got.errOut)
	}
	set := decoded[permission.Set](t, on(t, "all.json", "permissions", "p", "-o", "json").exits(t, 0))
	if len(set.Atoms()) != 3 || set.Source.Kind != permission.SourceAnnotation || set.Certainty != permission.Declared || set.Version != "1.1.0" {
		t.Errorf("%+v", set)
	}
	document := on(t, "all.json", "permissions", "p", "-o", "policy").exits(t, 0).out
	accepted(t, document)
	says(t, document, "s3:PutObject", `"2012-10-17"`)
	table := on(t, "all.json", "permissions", "p", "-o", "table").exits(t, 0).out
	says(t, table, "REQUEST", "sqs:SendMessage", "Allow")
	silent(t, on(t, "all.json", "permissions", "p", "-o", "table", "--no-headers").exits(t, 0).out, "REQUEST")
	silent(t, on(t, "all.json", "permissions", "p", "--version", "1.0.0").exits(t, 0).out, "PutObject")
}

func TestScenario14UnknownIsNotNone(t *testing.T) {
	for _, name := range []string{"told", "no-metadata", "broken-json"} {
		for _, format := range []string{"sentences", "table", "json", "yaml", "policy"} {
			got := on(t, "all.json", "permissions", name, "-o", format).exits(t, 1)
			all := strings.ToLower(got.out + got.errOut)
			says(t, all, "unknown")
			silent(t, all, "no permissions", "for nothing")
			if format == "policy" && got.out != "" {
				t.Errorf("-o policy prints %s", got.out)
			}
		}
	}
	told := on(t, "all.json", "permissions", "told").out
	says(t, told, "The author's instructions (not evaluated):\n    aws iam create-role --role-name told\n",
		"tabard operators permissions --catalogue testdata/all.json --requests PATH told")
	silent(t, told, "That is all.")
	says(t, on(t, "all.json", "permissions", "broken-json").errOut, "InvalidJSON")
	says(t, on(t, "all.json", "permissions", "p", "--cloud", "gcp").exits(t, 1).out, "All requests are to other clouds")
}

func TestAnEmptyListDeclaresNothing(t *testing.T) {
	for _, format := range []string{"sentences", "table"} {
		says(t, on(t, "all.json", "permissions", "asks-nothing", "-o", format).exits(t, 0).out, "declares that it asks the cloud for nothing")
	}
	got := on(t, "all.json", "permissions", "asks-nothing", "-o", "policy").exits(t, 0)
	says(t, got.errOut, "asks the cloud for nothing")
	if got.out != "" {
		t.Errorf("it prints a policy:\n%s", got.out)
	}
	if set := decoded[permission.Set](t, on(t, "all.json", "permissions", "asks-nothing", "-o", "json").exits(t, 0)); !set.AsksNothing() {
		t.Errorf("%+v", set)
	}
}

func TestScenario15SlipsHaveTheirPathsAndTheRestIsShown(t *testing.T) {
	got := on(t, "all.json", "permissions", "slips").exits(t, 0)
	says(t, got.errOut, "[0].spec.providerSpec.stsIAMRoleARN", "[1].spec.serviceAccountNames")
	says(t, got.out, "s3:GetObject", "s3:PutObject")
	if set := decoded[permission.Set](t, on(t, "all.json", "permissions", "slips", "-o", "json")); len(set.Findings) != 2 {
		t.Errorf("%+v", set.Findings)
	}
}

func TestSensitiveIsFirst(t *testing.T) {
	got := on(t, "all.json", "permissions", "admin").exits(t, 0).out
	says(t, got, "[sensitive: iam:PassRole")
	if strings.Index(got, "PassRole") > strings.Index(got, "ListAllMyBuckets") {
		t.Errorf("what is sensitive is not first:\n%s", got)
	}
	if got := on(t, "all.json", "permissions", "admin", "-o", "table", "--no-headers").out; !strings.HasPrefix(got, "admin  aws  Allow  iam:PassRole") {
		t.Errorf("what is sensitive is not first:\n%s", got)
	}
}

func TestRequestsOfFiles(t *testing.T) {
	got := onAWS().run(t, "", "permissions", "new", "--version", "2", "--requests", "testdata/requests").exits(t, 0)
	says(t, got.out, "new 2", "requests of testdata/requests, given", "s3:GetObject")
	says(t, onAWS().run(t, file(t, "requests/one.json"), "permissions", "new", "--requests", "-").exits(t, 0).out, "s3:GetObject")
	// The files count, and what the annotation says besides is a finding.
	got = on(t, "all.json", "permissions", "p", "--requests", "testdata/requests/one.json").exits(t, 0)
	silent(t, got.out, "PutObject")
	says(t, got.errOut, "SourcesDisagree", "PutObject")
	got = on(t, "all.json", "permissions", "told", "--requests", "testdata/requests").exits(t, 0)
	says(t, got.out, "s3:GetObject")

	empty := t.TempDir()
	says(t, onAWS().run(t, "", "permissions", "p", "--requests", empty).exits(t, 2).errOut, "no file in it that ends in .yaml")
	must.Do(t, os.WriteFile(filepath.Join(empty, "a.yaml"), []byte("kind: Secret\n"), 0o600))
	says(t, onAWS().run(t, "", "permissions", "p", "--requests", empty).exits(t, 2).errOut, "WrongKind", "no CredentialsRequest in it that can be used")
	must.Do(t, os.WriteFile(filepath.Join(empty, "a.yaml"), []byte("[]\n"), 0o600))
	says(t, onAWS().run(t, "", "permissions", "p", "--requests", empty).exits(t, 0).out, "asks the cloud for nothing")
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	must.Do(t, os.WriteFile(outside, []byte("[]\n"), 0o600))
	must.Do(t, os.Symlink(outside, filepath.Join(empty, "b.yaml")))
	says(t, onAWS().run(t, "", "permissions", "p", "--requests", empty).exits(t, 2).errOut, "b.yaml")
}

func TestAPartThatCannotBeReadIsSaid(t *testing.T) {
	half := strings.Replace(file(t, "requests/one.json"), `"s3:GetObject"`, `"s3:GetObject", "s3 broken"`, 1)
	for _, format := range []string{"sentences", "table", "json", "policy"} {
		got := onAWS().run(t, half, "permissions", "p", "--requests", "-", "-o", format).exits(t, 1)
		says(t, got.out, "s3:GetObject")
		says(t, got.out+got.errOut, "s3 broken")
	}
}

// TestALongPolicyIsAListThatIsAccepted: what is too long for a role is split, and said.
func TestALongPolicyIsAListThatIsAccepted(t *testing.T) {
	var actions []string
	for i := range 600 {
		actions = append(actions, `"s3:Get`+strings.Repeat(string(rune('A'+i%26)), 1+i/26)+`"`)
	}
	long := strings.Replace(file(t, "requests/one.json"), `"s3:GetObject"`, strings.Join(actions, ","), 1)
	got := onAWS().run(t, long, "permissions", "p", "--requests", "-", "-o", "policy")
	says(t, got.errOut, "managed policy of each")
	if !strings.HasPrefix(got.out, "[") {
		t.Errorf("it is no list:\n%.300s", got.out)
	}
	if got.code == 0 {
		accepted(t, got.out)
	}
}

func TestScenario17WhatAnUpgradeAdds(t *testing.T) {
	for _, c := range []struct {
		from, to string
		class    permission.Class
	}{{"1.0.0", "1.1.0", permission.ClassAdded}, {"1.1.0", "1.0.0", permission.ClassRemoved}, {"p.v1.0.0", "p.v1.1.0", permission.ClassAdded}} {
		args := []string{"upgrade-diff", "p", "--from", c.from, "--to", c.to}
		got := on(t, "all.json", args...).exits(t, 1)
		says(t, got.out, "CLASS", "PutObject", "sqs:SendMessage", "2 changes.", "From:", "To:")
		silent(t, on(t, "all.json", append(args, "--no-headers")...).out, "CLASS")
		d := decoded[difference](t, on(t, "all.json", append(args, "-o", "json")...).exits(t, 1))
		if d.Kind != permission.DifferenceKind || d.Verdict != permission.VerdictChanged || len(d.Changes) != 2 || d.Changes[0].Class != c.class || d.Changes[1].Class != c.class {
			t.Errorf("%+v", d)
		}
	}
	says(t, on(t, "all.json", "upgrade-diff", "p", "--from", "1.0.0", "--to", "1.0.0").exits(t, 0).out, "Both versions ask for the same.")
}

// difference is what -o json has.
type difference struct {
	Kind            string
	Verdict         permission.Verdict
	TrustMustChange bool
	Changes         []permission.Change
	Findings        []permission.Finding
}

func TestScenario18Classes(t *testing.T) {
	for _, c := range []struct {
		from, to  string
		class     permission.Class
		sensitive bool
		says      string
	}{
		{"1.0.0", "2.0.0", permission.ClassWidened, true, "every action of s3"},
		{"2.0.0", "3.0.0", permission.ClassNarrowed, true, "b/data/*"},
		{"3.0.0", "4.0.0", permission.ClassSubject, false, "The role's trust must change"},
		{"4.0.0", "5.0.0", permission.ClassSupport, false, "after the upgrade the operator may not use the role"},
	} {
		args := []string{"upgrade-diff", "wide", "--from", c.from, "--to", c.to}
		says(t, on(t, "all.json", args...).exits(t, 1).out, string(c.class), c.says)
		d := decoded[difference](t, on(t, "all.json", append(args, "-o", "json")...).exits(t, 1))
		if len(d.Changes) != 1 || d.Changes[0].Class != c.class || (len(d.Changes[0].Marks) > 0) != c.sensitive || d.TrustMustChange != (c.class == permission.ClassSubject) {
			t.Errorf("%s to %s: %+v", c.from, c.to, d)
		}
	}
	// The order: what is sensitive first, then by class.
	d := decoded[difference](t, on(t, "all.json", "upgrade-diff", "wide", "--from", "1.0.0", "--to", "5.0.0", "-o", "json"))
	var classes []permission.Class
	for _, change := range d.Changes {
		classes = append(classes, change.Class)
	}
	if !slices.IsSortedFunc(d.Changes, func(a, b permission.Change) int { return min(1, len(b.Marks)) - min(1, len(a.Marks)) }) || classes[len(classes)-1] != permission.ClassSupport {
		t.Errorf("the order is %v", classes)
	}
}

func TestUnknownSidesAreSaid(t *testing.T) {
	const catalogueText = `{"schema":"olm.package","name":"half","defaultChannel":"s"}
{"schema":"olm.channel","package":"half","name":"s","entries":[{"name":"half.v1"},{"name":"half.v2","replaces":"half.v1"},{"name":"half.v3","replaces":"half.v2"}]}
{"schema":"olm.bundle","package":"half","name":"half.v1","properties":[{"type":"olm.package","value":{"packageName":"half","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"half","name":"half.v2","properties":[{"type":"olm.package","value":{"packageName":"half","version":"2.0.0"}},{"type":"olm.csv.metadata","value":{"annotations":{"operators.tabard.dev/credentials-requests":"REQUESTS"}}}]}
{"schema":"olm.bundle","package":"half","name":"half.v3","properties":[{"type":"olm.package","value":{"packageName":"half","version":"3.0.0"}},{"type":"olm.csv.metadata","value":{"annotations":{"operators.tabard.dev/credentials-requests":"[{}]"}}}]}
`
	quoted := strings.ReplaceAll(strings.ReplaceAll("["+file(t, "requests/one.json")+"]", "\n", " "), `"`, `\"`)
	half := strings.Replace(catalogueText, "REQUESTS", quoted, 1)
	for _, c := range []struct{ from, to, says string }{
		{"1.0.0", "2.0.0", "nothing is known of what 1.0.0 asks the cloud for. All that 2.0.0 asks for is listed."},
		{"2.0.0", "1.0.0", "nothing is known of what 1.0.0 asks the cloud for. All that 2.0.0 asks for is listed."},
		{"1.0.0", "1.0.0", "nothing is known of what either version asks the cloud for"},
		{"2.0.0", "3.0.0", "nothing is known of what 3.0.0 asks"},
	} {
		got := onAWS().run(t, half, "upgrade-diff", "half", "--catalogue", "-", "--from", c.from, "--to", c.to).exits(t, 1)
		says(t, got.out, c.says, "unknown: ")
		silent(t, strings.ToLower(got.out), "no permissions", "the same.")
		if c.from != c.to {
			says(t, got.out, "s3:GetObject")
		}
		d := decoded[difference](t, onAWS().run(t, half, "upgrade-diff", "half", "--catalogue", "-", "--from", c.from, "--to", c.to, "-o", "json").exits(t, 1))
		if d.Verdict != permission.VerdictUnknown {
			t.Errorf("%s to %s: %+v", c.from, c.to, d)
		}
	}
	says(t, onAWS().run(t, half, "upgrade-diff", "half", "--catalogue", "-", "--from", "2.0.0", "--to", "3.0.0").errOut, "WrongKind: half.v3 [0]")
}

func TestConnectErrorsAreSaid(t *testing.T) {
	for _, args := range []string{"cluster", "list --catalogue testdata/p.json --cloud this", "permissions p --catalogue testdata/p.json --cloud this", "upgrade-diff p --catalogue testdata/p.json --cloud this --from 1.0.0 --to 1.1.0"} {
		got := openshift4{broken: errors.New("no route to the cluster")}.run(t, "", strings.Fields(args)...)
		says(t, got.errOut, "no route to the cluster")
		if got.code == 0 || got.out != "" {
			t.Errorf("%s: code %d\n%s", args, got.code, got.out)
		}
		if strings.HasPrefix(args, "cluster") || strings.HasPrefix(args, "list") {
			continue
		}
		got = openshift4{}.run(t, "", strings.Fields(args)...).exits(t, 1)
		says(t, got.errOut, "--cloud this names no cloud: the cluster is not in token mode")
	}
}

// TestWhyThereIsNoMetadataIsSaid: a catalogue's finding about the version is told where it decides.
func TestWhyThereIsNoMetadataIsSaid(t *testing.T) {
	const text = `{"schema":"olm.package","name":"m","defaultChannel":"s"}
{"schema":"olm.channel","package":"m","name":"s","entries":[{"name":"m.v1"}]}
{"schema":"olm.bundle","package":"m","name":"m.v1","properties":[{"type":"olm.package","value":{"packageName":"m","version":"1.0.0"}},{"type":"olm.csv.metadata","value":5}]}
`
	for _, args := range []string{"permissions m", "upgrade-diff m --from 1.0.0 --to 1.0.0"} {
		got := onAWS().run(t, text, append(strings.Fields(args), "--catalogue", "-")...).exits(t, 1)
		says(t, got.errOut, "MetadataBroken", `bundle "m.v1"`)
		says(t, got.out, "unknown")
	}
	says(t, onAWS().run(t, text, "show", "m", "--catalogue", "-").exits(t, 0).out, "MetadataBroken", "unknown: the catalogue has none")
}
