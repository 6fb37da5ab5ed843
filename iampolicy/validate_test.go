package iampolicy

import (
	"errors"
	"strings"
	"testing"
)

func TestValidateRefusesWhatAWSRefusesOnWriting(t *testing.T) {
	const version = `"Version":"2012-10-17",`
	trust := func(principal, rest string) string {
		return `{` + version + `"Statement":{"Effect":"Allow","Principal":` + principal + `,` + rest + `}}`
	}
	identity := func(statement string) string {
		return `{` + version + `"Statement":{"Effect":"Allow",` + statement + `}}`
	}
	const assume, webIdentity = `"Action":"sts:AssumeRole"`, `"Action":"sts:AssumeRoleWithWebIdentity"`
	const github = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"
	const openGitHub = "The trust policy must have a condition that limits token.actions.githubusercontent.com:sub to a tenant, because the identity provider is shared."
	for name, test := range map[string]struct {
		kind           Kind
		document, want string
	}{
		"trust for a user":                                {TrustPolicy, trust(`{"AWS":"arn:aws:iam::123456789012:user/a"}`, assume), ""},
		"trust for a provider and tags":                   {TrustPolicy, trust(`{"Federated":"arn:aws:iam::123456789012:oidc-provider/x/y"}`, `"Action":["sts:AssumeRoleWithWebIdentity","sts:TagSession","sts:SetSourceIdentity"]`), ""},
		"trust for a service, an account and a unique ID": {TrustPolicy, trust(`{"Service":"pods.eks.amazonaws.com","AWS":["123456789012","arn:aws:iam::123456789012:root","AROAABCDEFGHIJKLMNOPQ"]}`, assume), ""},
		"trust for everyone under a type":                 {TrustPolicy, trust(`{"AWS":"*"}`, assume), ""},
		"trust for a bare star":                           {TrustPolicy, trust(`"*"`, assume), `AssumeRolepolicy contained an invalid principal: "STAR":"*".`},
		"trust without a principal":                       {TrustPolicy, `{"Statement":{"Effect":"Allow","Action":"sts:AssumeRole"}}`, "Missing required field Principal"},
		"trust with an empty principal":                   {TrustPolicy, trust(`{"AWS":[]}`, assume), "Missing required field Principal"},
		"trust without an action":                         {TrustPolicy, trust(`{"AWS":"*"}`, `"Sid":"a"`), "Missing required field Action"},
		"trust with a resource":                           {TrustPolicy, trust(`{"AWS":"*"}`, assume+`,"Resource":"*"`), "Has prohibited field Resource"},
		"trust with every action":                         {TrustPolicy, trust(`{"AWS":"*"}`, `"Action":"*"`), "AssumeRole policy may only specify STS AssumeRole actions."},
		"trust with another action":                       {TrustPolicy, trust(`{"AWS":"*"}`, `"Action":["sts:AssumeRole","s3:GetObject"]`), "AssumeRole policy may only specify STS AssumeRole actions."},
		"trust with NotAction":                            {TrustPolicy, trust(`{"AWS":"*"}`, `"NotAction":"sts:AssumeRole"`), "AssumeRole policy may only specify STS AssumeRole actions."},
		"trust with a wildcard within an ARN":             {TrustPolicy, trust(`{"AWS":"arn:aws:iam::123456789012:role/*"}`, assume), `Invalid principal in policy: "AWS":"arn:aws:iam::123456789012:role/*"`},
		"trust for a group":                               {TrustPolicy, trust(`{"AWS":"arn:aws:iam::123456789012:group/g"}`, assume), `Invalid principal in policy: "AWS":"arn:aws:iam::123456789012:group/g"`},
		"trust that allows all but some":                  {TrustPolicy, `{"Statement":{"Effect":"Allow","NotPrincipal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"}}`, "Allow with NotPrincipal is not allowed."},
		"trust that denies all but some":                  {TrustPolicy, `{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"}}`, "Has prohibited field NotPrincipal"},
		"trust for accounts of other partitions":          {TrustPolicy, trust(`{"AWS":["arn:aws-cn:iam::123456789012:root","arn:aws-us-gov:sts::123456789012:assumed-role/a/s"],"Federated":"arn:aws-cn:iam::123456789012:saml-provider/p"}`, assume), ""},
		"trust for an account with a region":              {TrustPolicy, trust(`{"AWS":"arn:aws:iam:us-east-1:123456789012:root"}`, assume), `Invalid principal in policy: "AWS":"arn:aws:iam:us-east-1:123456789012:root"`},
		"trust for all services":                          {TrustPolicy, trust(`{"Service":"*"}`, assume), `Invalid principal in policy: "Service":"*"`},
		"trust for a canonical ID":                        {TrustPolicy, trust(`{"CanonicalUser":"0abc"}`, assume), `Invalid principal in policy: "CanonicalUser":"0abc"`},
		"trust for all of a shared issuer":                {TrustPolicy, trust(`{"Federated":"`+github+`"}`, webIdentity), openGitHub},
		"trust for all of a shared issuer by a wildcard":  {TrustPolicy, trust(`{"Federated":"`+github+`"}`, webIdentity+`,"Condition":{"StringLike":{"token.actions.githubusercontent.com:sub":["repo:acme/*","*"]}}`), openGitHub},
		"trust for all of a shared issuer by an absence":  {TrustPolicy, trust(`{"Federated":"`+github+`"}`, webIdentity+`,"Condition":{"StringEqualsIfExists":{"token.actions.githubusercontent.com:sub":"repo:acme/x"}}`), openGitHub},
		"trust for all but one of a shared issuer":        {TrustPolicy, trust(`{"Federated":"`+github+`"}`, webIdentity+`,"Condition":{"StringNotEquals":{"token.actions.githubusercontent.com:sub":"repo:acme/x"}}`), openGitHub},
		"trust for an audience of a shared issuer":        {TrustPolicy, trust(`{"Federated":"`+github+`"}`, webIdentity+`,"Condition":{"StringEquals":{"token.actions.githubusercontent.com:aud":"sts.amazonaws.com"}}`), openGitHub},
		"trust for one tenant of a shared issuer":         {TrustPolicy, trust(`{"Federated":"`+github+`"}`, webIdentity+`,"Condition":{"StringLike":{"Token.Actions.githubusercontent.com:SUB":"repo:acme/*"}}`), ""},
		"trust for an issuer of one company alone":        {TrustPolicy, trust(`{"Federated":"`+github+`/acme"}`, webIdentity), ""},
		"trust that denies a shared issuer":               {TrustPolicy, `{"Statement":{"Effect":"Deny","Principal":{"Federated":"` + github + `"},` + webIdentity + `}}`, ""},
		"trust without statements":                        {TrustPolicy, `{"Statement":[]}`, "Could not parse the policy: Statement is empty!"},
		"trust with a Sid twice":                          {TrustPolicy, `{"Statement":[{"Sid":"a","Effect":"Allow","Principal":{"AWS":"*"},` + assume + `},{"Sid":"a","Effect":"Allow","Principal":{"AWS":"*"},` + assume + `}]}`, "The Statement Ids in the policy are not unique"},

		"identity policy":                             {IdentityPolicy, identity(`"Action":"s3:Get*","Resource":["arn:aws:s3:::b/*","*"],"Condition":{"StringEquals":{"aws:username":"x"}}`), ""},
		"identity policy of the old version":          {IdentityPolicy, `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`, ""},
		"managed policy of the old version":           {ManagedPolicy, `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`, "Policy document must be version 2012-10-17 or greater."},
		"identity policy without actions":             {IdentityPolicy, identity(`"Action":[],"Resource":"*"`), "Policy statement must contain actions."},
		"identity policy without resources":           {IdentityPolicy, identity(`"Action":"*"`), "Policy statement must contain resources."},
		"identity policy with a principal":            {IdentityPolicy, identity(`"Action":"*","Resource":"*","Principal":"*"`), "Policy document should not specify a principal."},
		"identity policy with an action of no vendor": {IdentityPolicy, identity(`"Action":"GetObject","Resource":"*"`), "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."},
		"identity policy with a key of no vendor":     {IdentityPolicy, identity(`"Action":"*","Resource":"*","Condition":{"Null":{"username":true}}`), "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."},
		"identity policy with no ARN":                 {IdentityPolicy, identity(`"Action":"*","Resource":"bucket"`), `Resource bucket must be in ARN format or "*".`},
		"identity policy with a short ARN":            {IdentityPolicy, identity(`"Action":"*","Resource":"arn:aws:s3"`), "The policy failed legacy parsing"},
		"identity policy with a short ARN and a star": {IdentityPolicy, identity(`"Action":"*","Resource":"arn:aws:s3:*"`), ""},
		"identity policy with an odd Sid":             {IdentityPolicy, identity(`"Sid":"a b","Action":"*","Resource":"*"`), "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*"},
		"boundary with a Sid twice":                   {BoundaryPolicy, `{"Version":"2012-10-17","Statement":[{"Sid":"a","Effect":"Deny","Action":"*","Resource":"*"},{"Sid":"a","Effect":"Deny","Action":"*","Resource":"*"}]}`, "Statement IDs (SID) in a single policy must be unique."},
		"boundary of the old version":                 {BoundaryPolicy, `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`, "Policy document must be version 2012-10-17 or greater."},
		"identity policy for all of every service":    {IdentityPolicy, identity(`"Action":["*:*","*:Get*"],"Resource":"*"`), ""},
		"identity policy with an action of no name":   {IdentityPolicy, identity(`"Action":"s3:","Resource":"*"`), "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."},
		"identity policy with part of a vendor":       {IdentityPolicy, identity(`"NotAction":"s*:Get*","Resource":"*"`), "Vendor s* is not valid"},
		"identity policy with two colons":             {IdentityPolicy, identity(`"Action":"s3:Get:Object","Resource":"*"`), "Actions/Condition can contain only one colon."},
		"identity policy with NotPrincipal":           {IdentityPolicy, identity(`"Action":"*","Resource":"*","NotPrincipal":{"AWS":"*"}`), "Policy document should not specify a principal."},
		"identity policy of another partition":        {IdentityPolicy, identity(`"Action":"s3:*","Resource":"arn:aws-cn:s3:::b/*"`), ""},
		"session policy without statements":           {SessionPolicy, `{"Statement":[]}`, ""},

		"resource policy":                     {ResourcePolicy, identity(`"Sid":"with spaces","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*","Principal":"*"`), ""},
		"resource policy without principal":   {ResourcePolicy, identity(`"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"`), "Missing required field Principal"},
		"resource policy without resource":    {ResourcePolicy, identity(`"Action":"s3:GetObject","Principal":"*"`), "Missing required field Resource"},
		"resource policy with a bad user":     {ResourcePolicy, identity(`"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*","Principal":{"AWS":"alice"}`), "Invalid principal in policy"},
		"resource policy for a canonical ID":  {ResourcePolicy, identity(`"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*","Principal":{"CanonicalUser":"0abc"}`), ""},
		"resource policy with a bare name":    {ResourcePolicy, identity(`"Action":"s3:GetObject","Resource":"b","Principal":"*"`), "Policy has invalid resource"},
		"resource policy that denies but one": {ResourcePolicy, `{"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":"123456789012"},"Action":"s3:*","Resource":"*"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := mustParse(t, test.document).Validate(test.kind)
			got := ""
			var errs Errors
			if errors.As(err, &errs) {
				got = errs.Text(test.kind)
				if errs[0].Message != got && test.want != "" {
					t.Errorf("Message = %q, want AWS's text", errs[0].Message)
				}
			}
			if name == "session policy without statements" {
				if !errs.Has(CodeEmptyStatement) {
					t.Errorf("Validate() = %v, want %s", err, CodeEmptyStatement)
				}
				return
			}
			if got != test.want {
				t.Errorf("Validate()\n got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestValidateListsAllMistakes(t *testing.T) {
	document := "{\"Statement\":[\n{\"Effect\":\"Allow\",\"Action\":\"x\"},\n{\"Effect\":\"Allow\",\"Resource\":\"y\"}]}"
	got := codesOf(t, mustParse(t, document).Validate(IdentityPolicy))
	if want := "2:1 NoResource, 2:28 NoVendor, 3:1 NoAction, 3:30 InvalidResource"; got != want {
		t.Errorf("Validate() = %q, want %q", got, want)
	}
}

func TestIsPublic(t *testing.T) {
	for name, test := range map[string]struct {
		statement string
		want      bool
	}{
		"everyone":                                 {`"Principal":"*"`, true},
		"everyone by type":                         {`"Principal":{"AWS":["123456789012","*"]}`, true},
		"one account":                              {`"Principal":{"AWS":"123456789012"}`, false},
		"a service":                                {`"Principal":{"Service":"logs.amazonaws.com"}`, false},
		"all but some":                             {`"NotPrincipal":{"AWS":"123456789012"}`, true},
		"everyone of an organisation":              {`"Principal":"*","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}`, false},
		"everyone of any organisation":             {`"Principal":"*","Condition":{"StringLike":{"aws:PrincipalOrgID":"o-*"}}`, true},
		"an organisation out of a variable":        {`"Principal":"*","Condition":{"StringEquals":{"aws:PrincipalOrgID":"${aws:PrincipalTag/o}"}}`, true},
		"an organisation if it is known":           {`"Principal":"*","Condition":{"StringEqualsIfExists":{"aws:PrincipalOrgID":"o-1"}}`, true},
		"an organisation for all values":           {`"Principal":"*","Condition":{"ForAllValues:StringEquals":{"aws:PrincipalOrgID":"o-1"}}`, true},
		"another organisation":                     {`"Principal":"*","Condition":{"StringNotEquals":{"aws:PrincipalOrgID":"o-1"}}`, true},
		"a range of addresses":                     {`"Principal":"*","Condition":{"IpAddress":{"aws:SourceIp":["10.0.0.0/8","192.0.2.1"]}}`, false},
		"all addresses":                            {`"Principal":"*","Condition":{"IpAddress":{"aws:SourceIp":"0.0.0.0/0"}}`, true},
		"half of all addresses":                    {`"Principal":"*","Condition":{"IpAddress":{"aws:SourceIp":["10.0.0.0/8","0.0.0.0/1"]}}`, true},
		"all addresses of the new kind":            {`"Principal":"*","Condition":{"IpAddress":{"aws:SourceIp":"::/0"}}`, true},
		"a network":                                {`"Principal":"*","Condition":{"StringEquals":{"AWS:sourceVpc":"vpc-1"}}`, false},
		"a key that says nothing about the caller": {`"Principal":"*","Condition":{"StringEquals":{"s3:prefix":"x"}}`, true},
		"one condition of two that narrows":        {`"Principal":"*","Condition":{"Bool":{"aws:SecureTransport":true},"ArnEquals":{"aws:SourceArn":"arn:aws:s3:::b"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustParse(t, `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*",`+test.statement+`}}`)
			if got := p.IsPublic(); got != test.want {
				t.Errorf("IsPublic() = %v, want %v", got, test.want)
			}
		})
	}
	if mustParse(t, `{"Statement":{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*"}}`).IsPublic() {
		t.Error("a Deny makes a policy public")
	}
}

func TestPrincipalsAndResourcesListWhatIsWritten(t *testing.T) {
	p := mustParse(t, `{"Statement":[
		{"Effect":"Allow","Principal":{"Federated":"arn:p","AWS":["1","2"]},"Action":"*","Resource":["a","b"]},
		{"Effect":"Deny","NotPrincipal":{"Service":"s.x"},"Action":"*","NotResource":"c"},
		{"Effect":"Deny","Principal":"*","Action":"*"}]}`)
	want := []Mention{
		{Type: TypeFederated, Value: "arn:p"}, {Type: TypeAWS, Value: "1"}, {Type: TypeAWS, Value: "2"},
		{Type: TypeService, Value: "s.x", Deny: true, Not: true}, {Type: TypeAny, Value: "*", Deny: true},
	}
	got := p.Principals()
	if len(got) != len(want) {
		t.Fatalf("Principals() = %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("Principals()[%d] = %v, want %v", i, got[i], want[i])
		}
	}
	if got := strings.Join(p.Resources(), " "); got != "a b c" {
		t.Errorf("Resources() = %q, want %q", got, "a b c")
	}
	if p.Version() != "2008-10-17" {
		t.Errorf("Version() = %q, want the default", p.Version())
	}
}
