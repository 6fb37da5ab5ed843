package credentials_test

import (
	"testing"
	"time"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

func TestPermissionPolicyIsWhatWasAskedInOrder(t *testing.T) {
	entries := []cloudv1.StatementEntry{
		{Effect: "Allow", Action: []string{"s3:GetObject", "s3:PutObject"}, Resource: "arn:aws:s3:::b/*", PolicyCondition: cloudv1.IAMPolicyCondition{
			"StringEquals": {"aws:RequestTag/a<b": "x", "s3:prefix": []any{"1", "2"}},
		}},
		{Effect: "Deny", Action: []string{"s3:*"}, Resource: "*"},
	}
	want := `{"Version":"2012-10-17","Statement":[` +
		`{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::b/*","Condition":{"StringEquals":{"aws:RequestTag/a<b":"x","s3:prefix":["1","2"]}}},` +
		`{"Effect":"Deny","Action":["s3:*"],"Resource":"*"}]}`
	if got := credentials.PermissionPolicy(entries); got != want {
		t.Errorf("the policy is\n%s, want\n%s", got, want)
	}
}

func TestTrustPolicy(t *testing.T) {
	const head = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/issuer1.example"},"Action":["sts:AssumeRoleWithWebIdentity"],"Condition":{"StringEquals":{"issuer1.example:aud":`
	const account = `"issuer1.example:sub":"system:serviceaccount:apps:app"}}}]}`
	openshiftOnly, neither := testIssuer(1), testIssuer(1)
	openshiftOnly.Audiences, neither.Audiences = []string{"openshift"}, []string{"vault"}
	tests := map[string]struct {
		shape   byte
		issuers []credentials.Issuer
		want    string
		reason  credentials.Reason
	}{
		"a ServiceAccount":                              {0, []credentials.Issuer{testIssuer(1)}, head + `"sts.amazonaws.com",` + account, ""},
		"a Secret's ServiceAccounts, with both":         {2, []credentials.Issuer{testIssuer(1)}, head + `["openshift","sts.amazonaws.com"],` + account, ""},
		"a Secret's, the provider knows one audience":   {2, []credentials.Issuer{openshiftOnly}, head + `"openshift",` + account, ""},
		"two names, sorted":                             {6, []credentials.Issuer{openshiftOnly}, head + `"openshift","issuer1.example:sub":["system:serviceaccount:team:app","system:serviceaccount:team:jobs"]}}}]}`, ""},
		"a ServiceAccount whose audience is not known":  {0, []credentials.Issuer{openshiftOnly}, "", credentials.ReasonAudienceMissing},
		"a Secret, the provider knows neither audience": {2, []credentials.Issuer{neither}, "", credentials.ReasonAudienceMissing},
		"no issuer": {0, nil, "", credentials.ReasonNoIssuer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(test.shape)
			m.issuers = test.issuers
			got, v := credentials.TrustPolicy(m.Observe())
			if got != test.want || !v.IsTrue() && v.Reason != test.reason {
				t.Errorf("the policy is\n%s\n(%+v), want\n%s %s", got, v, test.want, test.reason)
			}
		})
	}
}

func TestDigestFitsARoleThatIsAsWanted(t *testing.T) {
	want := credentials.RoleWant{
		Name: "r", Path: "/tabard/", Trust: `{"a":["x"],"b":1}`, PolicyName: "p", Policy: `{"Action":["s3:*"]}`,
		Tags: credentials.ValuesOf(map[string]string{"k": "v", "l": "w"}), Boundary: "arn:b", MaxSession: time.Hour,
	}
	tests := map[string]struct {
		change func(*credentials.Role)
		fits   bool
	}{
		"nothing":                            {func(*credentials.Role) {}, true},
		"spaces and order of keys":           {func(r *credentials.Role) { r.Trust = `{ "b": 1, "a": ["x"] }` }, true},
		"a list of one as the one":           {func(r *credentials.Role) { r.Policies["p"] = `{"Action":"s3:*"}` }, true},
		"a tag of others":                    {func(r *credentials.Role) { r.Tags["theirs"] = "x" }, true},
		"another value in the trust":         {func(r *credentials.Role) { r.Trust = `{"a":["y"],"b":1}` }, false},
		"another policy":                     {func(r *credentials.Role) { r.Policies["p"] = `{"Action":"*"}` }, false},
		"no policy":                          {func(r *credentials.Role) { delete(r.Policies, "p") }, false},
		"a second inline policy":             {func(r *credentials.Role) { r.Policies["q"] = "{}" }, false},
		"an attached policy":                 {func(r *credentials.Role) { r.Attached = []string{"arn:x"} }, false},
		"a tag is gone":                      {func(r *credentials.Role) { delete(r.Tags, "k") }, false},
		"a tag has another value":            {func(r *credentials.Role) { r.Tags["k"] = "x" }, false},
		"no boundary":                        {func(r *credentials.Role) { r.Boundary = "" }, false},
		"another session":                    {func(r *credentials.Role) { r.MaxSession = 2 * time.Hour }, false},
		"another path":                       {func(r *credentials.Role) { r.Path = "/" }, false},
		"a trust that is no JSON any longer": {func(r *credentials.Role) { r.Trust = "" }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			role := credentials.Role{
				Name: "r", Path: want.Path, Trust: want.Trust, Boundary: want.Boundary, MaxSession: want.MaxSession,
				Tags: want.Tags.Map(), Policies: map[string]string{"p": want.Policy},
			}
			test.change(&role)
			if got := credentials.Fits(credentials.Digest(role), want); got != test.fits {
				t.Errorf("it fits: %t, want %t", got, test.fits)
			}
		})
	}
}
