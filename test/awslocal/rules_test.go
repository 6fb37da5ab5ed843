package awslocal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTrustPoliciesAreCheckedOnWriting(t *testing.T) {
	l := newLab(t)
	l.role("app", assumable)
	statement := func(fields string) string {
		return `{"Version":"2012-10-17","Statement":[{` + fields + `}]}`
	}
	const (
		allow  = `"Effect":"Allow",`
		assume = `"Action":"sts:AssumeRole",`
		own    = `"Principal":{"AWS":"` + account + `"}`
	)
	cases := map[string]struct{ document, want string }{
		"no JSON":                      {`{`, "This policy contains invalid Json"},
		"a version that is none":       {strings.Replace(assumable, "2012-10-17", "2012-10-18", 1), "The policy must contain a valid version string"},
		"no statement":                 {`{"Version":"2012-10-17","Statement":[]}`, "Could not parse the policy: Statement is empty!"},
		"no effect":                    {statement(assume + own), "Missing required field Effect"},
		"no principal":                 {statement(allow + `"Action":"sts:AssumeRole"`), "Missing required field Principal"},
		"no action":                    {statement(allow + own), "Missing required field Action"},
		"any action":                   {statement(allow + `"Action":"*",` + own), "AssumeRole policy may only specify STS AssumeRole actions."},
		"an action of another service": {statement(allow + `"Action":["sts:AssumeRole","s3:GetObject"],` + own), "AssumeRole policy may only specify STS AssumeRole actions."},
		"any principal without a type": {statement(allow + assume + `"Principal":"*"`), `AssumeRolepolicy contained an invalid principal: "STAR":"*".`},
		"all but one":                  {statement(allow + assume + `"NotPrincipal":{"AWS":"` + account + `"}`), "Allow with NotPrincipal is not allowed."},
		"a denial to all but one":      {statement(`"Effect":"Deny",` + assume + `"NotPrincipal":{"AWS":"` + account + `"}`), "Has prohibited field NotPrincipal"},
		"a resource":                   {statement(allow + assume + own + `,"Resource":"*"`), "Has prohibited field Resource"},
		"a Sid twice":                  {`{"Version":"2012-10-17","Statement":[{"Sid":"a",` + allow + assume + own + `},{"Sid":"a",` + allow + assume + own + `}]}`, "The Statement Ids in the policy are not unique"},
		"any tenant of a shared issuer": {statement(allow + `"Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"arn:aws:iam::` + account + `:oidc-provider/token.actions.githubusercontent.com"},
			"Condition":{"StringLike":{"token.actions.githubusercontent.com:sub":"*"}}`),
			"The trust policy must have a condition that limits token.actions.githubusercontent.com:sub to a tenant, because the identity provider is shared."},
		"a role that is not there": {strings.Replace(assumable, `"`+account+`"`, `"arn:aws:iam::`+account+`:role/none"`, 1), `Invalid principal in policy: "AWS":"arn:aws:iam::` + account + `:role/none"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, create := l.iam().CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("new"), AssumeRolePolicyDocument: &c.document})
			_, update := l.iam().UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("app"), PolicyDocument: &c.document})
			for _, err := range []error{create, update} {
				if got := awstest.Refusal(nil, err); got != "MalformedPolicyDocument: "+c.want {
					t.Errorf("answer %q, want %q", got, c.want)
				}
			}
		})
	}
	any := strings.Replace(assumable, `"`+account+`"`, `"*"`, 1)
	if _, err := l.iam().UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("app"), PolicyDocument: &any}); err != nil {
		t.Errorf("any principal of AWS: %v", err)
	}
}

func TestQuotasOfProvidersAndTags(t *testing.T) {
	l := newLab(t)
	client, provider := l.iam(), l.provider()
	l.role("app", assumable)
	tags := func(n int) []types.Tag {
		all := []types.Tag{}
		for i := range n {
			all = append(all, types.Tag{Key: aws.String(fmt.Sprintf("k%d", i)), Value: aws.String("")})
		}
		return all
	}
	for i := range 99 {
		l.Must(client.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
			Url: aws.String(fmt.Sprintf("https://issuer.example/%d", i)),
		}))
		l.Must(client.AddClientIDToOpenIDConnectProvider(t.Context(), &iam.AddClientIDToOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: &provider, ClientID: aws.String(fmt.Sprint(i)),
		}))
	}
	thumbprints := []string{}
	for i := range 6 {
		thumbprints = append(thumbprints, fmt.Sprintf("%040x", i))
	}
	l.Must(client.TagRole(t.Context(), &iam.TagRoleInput{RoleName: aws.String("app"), Tags: tags(50)}))
	checkRefusals(t, map[string]refused{
		"a provider too many": {awstest.Refusal(client.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
			Url: aws.String("https://issuer.example/last"),
		})), "LimitExceeded: Cannot exceed quota for OpenIdConnectProvidersPerAccount: 100"},
		"a client too many": {awstest.Refusal(client.AddClientIDToOpenIDConnectProvider(t.Context(), &iam.AddClientIDToOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: &provider, ClientID: aws.String("last"),
		})), "LimitExceeded: Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: 100"},
		"a client of too many characters": {awstest.Refusal(client.RemoveClientIDFromOpenIDConnectProvider(t.Context(), &iam.RemoveClientIDFromOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: &provider, ClientID: aws.String(strings.Repeat("x", 256)),
		})), "ValidationError: 1 validation error detected: Value '" + strings.Repeat("x", 256) + "' at 'clientID' failed to satisfy constraint: Member must have length less than or equal to 255"},
		"a thumbprint too many": {awstest.Refusal(client.UpdateOpenIDConnectProviderThumbprint(t.Context(), &iam.UpdateOpenIDConnectProviderThumbprintInput{
			OpenIDConnectProviderArn: &provider, ThumbprintList: thumbprints,
		})), "InvalidInput: Thumbprint list must contain fewer than 5 entries."},
		"a tag too many": {awstest.Refusal(client.TagRole(t.Context(), &iam.TagRoleInput{
			RoleName: aws.String("app"), Tags: []types.Tag{{Key: aws.String("last"), Value: aws.String("")}},
		})), "LimitExceeded: The number of tags has reached the maximum limit."},
		"keys to untag too many": {awstest.Refusal(client.UntagRole(t.Context(), &iam.UntagRoleInput{
			RoleName: aws.String("app"), TagKeys: make([]string, 51),
		})), "ValidationError: 1 validation error detected: Value at 'tagKeys' failed to satisfy constraint: Member must have length less than or equal to 50"},
		"a description in another script": {awstest.Refusal(client.UpdateRole(t.Context(), &iam.UpdateRoleInput{
			RoleName: aws.String("app"), Description: aws.String("Привет"),
		})), "ValidationError: 1 validation error detected: Value 'Привет' at 'description' failed to satisfy constraint: Member must satisfy regular expression pattern"},
	})
}

func TestRolesTellWhenTheyWereLastUsed(t *testing.T) {
	l := newLab(t)
	l.role("app", assumable)
	read := func() types.RoleLastUsed {
		got := must.Get(l.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")}))(t)
		return *got.Role.RoleLastUsed
	}
	session := must.Get(sts.NewFromConfig(l.administrator(account)).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::" + account + ":role/app"), RoleSessionName: aws.String("pod")}))(t)
	if used := read(); used.LastUsedDate != nil || used.Region != nil {
		t.Errorf("a role whose session has asked nothing was used %v", used)
	}
	whoAmI(t, l.as(session.Credentials))
	if used := read(); used.LastUsedDate == nil || aws.ToString(used.Region) != "eu-central-1" {
		t.Errorf("the role was used %v in %q", used.LastUsedDate, aws.ToString(used.Region))
	}
}

func TestSTSRefusesWhatItCannotMean(t *testing.T) {
	l := newLab(t)
	role := l.role("app", assumable)
	client := sts.NewFromConfig(l.administrator(account))
	made := must.Get(client.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("pod")}))(t)
	session := sts.NewFromConfig(l.as(made.Credentials))
	assume := func(change func(*sts.AssumeRoleInput)) string {
		input := &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("pod")}
		change(input)
		return awstest.Refusal(client.AssumeRole(t.Context(), input))
	}
	checkRefusals(t, map[string]refused{
		"an ARN of no role": {assume(func(in *sts.AssumeRoleInput) { in.RoleArn = aws.String("arn:aws:iam::" + account + ":user/app") }), "ValidationError: Request ARN is invalid"},
		"session policies that are too long together": {assume(func(in *sts.AssumeRoleInput) {
			in.Policy = aws.String(listPolicy + strings.Repeat(" ", 2040-len(listPolicy)))
			in.PolicyArns = []ststypes.PolicyDescriptorType{{Arn: aws.String("arn:aws:iam::aws:policy/AdministratorAccess")}}
		}), "ValidationError: 1 validation error detected: Value at 'policy' failed to satisfy constraint: Member must have length less than or equal to 2048"},
		"a device of many factors": {assume(func(in *sts.AssumeRoleInput) {
			in.SerialNumber, in.TokenCode = aws.String("arn:aws:iam::"+account+":mfa/ann"), aws.String("123456")
		}), "NotImplemented: The local AWS does not support the parameter SerialNumber of AssumeRole; leave it out, or use AWS itself."},
		"a session's token by a session": {awstest.Refusal(session.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})),
			"AccessDenied: Cannot call GetSessionToken with session credentials"},
		"a federation token by a session": {awstest.Refusal(session.GetFederationToken(t.Context(), &sts.GetFederationTokenInput{
			Name: aws.String("ann"),
		})), "AccessDenied: Cannot call GetFederationToken with session credentials"},
		"SAML": {awstest.Refusal(l.anonymous().AssumeRoleWithSAML(t.Context(), &sts.AssumeRoleWithSAMLInput{
			RoleArn: &role, PrincipalArn: &role, SAMLAssertion: aws.String("xxxx"),
		})), "InvalidAction: Could not find operation AssumeRoleWithSAML for version 2011-06-15"},
	})
}

func TestThumbprintsAreFetchedOnDemand(t *testing.T) {
	fetch := func(o *awslocal.Options) { o.FetchThumbprints, o.TrustedCAs = true, nil }
	l := newLab(t, fetch)
	provider := l.provider()
	got := must.Get(l.iam().GetOpenIDConnectProvider(t.Context(), &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider}))(t)
	if want := thumbprint(l.issuer.Certificate()); len(got.ThumbprintList) != 1 || got.ThumbprintList[0] != want {
		t.Errorf("the thumbprints are %v, want %s", got.ThumbprintList, want)
	}
	l.role("app", l.trust(provider))
	if _, err := exchange(t, l, l.sign(0, l.claims()), nil); err != nil {
		t.Errorf("a token of the pinned issuer: %v", err)
	}
	l.issuer.Close()
	url := l.issuer.URL + "/other"
	if got, want := awstest.Refusal(l.iam().CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &url,
	})), "OpenIdIdpCommunicationError: Could not connect to "+url; got != want {
		t.Errorf("an issuer that is gone answers %q, want %q", got, want)
	}
}
