package credentials_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

func TestRoleName(t *testing.T) {
	own := credentials.Settings{OwnNamespaces: []string{"openshift-cloud-credential-operator"}}
	long := strings.Repeat("x", 70)
	tests := map[string]struct{ namespace, name, want string }{
		"in Tabard's own namespace": {"openshift-cloud-credential-operator", "openshift-image-registry", "sjenning-abcde-openshift-image-registry"},
		"in another namespace":      {"team", "app", "sjenning-abcde-app-e46f7d74783804fa"},
		"the same name elsewhere":   {"team-b", "app", "sjenning-abcde-app-9d0dd8803fccfd2c"},
		"cut in its own namespace":  {"openshift-cloud-credential-operator", long, "sjenning-abcde-" + strings.Repeat("x", 32) + "-1cd7688c807c8b48"},
		"cut elsewhere":             {"team", long, "sjenning-abcde-" + strings.Repeat("x", 32) + "-0f586b54d3eee81f"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := credentials.RoleName(own, "sjenning-abcde", test.namespace, test.name)
			if got != test.want || len(got) > 64 {
				t.Errorf("the name is %s (%d characters), want %s", got, len(got), test.want)
			}
		})
	}
}

func TestTwoRequestsNeverHaveTheSameGrant(t *testing.T) {
	long := strings.Repeat("n", 253)
	seen := map[string]string{}
	for _, request := range [][2]string{{"a", "b.c"}, {"a-b", "c"}, {"a", "b-c"}, {"a", long}, {"b", long}, {"a", long[:252]}, {"a", long[:251]}} {
		name := credentials.GrantName(request[0], request[1])
		if other, there := seen[name]; there || len(name) > 253 {
			t.Errorf("%v has the grant %s (%d characters), which is that of %s", request, name, len(name), other)
		}
		seen[name] = request[0] + "/" + request[1]
	}
}

func TestPolicyName(t *testing.T) {
	if got := credentials.PolicyName("infra-app"); got != "infra-app-policy" {
		t.Errorf("the policy's name is %s", got)
	}
	if got := credentials.PolicyName(strings.Repeat("x", 128)); len(got) != 128 {
		t.Errorf("the policy's name has %d characters, want 128 at most", len(got))
	}
}

// TestARoleKeepsItsRecordedName: one that was made by an earlier version has fewer digits.
func TestARoleKeepsItsRecordedName(t *testing.T) {
	w := newModel(0).Observe()
	if name := credentials.RoleNameOf(w); name != "infra-app-e46f7d74783804fa" {
		t.Errorf("the name of a new role is %s", name)
	}
	w.Grant = &v1alpha1.CredentialsGrant{}
	w.Grant.Status.Role = &v1alpha1.GrantedRole{Name: "infra-app-e46f7d7478"}
	if name := credentials.RoleNameOf(w); name != "infra-app-e46f7d7478" {
		t.Errorf("the name of a role that was made is %s, want the recorded one", name)
	}
}
