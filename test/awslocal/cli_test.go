package awslocal_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// inUSEast1 is where the command line asks.
var inUSEast1 = []string{"AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1"}

func TestCommandLineTellsTheSameStory(t *testing.T) {
	l := newLab(t)
	bare := strings.TrimPrefix(l.issuer.Issuer(), "https://")
	provider := "arn:aws:iam::" + account + ":oidc-provider/" + bare
	token := l.sign(0, l.claims())
	wrong := l.claims()
	wrong["aud"] = "vault"
	trust := l.Write("trust.json", l.trust(provider))
	policy := l.Write("policy.json", allowAll)
	app := "arn:aws:iam::" + account + ":role/app"
	steps := []struct {
		arguments []string
		unsigned  bool
		want      string
		refused   string
	}{
		{arguments: []string{"sts", "get-caller-identity"}, want: "arn:aws:iam::" + account + ":user/administrator"},
		{arguments: []string{"iam", "create-open-id-connect-provider", "--url", l.issuer.Issuer(), "--client-id-list", audience}, want: provider},
		{arguments: []string{"iam", "list-open-id-connect-providers"}, want: provider},
		{arguments: []string{"iam", "get-open-id-connect-provider", "--open-id-connect-provider-arn", provider}, want: audience},
		{arguments: []string{"iam", "create-role", "--role-name", "app", "--assume-role-policy-document", "file://" + trust, "--tags", "Key=a,Value=b c"}, want: app},
		{arguments: []string{"iam", "get-role", "--role-name", "app"}, want: `"Federated": "` + provider + `"`},
		{arguments: []string{"iam", "put-role-policy", "--role-name", "app", "--policy-name", "read", "--policy-document", "file://" + policy}},
		{arguments: []string{"iam", "get-role-policy", "--role-name", "app", "--policy-name", "read"}, want: `"Action": "s3:GetObject"`},
		{arguments: []string{"iam", "list-role-policies", "--role-name", "app"}, want: `"read"`},
		{arguments: []string{"iam", "list-roles"}, want: app},
		{arguments: []string{"iam", "list-role-tags", "--role-name", "app"}, want: `"b c"`},
		{arguments: []string{"sts", "assume-role-with-web-identity", "--role-arn", app, "--role-session-name", "pod", "--web-identity-token", token}, unsigned: true, want: "assumed-role/app/pod"},
		{arguments: []string{"sts", "assume-role-with-web-identity", "--role-arn", app, "--role-session-name", "pod", "--web-identity-token", l.sign(0, wrong)}, unsigned: true,
			refused: "An error occurred (InvalidIdentityToken) when calling the AssumeRoleWithWebIdentity operation: Incorrect token audience"},
		{arguments: []string{"sts", "assume-role", "--role-arn", app, "--role-session-name", "cli"},
			refused: "An error occurred (AccessDenied) when calling the AssumeRole operation: User: arn:aws:iam::" + account + ":user/administrator is not authorized to perform: sts:AssumeRole on resource: " + app},
		{arguments: []string{"iam", "list-users", "--max-items", "1"}, want: "administrator"},
		{arguments: []string{"iam", "list-groups"}, refused: "An error occurred (InvalidAction) when calling the ListGroups operation: Could not find operation ListGroups for version 2010-05-08"},
		{arguments: []string{"sns", "list-topics"}, refused: `it plays ec2, eks, eks-auth, iam, s3, sts.`},
		{arguments: []string{"ec2", "describe-regions", "--region-names", "eu-west-1"}, want: "ec2.eu-west-1.amazonaws.com"},
		{arguments: []string{"ec2", "describe-instance-types", "--instance-types", "p4d.24xlarge"}, want: `"SizeInMiB": 1179648`},
		{arguments: []string{"ec2", "describe-instance-types", "--query", "length(InstanceTypes)"}, want: "934"},
		{arguments: []string{"ec2", "describe-instance-types", "--instance-types", "m5.tiny"},
			refused: "An error occurred (InvalidInstanceType) when calling the DescribeInstanceTypes operation: The following supplied instance types do not exist: [m5.tiny]"},
		{arguments: []string{"s3api", "create-bucket", "--bucket", "documents"}, want: "documents"},
		{arguments: []string{"s3api", "put-object", "--bucket", "documents", "--key", "a/b", "--body", policy}, want: "ETag"},
		{arguments: []string{"s3api", "list-objects-v2", "--bucket", "documents"}, want: `"Key": "a/b"`},
		{arguments: []string{"iam", "delete-open-id-connect-provider", "--open-id-connect-provider-arn", provider}},
		{arguments: []string{"sts", "assume-role-with-web-identity", "--role-arn", app, "--role-session-name", "pod", "--web-identity-token", token}, unsigned: true,
			refused: "An error occurred (InvalidIdentityToken) when calling the AssumeRoleWithWebIdentity operation: No OpenIDConnect provider found in your account for " + l.issuer.Issuer()},
	}
	for i, step := range steps {
		url := []string{l.URL(), l.PlainURL()}[i%2]
		key := l.Administrator(account)
		if step.unsigned {
			key = aws.Credentials{}
		}
		stdout, stderr, _ := l.CommandLine(key, append([]string{"AWS_ENDPOINT_URL=" + url}, inUSEast1...), step.arguments...)
		name := strings.Join(step.arguments[:2], " ")
		if !strings.Contains(stdout, step.want) {
			t.Errorf("step %d, %s: answer\n %s%s\nwant in it\n %s", i, name, stdout, stderr, step.want)
		}
		if !strings.Contains(stderr, step.refused) || step.refused == "" && stderr != "" {
			t.Errorf("step %d, %s: refused with\n %s\nwant\n %s", i, name, stderr, step.refused)
		}
	}
}
