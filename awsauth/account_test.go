package awsauth_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

func accountOf(namespace, name, role string) identity.Identity {
	return identity.Identity{Base: identity.ServiceAccount, ServiceAccount: identity.ServiceAccountRef{Namespace: namespace, Name: name, RoleARN: role}}
}

// TestAServiceAccountIsNamedInFull: without a namespace there is none to fall back to.
func TestAServiceAccountIsNamedInFull(t *testing.T) {
	_, auth := newCrowd(t, webWorld())
	secret := accountOf("team-a", "secrets", testRole)
	secret.Base, secret.Secret = identity.Secret, keys
	elsewhere := accountOf("team-a", "secrets", testRole)
	elsewhere.Region = "cn-north-1"
	for what, id := range map[string]identity.Identity{
		"say its name, and as its namespace that of the object which asks":    accountOf("", "secrets", testRole),
		`the identity's ServiceAccount is "team-a/"`:                          accountOf("team-a", "", testRole),
		"the role of ServiceAccount team-a/secrets is \"\", which is no ARN":  accountOf("team-a", "secrets", ""),
		`it has the ServiceAccount team-a/secrets; only the base`:             secret,
		"the role of ServiceAccount team-a/secrets is arn:aws:iam::123456789": elsewhere,
	} {
		if _, err := auth.Config(t.Context(), id); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
	_, err := retrieve(t, auth, accountOf("team-a", "secrets", testRole))
	if known := fault.Of("", "", err); known == nil || known.Code != fault.CodeTokenUnavailable || !strings.Contains(known.Message, "Options has no Tokens") {
		t.Errorf("a process that requests no tokens: %v", err)
	}
}
