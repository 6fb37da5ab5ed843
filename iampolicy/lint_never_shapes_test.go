package iampolicy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	oidc     = `"Federated": "arn:aws:iam::111122223333:oidc-provider/ISSUER"`
	trustTag = roleAction + `, "sts:TagSession"`
)

// documentedShapes are trust policies as the pages of AWS and of the issuers show them, ISSUER standing for
// the issuer of the first field.
var documentedShapes = map[string]struct{ issuer, principal, action, condition string }{
	"EKS, one ServiceAccount":           {cluster, oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": "system:serviceaccount:default:my-service-account"}`},
	"EKS, a namespace":                  {cluster, oidc, webAction, `"StringLike": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": "system:serviceaccount:default:*"}`},
	"EKS, several ServiceAccounts":      {cluster, oidc, webAction, `"StringEquals": {"ISSUER:sub": ["system:serviceaccount:kube-system:aws-node", "system:serviceaccount:kube-system:ebs-csi-controller-sa"]}`},
	"EKS, by ForAnyValue":               {cluster, oidc, webAction, `"ForAnyValue:StringLike": {"ISSUER:sub": ["system:serviceaccount:*:external-dns"], "ISSUER:aud": ["sts.amazonaws.com"]}`},
	"EKS, all namespaces":               {cluster, oidc, webAction, `"StringLike": {"ISSUER:sub": "system:serviceaccount:*:*"}`},
	"EKS in China":                      {"oidc.eks.cn-north-1.amazonaws.com.cn/id/4F1C", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": "system:serviceaccount:a:b"}`},
	"EKS, through an endpoint":          {cluster, oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": "system:serviceaccount:a:b", "aws:SourceVpc": "vpc-1"}, "IpAddress": {"aws:VpcSourceIp": "10.0.0.0/8"}`},
	"EKS, from addresses":               {cluster, oidc, webAction, `"StringEquals": {"ISSUER:sub": "system:serviceaccount:a:b"}, "IpAddress": {"aws:SourceIp": ["192.0.2.0/24", "2001:db8::/32"]}`},
	"EKS, until a date":                 {cluster, oidc, webAction, `"StringEquals": {"ISSUER:sub": "system:serviceaccount:a:b"}, "DateLessThan": {"aws:CurrentTime": "2030-01-01T00:00:00Z"}, "Bool": {"aws:SecureTransport": "true"}`},
	"kops":                              {"bucket.s3.eu-west-1.amazonaws.com/discovery/cluster.example.com", oidc, webAction, `"StringEquals": {"ISSUER:sub": "system:serviceaccount:kube-system:dns-controller"}`},
	"OpenShift":                         {"my-oidc.s3.us-east-1.amazonaws.com", oidc, webAction, `"StringEquals": {"ISSUER:sub": ["system:serviceaccount:openshift-image-registry:cluster-image-registry-operator", "system:serviceaccount:openshift-image-registry:registry"]}`},
	"ROSA":                              {"rh-oidc.s3.us-east-1.amazonaws.com/2abc", oidc, webAction, `"StringEquals": {"ISSUER:sub": "system:serviceaccount:openshift-cloud-credential-operator:cloud-credential-operator"}`},
	"AKS":                               {"eastus.oic.prod-aks.azure.com/0f-1/2e-3/", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": "system:serviceaccount:a:b"}`},
	"GKE":                               {"container.googleapis.com/v1/projects/p-1/locations/europe-west1/clusters/c", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": "system:serviceaccount:a:b"}`},
	"a GKE fleet":                       {"gkehub.googleapis.com/projects/p-1/locations/global/memberships/m", oidc, webAction, `"StringEquals": {"ISSUER:sub": "system:serviceaccount:a:b"}`},
	"GitHub, one branch":                {"token.actions.githubusercontent.com", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:sub": "repo:octo-org/octo-repo:ref:refs/heads/octo-branch"}`},
	"GitHub, one environment":           {"token.actions.githubusercontent.com", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com"}, "StringLike": {"ISSUER:sub": "repo:octo-org/*:environment:Production_1"}`},
	"GitHub, a workflow":                {"token.actions.githubusercontent.com", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com", "ISSUER:job_workflow_ref": "o/r/.github/workflows/w.yml@refs/heads/main", "ISSUER:repository_id": "1"}, "StringLike": {"ISSUER:sub": "repo:o/r:*"}`},
	"GitHub by ForAllValues":            {"token.actions.githubusercontent.com", oidc, webAction, `"ForAllValues:StringEquals": {"ISSUER:iss": "https://token.actions.githubusercontent.com", "ISSUER:aud": "sts.amazonaws.com"}, "StringLike": {"ISSUER:sub": "repo:o/r:*"}`},
	"GitHub Enterprise":                 {"github.example.com/_services/token", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com"}, "StringLike": {"ISSUER:sub": "repo:o/r:*"}`},
	"GitLab":                            {"gitlab.com", oidc, webAction, `"StringLike": {"ISSUER:sub": "project_path:mygroup/*:ref_type:branch:ref:main"}`},
	"GitLab of one's own":               {"gitlab.example.com", oidc, webAction, `"StringEquals": {"ISSUER:aud": "https://gitlab.example.com", "ISSUER:sub": "project_path:My_Group/p:ref_type:branch:ref:main"}`},
	"Google, as a provider":             {"accounts.google.com", oidc, webAction, `"StringEquals": {"ISSUER:aud": "66677788899900pro0", "ISSUER:oaud": "x", "ISSUER:sub": "1234567890"}`},
	"Google, built in":                  {"accounts.google.com", `"Federated": "ISSUER"`, webAction, `"StringEquals": {"ISSUER:aud": "66677788899900pro0"}`},
	"Cognito identities":                {"cognito-identity.amazonaws.com", `"Federated": "ISSUER"`, webAction + `, "sts:TagSession"`, `"StringEquals": {"ISSUER:aud": "us-east-1:12345678-abcd"}, "ForAnyValue:StringLike": {"ISSUER:amr": "unauthenticated"}, "StringLike": {"aws:RequestTag/department": "*"}`},
	"Amazon":                            {"www.amazon.com", `"Federated": "ISSUER"`, webAction, `"StringEquals": {"ISSUER:app_id": "amzn1.application-oa2-123456"}`},
	"Facebook":                          {"graph.facebook.com", `"Federated": "ISSUER"`, webAction, `"StringEquals": {"ISSUER:app_id": "111222333444555"}`},
	"a pool of Cognito":                 {"cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbC", oidc, webAction, `"StringEquals": {"ISSUER:aud": "4abc", "ISSUER:sub": "12345678-abcd"}`},
	"Okta":                              {"dev-1.okta.com/oauth2/default", oidc, webAction, `"StringEquals": {"ISSUER:aud": "0oa1", "ISSUER:sub": "user@example.com"}`},
	"Auth0, with tags":                  {"example.eu.auth0.com/", oidc, webAction + `, "sts:TagSession"`, `"StringEquals": {"ISSUER:aud": "x", "ISSUER:sub": "auth0|1", "aws:RequestTag/team": "a"}, "ForAllValues:StringEquals": {"aws:TagKeys": ["team"], "sts:TransitiveTagKeys": ["team"]}`},
	"Terraform Cloud":                   {"app.terraform.io", oidc, webAction, `"StringEquals": {"ISSUER:aud": "aws.workload.identity"}, "StringLike": {"ISSUER:sub": "organization:my-org:project:Default Project:workspace:w:run_phase:*"}`},
	"Bitbucket":                         {"api.bitbucket.org/2.0/workspaces/w/pipelines-config/identity/oidc", oidc, webAction, `"StringEquals": {"ISSUER:aud": "ari:cloud:bitbucket::workspace/1"}, "StringLike": {"ISSUER:sub": "{a1b2}:{c3}:*"}, "IpAddress": {"aws:SourceIp": ["34.199.54.113/32"]}`},
	"CircleCI":                          {"oidc.circleci.com/org/11-22", oidc, webAction, `"StringLike": {"ISSUER:sub": "org/11-22/project/33/user/*"}, "StringEquals": {"ISSUER:aud": "11-22", "oidc.circleci.com/org/11-22:oidc.circleci.com/project-id": "33"}`},
	"Buildkite":                         {"agent.buildkite.com", oidc, webAction, `"StringEquals": {"ISSUER:aud": "sts.amazonaws.com"}, "StringLike": {"ISSUER:sub": "organization:o:pipeline:p:ref:refs/heads/main:commit:*:step:deploy"}`},
	"Spacelift":                         {"example.app.spacelift.io", oidc, webAction, `"StringEquals": {"ISSUER:aud": "example.app.spacelift.io"}, "StringLike": {"ISSUER:sub": "space:root:stack:*:run_type:*:scope:read"}`},
	"Vercel":                            {"oidc.vercel.com/team", oidc, webAction, `"StringEquals": {"ISSUER:aud": "https://vercel.com/team"}, "StringLike": {"ISSUER:sub": ["owner:team:project:*:environment:preview"]}`},
	"Pulumi":                            {"api.pulumi.com/oidc", oidc, webAction, `"StringEquals": {"ISSUER:aud": "aws:my-org"}, "StringLike": {"ISSUER:sub": "pulumi:deploy:org:my-org:project:p:*"}`},
	"SPIFFE":                            {"oidc-discovery.example.org", oidc, webAction, `"StringEquals": {"ISSUER:aud": "mys3", "ISSUER:sub": "spiffe://example.org/ns/default/sa/client"}`},
	"AWS's own tokens":                  {"4f1c.tokens.sts.global.api.aws", oidc, webAction, `"StringEquals": {"ISSUER:aud": "a", "ISSUER:sub": "arn:aws:iam::444455556666:role/app"}`},
	"Entra":                             {"sts.windows.net/0f-1/", oidc, webAction, `"StringEquals": {"ISSUER:aud": "api://x", "ISSUER:sub": "1a2b"}, "StringLike": {"sts:RoleSessionName": "vm-*"}, "NumericLessThanEquals": {"sts:DurationSeconds": "3600"}`},
	"Azure DevOps":                      {"vstoken.dev.azure.com/0f-1", oidc, webAction, `"StringEquals": {"ISSUER:aud": "api://AzureADTokenExchange", "ISSUER:sub": "sc://Org/Project_1/connection"}`},
	"SAML":                              {"", `"Federated": "arn:aws:iam::111122223333:saml-provider/ExampleOrg"`, `"sts:AssumeRoleWithSAML", "sts:TagSession"`, `"StringEquals": {"SAML:aud": "https://signin.aws.amazon.com/saml"}, "StringLike": {"aws:RequestTag/Project": "*"}`},
	"another account, with an ID":       {"", `"AWS": "arn:aws:iam::444455556666:root"`, roleAction, `"StringEquals": {"sts:ExternalId": "12345"}, "Bool": {"aws:MultiFactorAuthPresent": "true"}`},
	"an organisation":                   {"", `"AWS": "*"`, roleAction, `"StringEquals": {"aws:PrincipalOrgID": "o-1", "aws:PrincipalTag/team": "a"}, "ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/app"}`},
	"sessions with tags":                {"", `"AWS": "arn:aws:iam::444455556666:role/app"`, trustTag, `"StringLike": {"aws:RequestTag/Project": "*", "sts:RoleSessionName": "${aws:username}"}, "ForAllValues:StringEquals": {"sts:TransitiveTagKeys": ["Project"]}, "Null": {"aws:SourceIdentity": "false"}`},
	"EKS Pod Identity":                  {"", `"Service": "pods.eks.amazonaws.com"`, trustTag, `"StringEquals": {"aws:RequestTag/kubernetes-namespace": "shop", "aws:SourceAccount": "111122223333"}, "ArnEquals": {"aws:SourceArn": "arn:aws:eks:eu-west-1:111122223333:cluster/c"}`},
	"Roles Anywhere":                    {"", `"Service": "rolesanywhere.amazonaws.com"`, trustTag + `, "sts:SetSourceIdentity"`, `"StringEquals": {"aws:PrincipalTag/x509Subject/CN": "app.example.com", "aws:PrincipalTag/x509SAN/URI": "spiffe://x"}, "ArnEquals": {"aws:SourceArn": ["arn:aws:rolesanywhere:eu-west-1:111122223333:trust-anchor/1"]}`},
	"a service":                         {"", `"Service": ["lambda.amazonaws.com", "edgelambda.amazonaws.com"]`, roleAction, `"StringEquals": {"aws:SourceAccount": "111122223333"}, "ArnLike": {"aws:SourceArn": "arn:aws:lambda:*:111122223333:function:*"}`},
	"Cognito's messages":                {"", `"Service": "cognito-idp.amazonaws.com"`, roleAction, `"StringEquals": {"sts:ExternalId": "1234"}`},
	"a token and a role in one's place": {cluster, `"AWS": "arn:aws:iam::111122223333:role/ci", ` + oidc, roleAction + ", " + webAction, `"StringLikeIfExists": {"ISSUER:sub": "system:serviceaccount:a:*"}`},
}

// TestDocumentedTrustPoliciesMatch: NeverMatches is found in none of them.
func TestDocumentedTrustPoliciesMatch(t *testing.T) {
	if len(documentedShapes) < 40 {
		t.Errorf("only %d shapes", len(documentedShapes))
	}
	for name, shape := range documentedShapes {
		document := strings.ReplaceAll(trustOf(shape.principal, shape.action, shape.condition), "ISSUER", shape.issuer)
		if got := neverFound(t, document); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzNeverMatches: where it is found, the evaluator refuses tokens of ServiceAccounts, whatever the
// condition.
func FuzzNeverMatches(f *testing.F) {
	for _, row := range neverRows {
		if row.principal == ofHost && row.action == webAction {
			f.Add(`{`+strings.ReplaceAll(row.condition, "HOST", host)+`}`, meant)
		}
	}
	f.Fuzz(func(t *testing.T, condition, subject string) {
		document := trusting(condition)
		policy, err := iampolicy.Parse([]byte(document))
		if err != nil || policy == nil || policy.Validate(iampolicy.TrustPolicy) != nil {
			return
		}
		var found iampolicy.Errors
		errors.As(policy.Lint(iampolicy.TrustPolicy, iampolicy.LintOptions{}), &found)
		for _, one := range found {
			if one.Code != iampolicy.CodeNeverMatches {
				continue
			}
			for _, token := range []string{meant, another, "repo:org/app:ref:x", "0oa1", subject} {
				if strings.HasPrefix(token, "system:serviceaccount") && token != meant && token != another {
					continue // a subject that no token has
				}
				if admits(t, document, token, recipient) {
					t.Errorf("it admits %q: %s in %s", token, one.Message, document)
				}
			}
		}
	})
}
