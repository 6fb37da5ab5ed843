// Package roleselectordocs asks a local AWS what docs/role-selectors.md says of it.
package roleselectordocs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
	"sigs.k8s.io/yaml"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/roleselector"
)

// What the page names.
const (
	home       = "999999999999"
	queues     = "333333333333"
	controller = "ack-controller"
	region     = "eu-central-1"
)

func startAWS(t *testing.T) *awslocal.Server {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{Accounts: []string{home, queues}, Region: region})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := server.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return server
}

func configOf(server *awslocal.Server, key, secret, token string) aws.Config {
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(server.PlainURL()),
		Credentials: credentials.NewStaticCredentialsProvider(key, secret, token),
	}
}

func administrator(server *awslocal.Server, account string) aws.Config {
	key := server.Administrator(account)
	return configOf(server, key.AccessKeyID, key.SecretAccessKey, "")
}

// become is a session of a role.
func become(t *testing.T, server *awslocal.Server, by aws.Config, role identity.Role) (aws.Config, error) {
	t.Helper()
	input := &sts.AssumeRoleInput{RoleArn: &role.ARN, RoleSessionName: &role.SessionName}
	if role.ExternalID != "" {
		input.ExternalId = &role.ExternalID
	}
	for key, value := range role.Tags {
		input.Tags = append(input.Tags, types.Tag{Key: &key, Value: &value})
	}
	out, err := sts.NewFromConfig(by).AssumeRole(t.Context(), input)
	if err != nil {
		return aws.Config{}, err
	}
	return configOf(server, *out.Credentials.AccessKeyId, *out.Credentials.SecretAccessKey, *out.Credentials.SessionToken), nil
}

// rights are those that the page gives the controller's own role.
const rights = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["sts:AssumeRole", "sts:TagSession"], "Resource": "arn:aws:iam::*:role/ack/*"}]}`

// selector is the example whose role is tried.
func selector(t *testing.T) *services.IAMRoleSelector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Root(), "examples", "role-selectors", "kind.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var object services.IAMRoleSelector
	if err := yaml.UnmarshalStrict(text, &object); err != nil {
		t.Fatal(err)
	}
	return &object
}

// TestThePagesTrustPolicy makes the role with the page's trust policy, and assumes it
// as a controller does with the page's selector, in this cluster and in another.
func TestThePagesTrustPolicy(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(testkit.Root(), "docs", "role-selectors.md"))
	if err != nil {
		t.Fatal(err)
	}
	policies := testkit.Blocks(string(page), "json")
	if len(policies) != 1 || !strings.Contains(string(page), "`arn:aws:iam::*:role/ack/*`") {
		t.Fatalf("the page has %d policies; the test knows one, and the resource of the controller's rights", len(policies))
	}
	server := startAWS(t)
	atHome := iam.NewFromConfig(administrator(server, home))
	own, err := atHome.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName:                 aws.String(controller),
		AssumeRolePolicyDocument: aws.String(`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::` + home + `:root"}, "Action": "sts:AssumeRole"}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := atHome.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String(controller), PolicyName: aws.String("become"), PolicyDocument: aws.String(rights),
	}); err != nil {
		t.Fatal(err)
	}
	object := selector(t)
	parts := strings.Split(object.Spec.ARN, "/")
	if _, err := iam.NewFromConfig(administrator(server, queues)).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String(parts[2]), Path: aws.String("/" + parts[1] + "/"), AssumeRolePolicyDocument: &policies[0],
	}); err != nil {
		t.Fatal(err)
	}
	session, err := become(t, server, administrator(server, home), identity.Role{ARN: *own.Role.Arn, SessionName: "controller"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		subject roleselector.Subject
		change  func(*identity.Role)
		refused string
	}{
		"this cluster and namespace": {subject: roleselector.Subject{ClusterID: "prod-eu", Namespace: "shared"}},
		"another cluster":            {subject: roleselector.Subject{ClusterID: "test-eu", Namespace: "shared"}, refused: "AccessDenied"},
		"another namespace":          {subject: roleselector.Subject{ClusterID: "prod-eu", Namespace: "dev"}, refused: "AccessDenied"},
		"a controller that sends none of it": {
			subject: roleselector.Subject{ClusterID: "prod-eu", Namespace: "shared"},
			change:  func(r *identity.Role) { r.ExternalID, r.Tags = "", nil }, refused: "AccessDenied",
		},
		"another tag": {
			subject: roleselector.Subject{ClusterID: "prod-eu", Namespace: "shared"},
			change:  func(r *identity.Role) { r.Tags["ack-namespace"] = "dev" }, refused: "AccessDenied",
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.subject.Service, test.subject.Kind, test.subject.Name = "sqs", "Queue", "orders"
			input, problems := roleselector.Compile(object).AssumeRole(test.subject, roleselector.Settings{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if test.change != nil {
				test.change(&input.Role)
			}
			_, err := become(t, server, session, input.Role)
			if got := codeOf(err); got != test.refused {
				t.Errorf("refused with %q, want %q: %v", got, test.refused, err)
			}
		})
	}
}

func codeOf(err error) string {
	if failed, ok := errors.AsType[smithy.APIError](err); ok {
		return failed.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
