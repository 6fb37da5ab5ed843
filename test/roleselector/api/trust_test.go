package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"sigs.k8s.io/yaml"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// What the page names.
const (
	home       = "999999999999"
	queues     = "333333333333"
	controller = "ack-controller"
	region     = "eu-central-1"
)

// become is a session of a role.
func become(t *testing.T, lab *awstest.Lab, by aws.Credentials, role identity.Role) (aws.Credentials, error) {
	t.Helper()
	input := &sts.AssumeRoleInput{RoleArn: &role.ARN, RoleSessionName: &role.SessionName}
	if role.ExternalID != "" {
		input.ExternalId = &role.ExternalID
	}
	for key, value := range role.Tags {
		input.Tags = append(input.Tags, types.Tag{Key: &key, Value: &value})
	}
	out, err := sts.NewFromConfig(lab.As(by)).AssumeRole(t.Context(), input)
	if err != nil {
		return aws.Credentials{}, err
	}
	made := out.Credentials
	return aws.Credentials{AccessKeyID: *made.AccessKeyId, SecretAccessKey: *made.SecretAccessKey, SessionToken: *made.SessionToken}, nil
}

// rights are those that the page gives the controller's own role.
const rights = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["sts:AssumeRole", "sts:TagSession"], "Resource": "arn:aws:iam::*:role/ack/*"}]}`

// pagesSelector is the example whose role is tried.
func pagesSelector(t *testing.T) *services.IAMRoleSelector {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "examples", "role-selectors", "kind.yaml")))(t)
	var object services.IAMRoleSelector
	must.Do(t, yaml.UnmarshalStrict(text, &object))
	return &object
}

// TestThePagesTrustPolicy makes the role with the page's trust policy, and assumes it
// as a controller does with the page's selector, in this cluster and in another.
func TestThePagesTrustPolicy(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "role-selectors.md")))(t)
	policies := testkit.Blocks(string(page), "json")
	if len(policies) != 1 || !strings.Contains(string(page), "`arn:aws:iam::*:role/ack/*`") {
		t.Fatalf("the page has %d policies; the test knows one, and the resource of the controller's rights", len(policies))
	}
	lab := awstest.Start(t, awslocal.Options{Accounts: []string{home, queues}, Region: region})
	own := lab.Role(home, controller,
		`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::`+home+`:root"}, "Action": "sts:AssumeRole"}]}`, rights)
	object := pagesSelector(t)
	parts := strings.Split(object.Spec.ARN, "/")
	lab.Must(lab.IAM(queues).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String(parts[2]), Path: aws.String("/" + parts[1] + "/"), AssumeRolePolicyDocument: &policies[0],
	}))
	session := must.Get(become(t, lab, lab.Administrator(home), identity.Role{ARN: own, SessionName: "controller"}))(t)
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
			_, err := become(t, lab, session, input.Role)
			if got, _, _ := strings.Cut(awstest.Refusal(nil, err), ":"); got != test.refused {
				t.Errorf("refused with %q, want %q: %v", got, test.refused, err)
			}
		})
	}
}
