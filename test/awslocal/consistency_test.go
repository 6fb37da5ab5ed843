package awslocal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// settle is the longest delay in these tests. It is shorter than the skew that
// signatures may have, so that the clock can be moved by it.
const settle = 5 * time.Minute

// slowly makes changes take time. With this seed none of the first takes less
// than the tests do.
func (l *lab) slowly() {
	l.Admin().SetConsistency(awslocal.Consistency{Delay: settle, Seed: 2})
}

// assumable is a trust policy for the account.
const assumable = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + account + `"}}}`

// TestChangesAreSeenLate makes one change in each case, after which a call is
// answered as before, and as it should be when the delay is over.
func TestChangesAreSeenLate(t *testing.T) {
	cases := map[string]struct {
		// prepare happens before changes take time; it returns the change and
		// the call that looks at it.
		prepare      func(*lab) (change func() error, call func() error)
		before, then string
	}{
		"a new key": {func(l *lab) (func() error, func() error) {
			l.User(account, "ann", "")
			key := aws.Credentials{}
			return func() error { key = l.Key(account, "ann"); return nil },
				func() error { return l.whoAmIAs(key) }
		}, "InvalidClientTokenId: The security token included in the request is invalid.", ""},
		"a key made inactive": {func(l *lab) (func() error, func() error) {
			l.User(account, "ann", "")
			key := l.Key(account, "ann")
			return func() error {
				return awstest.Err(l.iam().UpdateAccessKey(l.t.Context(), &iam.UpdateAccessKeyInput{
					UserName: aws.String("ann"), AccessKeyId: &key.AccessKeyID, Status: types.StatusTypeInactive,
				}))
			}, func() error { return l.whoAmIAs(key) }
		}, "", "InvalidClientTokenId: The security token included in the request is invalid."},
		"a deleted key": {func(l *lab) (func() error, func() error) {
			l.User(account, "ann", "")
			key := l.Key(account, "ann")
			return func() error {
				return awstest.Err(l.iam().DeleteAccessKey(l.t.Context(), &iam.DeleteAccessKeyInput{
					UserName: aws.String("ann"), AccessKeyId: &key.AccessKeyID,
				}))
			}, func() error { return l.whoAmIAs(key) }
		}, "", "InvalidClientTokenId: The security token included in the request is invalid."},
		"a new role": {func(l *lab) (func() error, func() error) {
			return func() error { l.role("app", assumable); return nil }, func() error { return l.assume("app") }
		}, "AccessDenied: User: arn:aws:iam::" + account + ":user/administrator is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::" + account + ":role/app", ""},
		"a new role named in a trust": {func(l *lab) (func() error, func() error) {
			trust := strings.Replace(assumable, `"`+account+`"`, `"arn:aws:iam::`+account+`:role/app"`, 1)
			return func() error { l.role("app", assumable); return nil }, func() error {
				return awstest.Err(l.iam().CreateRole(l.t.Context(), &iam.CreateRoleInput{
					RoleName: aws.String("other"), AssumeRolePolicyDocument: &trust,
				}))
			}
		}, `MalformedPolicyDocument: Invalid principal in policy: "AWS":"arn:aws:iam::` + account + `:role/app"`, ""},
		"a trust that is changed": {func(l *lab) (func() error, func() error) {
			l.role("app", assumable)
			return func() error {
				return awstest.Err(l.iam().UpdateAssumeRolePolicy(l.t.Context(), &iam.UpdateAssumeRolePolicyInput{
					RoleName: aws.String("app"), PolicyDocument: aws.String(strings.Replace(assumable, "Allow", "Deny", 1)),
				}))
			}, func() error { return l.assume("app") }
		}, "", "AccessDenied: User: arn:aws:iam::" + account + ":user/administrator is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::" + account + ":role/app"},
		"a deleted role": {func(l *lab) (func() error, func() error) {
			l.role("app", assumable)
			return func() error {
				return awstest.Err(l.iam().DeleteRole(l.t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("app")}))
			}, func() error { return l.assume("app") }
		}, "", "AccessDenied: User: arn:aws:iam::" + account + ":user/administrator is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::" + account + ":role/app"},
		"a right that is given": {func(l *lab) (func() error, func() error) {
			l.User(account, "ann", "")
			key := l.Key(account, "ann")
			return func() error {
				l.UserPolicy(account, "ann", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:ListRoles","Resource":"*"}}`)
				return nil
			}, func() error { return l.listRolesAs(key) }
		}, "AccessDenied: User: arn:aws:iam::" + account + ":user/ann is not authorized to perform: iam:ListRoles on resource: arn:aws:iam::" + account + ":role/ because no identity-based policy allows the iam:ListRoles action", ""},
		"a new version of a policy": {func(l *lab) (func() error, func() error) {
			l.User(account, "ann", "")
			key, arn := l.Key(account, "ann"), l.managed("roles", listPolicy)
			l.Must(l.iam().AttachUserPolicy(l.t.Context(), &iam.AttachUserPolicyInput{UserName: aws.String("ann"), PolicyArn: &arn}))
			return func() error {
				return awstest.Err(l.iam().CreatePolicyVersion(l.t.Context(), &iam.CreatePolicyVersionInput{
					PolicyArn: &arn, SetAsDefault: true, PolicyDocument: aws.String(strings.Replace(listPolicy, "s3:ListBucket", "iam:ListRoles", 1)),
				}))
			}, func() error { return l.listRolesAs(key) }
		}, "AccessDenied: User: arn:aws:iam::" + account + ":user/ann is not authorized to perform: iam:ListRoles on resource: arn:aws:iam::" + account + ":role/ because no identity-based policy allows the iam:ListRoles action", ""},
		"a user that is renamed": {func(l *lab) (func() error, func() error) {
			l.User(account, "ann", "")
			key := l.Key(account, "ann")
			return func() error {
				return awstest.Err(l.iam().UpdateUser(l.t.Context(), &iam.UpdateUserInput{
					UserName: aws.String("ann"), NewUserName: aws.String("eve"),
				}))
			}, func() error { return l.listRolesAs(key) }
		}, "AccessDenied: User: arn:aws:iam::" + account + ":user/ann is not authorized to perform: iam:ListRoles on resource: arn:aws:iam::" + account + ":role/ because no identity-based policy allows the iam:ListRoles action",
			"AccessDenied: User: arn:aws:iam::" + account + ":user/eve is not authorized to perform: iam:ListRoles on resource: arn:aws:iam::" + account + ":role/ because no identity-based policy allows the iam:ListRoles action"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			change, call := c.prepare(l)
			l.slowly()
			l.Must(nil, change())
			if got := awstest.Refusal(nil, call()); got != c.before {
				t.Errorf("before the change is seen the answer is %q, want %q", got, c.before)
			}
			l.Admin().AdvanceClock(settle)
			if got := awstest.Refusal(nil, call()); got != c.then {
				t.Errorf("after the delay the answer is %q, want %q", got, c.then)
			}
		})
	}
}

