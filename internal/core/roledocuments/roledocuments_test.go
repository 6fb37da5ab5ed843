package roledocuments_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/roledocuments"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	arn  = "arn:aws:iam::111122223333:role/o/r"
	role = `{"Role":{"Arn":"` + arn + `","RoleName":"r","AssumeRolePolicyDocument":{"a":1},"PermissionsBoundary":{"PermissionsBoundaryType":"Policy","PermissionsBoundaryArn":"arn:aws:iam::111122223333:policy/b"}}}`
)

func file(name, text string) roledocuments.File {
	return roledocuments.File{Name: name, Text: []byte(text)}
}

func TestOutputsOfOneCallEach(t *testing.T) {
	d, notes, err := roledocuments.Read(arn, []roledocuments.File{
		file("1.json", role),
		file("2.json", `{"PolicyNames":["x","y"]}`),
		file("3.json", `{"AttachedPolicies":[{"PolicyName":"m","PolicyArn":"arn:aws:iam::aws:policy/m"},{"PolicyName":"n","PolicyArn":"arn:aws:iam::aws:policy/n"}]}`),
		file("4.json", `{"RoleName":"r","PolicyName":"x","PolicyDocument":"%7B%22b%22%3A%20%22a+b%22%7D"}`),
		file("5.json", `{"RoleName":"other","PolicyName":"z","PolicyDocument":{}}`),
		file("m.json", `{"PolicyVersion":{"Document":"{\"c\":1}","VersionId":"v3","IsDefaultVersion":true}}`),
		file("b.json", `{"PolicyVersion":{"Document":{"d":1},"VersionId":"v1","IsDefaultVersion":true}}`),
	})
	must.Do(t, err)
	if d.ARN != arn || d.Trust.Text != `{"a":1}` || d.Boundary == nil || d.Boundary.Text != `{"d":1}` || d.Unlisted != "" {
		t.Errorf("%+v", d)
	}
	said := ""
	for _, p := range d.Policies {
		said += p.Name + "=" + p.Text + "!" + p.Unread + "\n"
	}
	for _, part := range []string{`inline policy x={"b": "a+b"}!`, "inline policy y=!no file has it (aws iam get-role-policy)", `managed policy m={"c":1}!`, "managed policy n=!no file has it (aws iam get-policy-version --policy-arn arn:aws:iam::aws:policy/n"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in\n%s", part, said)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "5.json") {
		t.Errorf("%v", notes)
	}
}

func TestTheDetailsOfAnAccount(t *testing.T) {
	const details = `{"IsTruncated":false,"RoleDetailList":[{"Arn":"arn:aws:iam::111122223333:role/x","RoleName":"x"},{"Arn":"` + arn + `","RoleName":"r","AssumeRolePolicyDocument":{"a":1},"RolePolicyList":[{"PolicyName":"x","PolicyDocument":{"b":1}}],"AttachedManagedPolicies":[{"PolicyName":"m","PolicyArn":"arn:aws:iam::111122223333:policy/m"}]}],"Policies":[{"Arn":"arn:aws:iam::111122223333:policy/m","PolicyVersionList":[{"Document":{"old":1},"IsDefaultVersion":false},{"Document":{"c":1},"IsDefaultVersion":true}]}]}`
	d, _, err := roledocuments.Read(arn, []roledocuments.File{file("all.json", details)})
	must.Do(t, err)
	if len(d.Policies) != 2 || d.Policies[0].Text != `{"b":1}` || d.Policies[1].Text != `{"c":1}` || d.Boundary != nil || d.Unlisted != "" {
		t.Errorf("%+v", d)
	}
	d, _, err = roledocuments.Read(arn, []roledocuments.File{file("all.json", strings.Replace(details, `"IsTruncated":false`, `"IsTruncated":true`, 1))})
	must.Do(t, err)
	if !strings.Contains(d.Unlisted, "IsTruncated") {
		t.Errorf("%+v", d)
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	d, _, err := roledocuments.Read(arn, []roledocuments.File{file("1.json", role)})
	must.Do(t, err)
	if !strings.Contains(d.Unlisted, "list-role-policies") || !strings.Contains(d.Unlisted, "list-attached-role-policies") || d.Boundary.Unread == "" {
		t.Errorf("%+v", d)
	}
	if _, _, err := roledocuments.Read(arn, []roledocuments.File{file("1.json", strings.ReplaceAll(role, "/o/r", "/r"))}); err == nil || !strings.Contains(err.Error(), arn) {
		t.Errorf("%v", err)
	}
	if _, _, err := roledocuments.Read(arn, []roledocuments.File{file("1.json", role), file("b.json", `{"PolicyVersion":{"Document":{},"VersionId":"v1","IsDefaultVersion":false}}`)}); err == nil || !strings.Contains(err.Error(), "not in force") {
		t.Errorf("%v", err)
	}
	if _, _, err := roledocuments.Read(arn, []roledocuments.File{file("1.json", `{"RoleName":"r","PolicyName":"x","PolicyDocument":{}}`), file("2.json", `{"RoleName":"r","PolicyName":"x","PolicyDocument":{"a":1}}`)}); err == nil || !strings.Contains(err.Error(), "2.json") {
		t.Errorf("%v", err)
	}
	if _, _, err := roledocuments.Read(arn, []roledocuments.File{file("1.json", "[")}); err == nil || !strings.Contains(err.Error(), "1.json") {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(role), []byte(`{"PolicyVersion":{"Document":7}}`))
	f.Add([]byte(`{"RoleDetailList":[null]}`), []byte(`null`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d, _, err := roledocuments.Read(arn, []roledocuments.File{{Name: "a.json", Text: a}, {Name: "b.json", Text: b}})
		if err == nil && d.ARN != arn {
			t.Errorf("%+v", d)
		}
	})
}
