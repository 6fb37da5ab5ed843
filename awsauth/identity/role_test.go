package identity_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

const beforeRole = "arn:aws:iam::111122223333:role/"

func TestRolesAreToldByIAMsGrammar(t *testing.T) {
	for text, want := range map[string]bool{
		beforeRole + "app":        true,
		beforeRole + "team/app":   true,
		beforeRole + "team~a/app": true,
		beforeRole + `a/!"#$%&'()*+,-.:;<=>?@[\]^_{|}~` + "`/app": true,
		beforeRole + "team-b/:role/app":                           true,
		beforeRole + "a//b/app":                                   true,
		beforeRole + "App_1+=,.@-x":                               true,
		"arn:aws-us-iso-b:iam::111122223333:role/app":             true,
		"arn:aws-eusc2:iam::111122223333:role/app":                true,
		beforeRole + strings.Repeat("n", 64):                      true,
		beforeRole + strings.Repeat("n", 65):                      false,
		beforeRole + strings.Repeat("p", 510) + "/app":            true,
		beforeRole + strings.Repeat("p", 511) + "/app":            false,
		beforeRole:                                                  false,
		beforeRole + "/app":                                         false,
		beforeRole + "team/":                                        false,
		beforeRole + "team~a":                                       false,
		beforeRole + "$(NAME)":                                      false,
		beforeRole + "team a/app":                                   false,
		beforeRole + "team\ta/app":                                  false,
		beforeRole + "team\x00a/app":                                false,
		beforeRole + "team\x7fa/app":                                false,
		beforeRole + "teäm/app":                                     false,
		beforeRole + "app\n":                                        false,
		beforeRole + "app\x00":                                      false,
		beforeRole + "äpp":                                          false,
		" " + beforeRole + "app":                                    false,
		"arn:azure:iam::111122223333:role/app":                      false,
		"arn:awsX:iam::111122223333:role/app":                       false,
		"arn:aws:iam:us-east-1:111122223333:role/app":               false,
		"arn:aws:iam::11112222333:role/app":                         false,
		"arn:aws:iam::11112222333x:role/app":                        false,
		"arn:aws:iam::111122223333:user/app":                        false,
		"arn:aws:sts::111122223333:assumed-role/app/session":        false,
		"arn:aws:iam::111122223333:user/a:iam::111122223333:role/x": false,
		"aws:iam::111122223333:role/app":                            false,
		"":                                                          false,
	} {
		if got := identity.IsRoleARN(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

func TestRolesAreTakenApart(t *testing.T) {
	for text, want := range map[string]identity.RoleARN{
		beforeRole + "app": {Partition: "aws", Account: "111122223333", Path: "/", Name: "app"},
		"arn:aws-cn:iam::111122223333:role/a:role/b~/app": {Partition: "aws-cn", Account: "111122223333", Path: "/a:role/b~/", Name: "app"},
		beforeRole + strings.Repeat("n", 70):              {Partition: "aws", Account: "111122223333", Path: "/", Name: strings.Repeat("n", 70)},
		beforeRole + strings.Repeat("n", 2048):            {},
	} {
		if got, ok := identity.ParseRoleARN(text); got != want || ok != (want != identity.RoleARN{}) {
			t.Errorf("%q: %+v %t, want %+v", text, got, ok, want)
		}
	}
}

// FuzzParseRoleARN demands that the parts of a role make its ARN, and that none has
// what breaks a line, a quote or a file.
func FuzzParseRoleARN(f *testing.F) {
	f.Add(beforeRole + "team~a/app")
	f.Add(beforeRole + "x:role/app\n")
	f.Add("arn:aws:iam::111122223333:role//app")
	f.Fuzz(func(t *testing.T, text string) {
		role, ok := identity.ParseRoleARN(text)
		if !ok {
			return
		}
		if made := "arn:" + role.Partition + ":iam::" + role.Account + ":role" + role.Path + role.Name; made != text {
			t.Errorf("%q is of the parts of %q", made, text)
		}
		for _, r := range text {
			if r <= ' ' || r > '~' {
				t.Errorf("%q has %q", text, r)
			}
		}
		if strings.Contains(role.Name, "/") || len(role.Account) != 12 || identity.PartitionOfARN(text) != role.Partition {
			t.Errorf("%q: %+v", text, role)
		}
	})
}
