package app

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestWhoReadsRolesForInstallPlans: a web identity, and nobody where there is none or half of one.
// What the AWS SDK would find beside is the node's or a person's.
func TestWhoReadsRolesForInstallPlans(t *testing.T) {
	for name, test := range map[string]struct {
		role, file, without string
	}{
		"a web identity":      {"arn:aws:iam::111122223333:role/tabard-operators", "/token", ""},
		"none":                {"", "", "the controller has no identity in AWS"},
		"a role and no token": {"arn:aws:iam::111122223333:role/tabard-operators", "", "AWS_WEB_IDENTITY_TOKEN_FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ROLE_ARN", test.role)
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", test.file)
			t.Setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
			got := must.Get(operatorsOptions())(t)
			if (got.Roles != nil) != (test.without == "") || !strings.Contains(got.WithoutRoles, test.without) {
				t.Errorf("roles are read: %t, because %q, want %q", got.Roles != nil, got.WithoutRoles, test.without)
			}
		})
	}
}
