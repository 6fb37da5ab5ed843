package iampolicy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	cluster = "oidc.eks.eu-west-1.amazonaws.com/id/4F1C"
	fits    = `"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:shop:checkout"`
)

// trustOf is a trust policy of one statement. HOST stands for an issuer of which is not known whose it is.
func trustOf(principal, action, condition string) string {
	text := `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {` + principal + `}, "Action": [` + action + `], "Condition": {` + condition + `}}]}`
	return strings.ReplaceAll(text, "HOST", host)
}

const (
	ofHost     = `"Federated": "arn:aws:iam::111122223333:oidc-provider/HOST"`
	ofCluster  = `"Federated": "arn:aws:iam::111122223333:oidc-provider/` + cluster + `"`
	ofGitHub   = `"Federated": "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"`
	ofAccount  = `"AWS": "arn:aws:iam::111122223333:root"`
	webAction  = `"sts:AssumeRoleWithWebIdentity"`
	roleAction = `"sts:AssumeRole"`
)

// neverFound is the one message of NeverMatches, empty where there is none.
func neverFound(t *testing.T, document string) string {
	t.Helper()
	policy, err := iampolicy.Parse([]byte(document))
	if err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	if err := policy.Validate(iampolicy.TrustPolicy); err != nil {
		t.Fatalf("AWS would refuse it: %v in %s", err, document)
	}
	var found iampolicy.Errors
	errors.As(policy.Lint(iampolicy.TrustPolicy, iampolicy.LintOptions{}), &found)
	message := ""
	for _, one := range found {
		if one.Code != iampolicy.CodeNeverMatches {
			continue
		}
		if message != "" || one.Message == "" || one.Code.Severity() != iampolicy.SeverityError {
			t.Errorf("found %v", found)
		}
		message = one.Message
	}
	return message
}

