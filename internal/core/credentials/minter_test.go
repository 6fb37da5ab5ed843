package credentials_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func minter(change ...func(*credentials.Minter)) credentials.Minter {
	out := credentials.Minter{
		Partition: "aws", Account: "111122223333", Infrastructure: "prod", Paths: []string{"/tabard/"},
		Buckets: []string{"issuer"}, Providers: []string{"arn:aws:iam::111122223333:oidc-provider/issuer.example"},
		Roles: []string{"arn:aws:iam::111122223333:role/tabard-issuer-main"},
	}
	for _, f := range change {
		f(&out)
	}
	return out
}

// judged asks whether a document as the one policy of an identity allows an action.
func judged(t *testing.T, text, action, resource string, keys map[string]string) bool {
	t.Helper()
	policy := must.Get(iampolicy.Parse([]byte(text)))(t)
	must.Do(t, policy.Validate(iampolicy.IdentityPolicy))
	context := iampolicy.NewContext()
	for key, value := range keys {
		context.Set(key, value)
	}
	principal := iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::111122223333:assumed-role/r/s", AccountID: "111122223333"}
	return iampolicy.Evaluate(&iampolicy.Request{Principal: principal, Action: action, Resource: resource, ResourceAccountID: "111122223333", Context: context},
		&iampolicy.Policies{Identity: []*iampolicy.Policy{policy}}).Allowed()
}

const (
	iamARN   = "arn:aws:iam::111122223333:"
	boundary = iamARN + "policy/tabard/prod-tabard-boundary"
	minted   = iamARN + "role/tabard/prod-app"
	bound    = "iam:PermissionsBoundary"
	given    = "aws:RequestTag/tabard.dev/cluster"
	carried  = "aws:ResourceTag/tabard.dev/cluster"
)

func TestTheMinterMayMakeRolesOfItsClusterUnderTheBound(t *testing.T) {
	text := must.Get(minter().PermissionPolicy())(t)
	for name, test := range map[string]struct {
		action, resource string
		keys             map[string]string
		want             bool
	}{
		"a role under the bound is made":                   {"iam:CreateRole", minted, map[string]string{bound: boundary, given: "prod"}, true},
		"a role without a bound is not":                    {"iam:CreateRole", minted, map[string]string{given: "prod"}, false},
		"a role under another bound is not":                {"iam:CreateRole", minted, map[string]string{bound: iamARN + "policy/other", given: "prod"}, false},
		"a role without the cluster's tag is not":          {"iam:CreateRole", minted, map[string]string{bound: boundary}, false},
		"a role at another path is not":                    {"iam:CreateRole", iamARN + "role/prod-app", map[string]string{bound: boundary, given: "prod"}, false},
		"a policy is put on a role of the cluster":         {"iam:PutRolePolicy", minted, map[string]string{bound: boundary, carried: "prod"}, true},
		"no policy is put on one without the bound":        {"iam:PutRolePolicy", minted, map[string]string{carried: "prod"}, false},
		"no policy is put on one of another cluster":       {"iam:PutRolePolicy", iamARN + "role/tabard/prod-eu-app", map[string]string{bound: boundary, carried: "prod-eu"}, false},
		"the trust of a role of the cluster is changed":    {"iam:UpdateAssumeRolePolicy", minted, map[string]string{carried: "prod"}, true},
		"the trust of one without its tag is not":          {"iam:UpdateAssumeRolePolicy", minted, nil, false},
		"the bound is put back":                            {"iam:PutRolePermissionsBoundary", minted, map[string]string{bound: boundary, carried: "prod"}, true},
		"the bound is not taken away":                      {"iam:DeleteRolePermissionsBoundary", minted, map[string]string{bound: boundary, carried: "prod"}, false},
		"a role that is being made is tagged":              {"iam:TagRole", minted, map[string]string{given: "prod"}, true},
		"a role of another cluster is not tagged as its":   {"iam:TagRole", iamARN + "role/tabard/prod-eu-app", map[string]string{given: "prod", carried: "prod-eu"}, false},
		"no role is given to another cluster":              {"iam:TagRole", minted, map[string]string{given: "prod-eu", carried: "prod"}, false},
		"the tag is not taken away":                        {"iam:UntagRole", minted, map[string]string{carried: "prod"}, false},
		"no policy is attached":                            {"iam:AttachRolePolicy", minted, map[string]string{bound: boundary, carried: "prod"}, false},
		"its own role stays, whatever tag is on it":        {"iam:PutRolePolicy", iamARN + "role/prod-tabard-credentials", map[string]string{bound: boundary, carried: "prod"}, false},
		"the bound itself is read":                         {"iam:GetPolicyVersion", boundary, nil, true},
		"the bound itself is not written":                  {"iam:CreatePolicyVersion", boundary, nil, false},
		"a role that is not there is looked for":           {"iam:GetRole", iamARN + "role/prod-app", nil, true},
		"all roles are read by pages":                      {"iam:GetAccountAuthorizationDetails", "*", nil, true},
		"the account's quota of roles is read":             {"iam:GetAccountSummary", "*", nil, true},
		"no role is passed to a service":                   {"iam:PassRole", minted, nil, false},
		"no role is become":                                {"sts:AssumeRole", minted, nil, false},
		"a provider of an issuer is read":                  {"iam:GetOpenIDConnectProvider", iamARN + "oidc-provider/issuer.example", nil, true},
		"a provider of an issuer is not changed":           {"iam:AddClientIDToOpenIDConnectProvider", iamARN + "oidc-provider/issuer.example", nil, false},
		"nothing outside IAM is done":                      {"s3:GetObject", "arn:aws:s3:::issuer/keys.json", nil, false},
		"a role at the path whose name only looks like it": {"iam:DeleteRole", iamARN + "role/tabard/product-app", map[string]string{carried: "prod"}, false},
	} {
		if got := judged(t, text, test.action, test.resource, test.keys); got != test.want {
			t.Errorf("%s: allowed %t, want %t", name, got, test.want)
		}
	}
}