func (l *lab) whoAmIAs(key aws.Credentials) error {
	return awstest.Err(sts.NewFromConfig(l.As(key)).GetCallerIdentity(l.t.Context(), &sts.GetCallerIdentityInput{}))
}

func (l *lab) listRolesAs(key aws.Credentials) error {
	return awstest.Err(iam.NewFromConfig(l.As(key)).ListRoles(l.t.Context(), &iam.ListRolesInput{}))
}

func (l *lab) assume(role string) error {
	arn := "arn:aws:iam::" + account + ":role/" + role
	return awstest.Err(sts.NewFromConfig(l.administrator(account)).AssumeRole(l.t.Context(), &sts.AssumeRoleInput{
		RoleArn: &arn, RoleSessionName: aws.String("pod"),
	}))
}

func TestProvidersAreSeenLate(t *testing.T) {
	l := newLab(t)
	l.slowly()
	provider := l.provider()
	l.role("app", l.trust(provider))
	token := l.sign(0, l.claims())
	unknown := "InvalidIdentityToken: No OpenIDConnect provider found in your account for " + l.issuer.Issuer()
	if _, err := exchange(t, l, token, nil); awstest.Refusal(nil, err) != unknown {
		t.Errorf("a new provider answers %q, want %q", awstest.Refusal(nil, err), unknown)
	}
	l.Admin().AdvanceClock(settle)
	if _, err := exchange(t, l, token, nil); err != nil {
		t.Errorf("after the delay: %v", err)
	}
	l.Must(l.iam().DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider}))
	if _, err := exchange(t, l, token, nil); err != nil {
		t.Errorf("just after its deletion: %v", err)
	}
	l.Admin().AdvanceClock(settle)
	if _, err := exchange(t, l, token, nil); awstest.Refusal(nil, err) != unknown {
		t.Errorf("the deleted provider answers %q, want %q", awstest.Refusal(nil, err), unknown)
	}
}

func TestIAMItselfShowsChangesAtOnce(t *testing.T) {
	l := newLab(t)
	l.slowly()
	l.role("app", assumable)
	if _, err := l.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")}); err != nil {
		t.Errorf("a new role: %v", err)
	}
	l.Must(l.iam().DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("app")}))
	if got := awstest.Refusal(l.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")})); !strings.HasPrefix(got, "NoSuchEntity") {
		t.Errorf("a deleted role answers %q", got)
	}
}

func TestSwitchedOffTheDialShowsEverything(t *testing.T) {
	for name, off := range map[string]func(*lab){
		"set to nothing": func(l *lab) { l.Admin().SetConsistency(awslocal.Consistency{}) },
		"reset":          func(l *lab) { l.Admin().Reset(); l.role("app", assumable) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.slowly()
			l.role("app", assumable)
			off(l)
			if err := l.assume("app"); err != nil {
				t.Errorf("the role cannot be assumed: %v", err)
			}
			if c := l.Admin().Consistency(); c != (awslocal.Consistency{}) {
				t.Errorf("the dial is at %+v", c)
			}
		})
	}
}