// neverRows are statements and a part of what is said of them, nothing for those that a request
// can meet or that another rule explains.
var neverRows = map[string]struct{ principal, action, condition, says string }{
	"an external ID":            {ofHost, webAction, `"StringEquals": {` + fits + `, "sts:ExternalId": "x"}`, "sts:ExternalId belongs to sts:AssumeRole by AWS principals, and a request with a token cannot have it; remove the condition, and name the caller by oidc.example.com/id/4f1c:sub"},
	"a tag of the principal":    {ofHost, webAction, `"StringEquals": {` + fits + `, "aws:PrincipalTag/Team": "x"}`, "aws:PrincipalTag/Team is about the AWS principal that signs a request"},
	"an account under a token":  {ofAccount, roleAction, `"StringEquals": {` + fits + `}`, `"Principal": {"Federated": "arn:aws:iam::ACCOUNT:oidc-provider/oidc.example.com/id/4F1C"}`},
	"the claim subject":         {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:subject": "system:serviceaccount:shop:checkout"}`, "write oidc.example.com/id/4F1C:sub"},
	"a slip in the subject":     {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceacount:shop:checkout"}`, "write system:serviceaccount:shop:checkout"},
	"a slip in a pattern":       {ofHost, webAction, `"StringLike": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:service-account:shop:*"}`, "write system:serviceaccount:shop:*"},
	"capitals in the beginning": {ofHost, webAction, `"StringLike": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceAccount:Shop:*"}`, "write system:serviceaccount:shop:*"},
	"capitals, compared so":     {ofHost, webAction, `"StringEqualsIgnoreCase": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceAccount:Shop:App"}`, ""},
	"names that cannot be":      {ofHost, webAction, `"StringLike": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:A_b:*"}`, "write system:serviceaccount:a-b:*"},
	"a name with an underscore": {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:a:b_c"}`, "write system:serviceaccount:a:b-c"},
	"a name that begins with a hyphen": {ofHost, webAction, `"StringLike": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:shop:-*"}`,
		"write system:serviceaccount:NAMESPACE:NAME"},
	"a name with a dot":              {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:shop:a.b"}`, ""},
	"a namespace with a dot":         {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:a.b:c"}`, "no token has a subject"},
	"a namespace of 63 letters":      {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:` + strings.Repeat("n", 63) + `:c"}`, ""},
	"a namespace of 64 letters":      {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:` + strings.Repeat("n", 64) + `:c"}`, "no token has a subject"},
	"a name of 253 letters":          {ofHost, webAction, `"StringLike": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:n:` + strings.Repeat("?", 253) + `"}`, ""},
	"a name of 254 letters":          {ofHost, webAction, `"StringLike": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:n:` + strings.Repeat("?", 254) + `"}`, "no token has a subject"},
	"one right subject beside":       {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": ["system:serviceacount:a:b", "system:serviceaccount:a:b"]}`, ""},
	"another form of subject":        {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "project_path:group/App_1:ref_type:branch"}`, ""},
	"the same of a cluster":          {`"Federated": "arn:aws:iam::111122223333:oidc-provider/westeurope.oic.prod-aks.azure.com/a/b/"`, webAction, `"StringEquals": {"westeurope.oic.prod-aks.azure.com/a/b/:aud": "sts.amazonaws.com", "westeurope.oic.prod-aks.azure.com/a/b/:sub": "repo:a/b"}`, "no token has a subject"},
	"a subject that contradicts":     {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringNotEquals": {"HOST:sub": "system:serviceaccount:shop:checkout"}`, "contradict each other"},
	"patterns that never meet":       {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com"}, "StringLike": {"HOST:sub": "system:serviceaccount:a:*"}, "ForAnyValue:StringLike": {"HOST:sub": "*:b:*"}`, "contradict each other"},
	"patterns that meet":             {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com"}, "StringLike": {"HOST:sub": "system:serviceaccount:a*"}, "ForAnyValue:StringLike": {"HOST:sub": "*b:b*"}`, ""},
	"all that is left is denied":     {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com"}, "StringLike": {"HOST:sub": "system:serviceaccount:a:?"}, "StringNotLike": {"HOST:sub": ["*:a:??*", "*:?"]}`, "contradict each other"},
	"two audiences":                  {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringLike": {"HOST:aud": "other"}`, "contradict each other"},
	"two audiences of one token":     {ofHost, webAction, `"StringEquals": {"HOST:sub": "system:serviceaccount:shop:checkout"}, "ForAnyValue:StringLike": {"HOST:aud": "other"}, "ForAnyValue:StringEquals": {"HOST:aud": "sts.amazonaws.com"}`, ""},
	"a claim amr":                    {ofHost, webAction, `"StringEquals": {` + fits + `}, "ForAnyValue:StringEquals": {"HOST:amr": "mfa"}`, "AWS reads its sub and aud only"},
	"a claim amr of another caller":  {ofHost, webAction, `"StringEquals": {"HOST:aud": "a", "HOST:sub": "0oa1"}, "ForAnyValue:StringEquals": {"HOST:amr": "mfa"}`, ""},
	"a claim azp if it exists":       {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringEqualsIfExists": {"HOST:azp": "x"}`, ""},
	"a claim of Kubernetes":          {ofHost, webAction, `"StringEquals": {"HOST:aud": "a", "HOST:kubernetes.io/namespace": "shop"}`, "write oidc.example.com/id/4F1C:sub"},
	"the claim iss":                  {ofGitHub, webAction, `"StringEquals": {"token.actions.githubusercontent.com:sub": "repo:a/b:*", "token.actions.githubusercontent.com:aud": "sts.amazonaws.com", "token.actions.githubusercontent.com:iss": "x"}`, "remove the condition"},
	"an external ID if it exists":    {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringEqualsIfExists": {"sts:ExternalId": "x"}`, ""},
	"not an external ID":             {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringNotEquals": {"sts:ExternalId": "x"}`, ""},
	"no external ID":                 {ofHost, webAction, `"StringEquals": {` + fits + `}, "Null": {"sts:ExternalId": "true"}`, ""},
	"any external ID":                {ofHost, webAction, `"StringEquals": {` + fits + `}, "Null": {"sts:ExternalId": "false"}`, "cannot have it"},
	"no subject":                     {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com"}, "Null": {"HOST:sub": "true"}`, "every token has"},
	"all values of tags":             {ofHost, webAction, `"StringEquals": {` + fits + `}, "ForAllValues:StringEquals": {"aws:TagKeys": "x"}`, ""},
	"a tag of the session":           {ofCluster, webAction, `"StringEquals": {"` + cluster + `:aud": "sts.amazonaws.com", "` + cluster + `:sub": "system:serviceaccount:a:b", "aws:RequestTag/kubernetes-namespace": "a"}`, "pods.eks.amazonaws.com"},
	"a source identity":              {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringLike": {"sts:SourceIdentity": "*"}`, "no source identity"},
	"a second factor":                {ofHost, webAction, `"StringEquals": {` + fits + `}, "Bool": {"aws:MultiFactorAuthPresent": "true"}`, "second factor"},
	"a source ARN":                   {ofHost, webAction, `"StringEquals": {` + fits + `}, "ArnLike": {"aws:SourceArn": "arn:aws:s3:::b"}`, "an AWS service makes"},
	"a claim of SAML":                {ofHost, webAction, `"StringEquals": {` + fits + `, "SAML:sub_type": "persistent"}`, "SAML"},
	"by a service":                   {ofHost, webAction, `"StringEquals": {` + fits + `}, "Bool": {"aws:ViaAWSService": "true"}`, "is false in every request"},
	"not by a service":               {ofHost, webAction, `"StringEquals": {` + fits + `}, "Bool": {"aws:ViaAWSService": "false"}`, ""},
	"an endpoint":                    {ofHost, webAction, `"StringEquals": {` + fits + `, "aws:SourceVpce": "vpce-1"}`, ""},
	"an address":                     {ofHost, webAction, `"StringEquals": {` + fits + `}, "IpAddress": {"aws:SourceIp": "192.0.2.0/24"}`, ""},
	"a session's name":               {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringLike": {"sts:RoleSessionName": "shop-*"}`, ""},
	"a subject as a session's name":  {ofHost, webAction, `"StringEquals": {` + fits + `, "sts:RoleSessionName": "system:serviceaccount:shop:checkout"}`, "2 to 64 letters"},
	"a name by a variable":           {ofHost, webAction, `"StringEquals": {` + fits + `, "sts:RoleSessionName": "${aws:username}"}`, "no variable of \"${aws:username}\" has a value"},
	"a name by a variable it has":    {ofHost, webAction, `"StringEquals": {` + fits + `}, "StringLike": {"sts:RoleSessionName": "${HOST:sub}"}`, ""},
	"an ARN as the subject":          {ofHost, webAction, `"StringEquals": {"HOST:aud": "a"}, "ArnLike": {"` + host + `:sub": "arn:aws:iam::1:role/x"}`, ""},
	"amr of another issuer":          {ofHost, webAction, `"StringEquals": {` + fits + `}, "ForAnyValue:StringEquals": {"other.example.com:amr": "x"}`, "of another issuer"},
	"keys of two providers":          {`"Federated": ["arn:aws:iam::111122223333:oidc-provider/HOST", "arn:aws:iam::111122223333:oidc-provider/` + cluster + `"]`, webAction, `"StringEquals": {` + fits + `, "` + cluster + `:sub": "system:serviceaccount:shop:checkout"}`, "a statement for each provider"},
	"keys of one of two providers":   {`"Federated": ["arn:aws:iam::111122223333:oidc-provider/HOST", "arn:aws:iam::111122223333:oidc-provider/` + cluster + `"]`, webAction, `"StringEquals": {` + fits + `}`, ""},
	"a service under a token":        {`"Service": "pods.eks.amazonaws.com"`, roleAction + `, "sts:TagSession"`, `"StringEquals": {` + fits + `}`, "only a request with a token"},
	"an account or a token":          {ofAccount + ", " + ofHost, roleAction + ", " + webAction, `"StringEquals": {` + fits + `}`, ""},
	"an account or a token, with ID": {ofAccount + ", " + ofHost, roleAction + ", " + webAction, `"StringEquals": {` + fits + `, "sts:ExternalId": "x"}`, "belongs to sts:AssumeRole"},
	"a token without its action":     {ofHost, roleAction, `"StringEquals": {` + fits + `, "sts:ExternalId": "x"}`, ""},
	"a star in a plain comparison":   {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:shop:*"}`, ""},
	"the same with an external ID":   {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:shop:*", "sts:ExternalId": "x"}`, "sts:ExternalId"},
	"a subject without a name":       {ofHost, webAction, `"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:shop"}`, ""},
	"a pattern without a name":       {ofHost, webAction, `"StringLike": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "system:serviceaccount:sho?"}`, "no token has a subject"},
}

func TestLintFindsStatementsThatNoRequestMeets(t *testing.T) {
	for name, row := range neverRows {
		t.Run(name, func(t *testing.T) {
			got := neverFound(t, trustOf(row.principal, row.action, row.condition))
			if !strings.Contains(got, row.says) || (got == "") != (row.says == "") {
				t.Errorf("said %q, want %q", got, row.says)
			}
		})
	}
}