func TestABoundRoleNeverGetsBeyondItsBound(t *testing.T) {
	text := must.Get(minter().BoundaryPolicy())(t)
	for name, test := range map[string]struct {
		action, resource string
		keys             map[string]string
		want             bool
	}{
		"what its policy allows":                      {"s3:PutObject", "arn:aws:s3:::data/x", nil, true},
		"the issuer's keys are read":                  {"s3:GetObject", "arn:aws:s3:::issuer/keys.json", nil, true},
		"the issuer's keys are not written":           {"s3:PutObject", "arn:aws:s3:::issuer/keys.json", nil, false},
		"the issuer's bucket policy is not written":   {"s3:PutBucketPolicy", "arn:aws:s3:::issuer", nil, false},
		"the issuer's bucket is not replicated into":  {"s3:ReplicateObject", "arn:aws:s3:::issuer/keys.json", nil, false},
		"the issuer's provider is not changed":        {"iam:UpdateOpenIDConnectProviderThumbprint", iamARN + "oidc-provider/issuer.example", nil, false},
		"another provider is":                         {"iam:CreateOpenIDConnectProvider", iamARN + "oidc-provider/b.example", nil, true},
		"the minter's role is not become":             {"sts:AssumeRole", iamARN + "role/prod-tabard-credentials", nil, false},
		"the issuer's role is not changed":            {"iam:UpdateAssumeRolePolicy", iamARN + "role/tabard-issuer-main", nil, false},
		"the minter's role is not passed":             {"iam:PassRole", iamARN + "role/prod-tabard-credentials", nil, false},
		"the bound is not written":                    {"iam:CreatePolicyVersion", boundary, nil, false},
		"another cluster's bound is not written":      {"iam:DeletePolicy", iamARN + "policy/tabard/eu-tabard-boundary", nil, false},
		"no bound is taken away":                      {"iam:DeleteRolePermissionsBoundary", minted, map[string]string{bound: boundary}, false},
		"no other bound is set":                       {"iam:PutRolePermissionsBoundary", minted, map[string]string{bound: iamARN + "policy/wide"}, false},
		"no role without a bound is made":             {"iam:CreateRole", iamARN + "role/x", nil, false},
		"a role under the bound is made":              {"iam:CreateRole", iamARN + "role/x", map[string]string{bound: boundary}, true},
		"a role without a bound gets no policy":       {"iam:PutRolePolicy", iamARN + "role/admin", nil, false},
		"a role without a bound is not trusted to it": {"iam:UpdateAssumeRolePolicy", iamARN + "role/admin", nil, false},
		"no user is made":                             {"iam:CreateUser", iamARN + "user/x", nil, false},
		"no access key is made":                       {"iam:CreateAccessKey", iamARN + "user/x", nil, false},
		"a user is read":                              {"iam:GetUser", iamARN + "user/x", nil, true},
		"no role becomes Tabard's by a tag":           {"iam:TagRole", iamARN + "role/tabard/prod-x", map[string]string{"aws:TagKeys": "Tabard.dev/Cluster"}, false},
		"other tags may be":                           {"iam:TagRole", iamARN + "role/x", map[string]string{"aws:TagKeys": "team"}, true},
	} {
		if got := judged(t, text, test.action, test.resource, test.keys); got != test.want {
			t.Errorf("%s: allowed %t, want %t", name, got, test.want)
		}
	}
}

func TestDocumentsThatAWSWouldRefuseForTheirLengthAreRefused(t *testing.T) {
	many := func(m *credentials.Minter) {
		for i := range 60 {
			m.Buckets = append(m.Buckets, fmt.Sprintf("bucket-of-issuer-%d-with-a-name-of-some-length", i))
			m.Boundaries = append(m.Boundaries, fmt.Sprintf("%spolicy/bound-%d-with-a-name-of-some-length", iamARN, i))
		}
	}
	if _, err := minter(many).BoundaryPolicy(); err == nil || !strings.Contains(err.Error(), "AWS allows 6144") {
		t.Errorf("the boundary: %v", err)
	}
	if _, err := minter(many).PermissionPolicy(); err == nil || !strings.Contains(err.Error(), "AWS allows 10240") {
		t.Errorf("the permission policy: %v", err)
	}
	var providers []string
	for i := range 12 {
		providers = append(providers, fmt.Sprintf("%soidc-provider/issuer-%d.example", iamARN, i))
	}
	if _, err := credentials.MinterTrust(providers, "tabard-system", "tabard-credentials"); err == nil || !strings.Contains(err.Error(), "AWS allows 2048") {
		t.Errorf("the trust: %v", err)
	}
	if text := must.Get(credentials.MinterTrust(providers[:2], "tabard-system", "tabard-credentials"))(t); strings.Count(text, "system:serviceaccount:tabard-system:tabard-credentials") != 2 {
		t.Errorf("the trust of two issuers: %s", text)
	}
}
