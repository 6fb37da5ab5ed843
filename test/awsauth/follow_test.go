package awsauth

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestOneClientFollowsItsSecret from before it exists until after it is gone, by way of keys
// that are rotated and a role.
func TestOneClientFollowsItsSecret(t *testing.T) {
	l := newLab(t)
	role := l.webRole("of-secret")
	l.write(openshiftToken, l.token(10*time.Minute))
	l.start()
	config, err := l.auth.Follow(t.Context(), identity.Identity{Base: identity.Secret, Secret: keys})
	if err != nil {
		t.Fatalf("the Secret may come later: %v", err)
	}
	client := sts.NewFromConfig(config)
	check := func(version string, data map[string]string, want, code string) {
		t.Helper()
		if data != nil {
			l.source.put(keys, version, data)
		}
		out, err := client.GetCallerIdentity(t.Context(), nil)
		if err != nil {
			if known := fault.Of("", "", err); known.Code != code {
				t.Errorf("version %q fails with %v, want %q", version, err, code)
			}
			return
		}
		if got := aws.ToString(out.Arn); got != want || code != "" {
			t.Errorf("version %q is %s, want %q or the error %q", version, got, want, code)
		}
	}
	check("", nil, "", fault.CodeSecretNotFound)
	id, secret := l.user("first")
	first := map[string]string{"aws_access_key_id": id, "aws_secret_access_key": secret}
	check("1", first, "arn:aws:iam::"+labAccount+":user/first", "")
	id, secret = l.user("second")
	check("2", map[string]string{"aws_access_key_id": id, "aws_secret_access_key": secret}, "arn:aws:iam::"+labAccount+":user/second", "")
	check("3", map[string]string{"credentials": "[default]\nrole_arn = " + role + "\nweb_identity_token_file = " + openshiftToken + "\n"}, assumed("of-secret", "tabard-pod"), "")
	l.source.forget(keys)
	check("", nil, "", fault.CodeSecretNotFound)
	check("4", first, "arn:aws:iam::"+labAccount+":user/first", "")
}

// TestAFollowingClientIsLikeAnyOther: it shares the exchange, renews a session that AWS has
// ended, names the role in its errors, and is refused what can never work.
func TestAFollowingClientIsLikeAnyOther(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.start()
	config := must.Get(l.auth.Follow(t.Context(), web))(t)
	l.wantWho(web, assumed("web", "tabard-pod"))
	for range 3 {
		must.Get(sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil))(t)
	}
	if got := l.exchanges(); got != 1 {
		t.Errorf("%d exchanges, want one for both: %v", got, l.calls())
	}
	l.pass(2 * time.Hour) // by AWS's clock alone
	if _, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil); err != nil {
		t.Errorf("a session that AWS has ended was not renewed: %v", err)
	}
	_, err := iam.NewFromConfig(config).ListRoles(t.Context(), nil)
	if known := fault.Of("", "", err); known == nil || known.Method != "irsa" || known.Class != fault.Unauthorized {
		t.Errorf("the error is %v", err)
	}
	if _, err := l.auth.Follow(t.Context(), identity.Identity{}); fault.Of("", "", err).Code != fault.CodeInvalidIdentity {
		t.Errorf("no identity was followed: %v", err)
	}
}
