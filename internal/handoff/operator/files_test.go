package operator_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/handoff/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var place = rolerequest.Place{Cluster: "prod", Namespace: "keeper", Issuer: "https://oidc.example.com/c", Account: "111122223333"}

// asking is a request for actions on a resource.
func asking(t *testing.T, resource string, actions ...string) rolerequest.Request {
	t.Helper()
	statement := map[string]any{"effect": "Allow", "action": actions, "resource": resource}
	object := map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"name": "p"},
		"spec": map[string]any{
			"secretRef": map[string]any{"name": "s", "namespace": "$(NAMESPACE)"}, "serviceAccountNames": []any{"operator", "agent"},
			"providerSpec": map[string]any{"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec", "statementEntries": []any{statement}},
		},
	}
	annotation := string(must.Get(json.Marshal([]any{object}))(t))
	set := permission.ReadAnnotations(permission.Subject{Package: "p", Version: "1.0.0", CSV: "p.v1.0.0"}, "p.v1.0.0", map[string]string{permission.Annotation: annotation})
	return must.Get(rolerequest.New(set, place, rolerequest.Role{}))(t)
}

func files(t *testing.T, r rolerequest.Request) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range must.Get(operator.Files(r, operator.Where{}))(t) {
		out[f.Name] = f.Text
	}
	return out
}

func TestTheFilesSayTheSame(t *testing.T) {
	got := files(t, asking(t, "arn:aws:s3:::b/*", "s3:GetObject"))
	var trust struct {
		Statement []struct {
			Condition map[string]map[string]any
			Principal map[string]string
		}
	}
	must.Do(t, json.Unmarshal([]byte(got["trust-policy.json"]), &trust))
	if len(trust.Statement) != 1 || trust.Statement[0].Principal["Federated"] != "arn:aws:iam::111122223333:oidc-provider/oidc.example.com/c" ||
		fmt.Sprint(trust.Statement[0].Condition["StringEquals"]["oidc.example.com/c:sub"]) != "[system:serviceaccount:keeper:agent system:serviceaccount:keeper:operator]" ||
		trust.Statement[0].Condition["StringEquals"]["oidc.example.com/c:aud"] != "openshift" {
		t.Errorf("%+v", trust)
	}
	for name, parts := range map[string][]string{
		"README.md":           {"s3:GetObject", "system:serviceaccount:keeper:agent", "tabard operators check --request . --role-arn arn:aws:iam::111122223333:role/prod-keeper-p"},
		"aws.sh":              {"prod/keeper/p", "iam put-role-policy", "get-open-id-connect-provider"},
		"main.tf":             {"aws_iam_role_policy", "role_arn"},
		"cloudformation.yaml": {"AWS::IAM::Role", "RoleArn"},
		"request.json":        {`"kind": "RoleRequest"`},
	} {
		for _, part := range parts {
			if !strings.Contains(got[name], part) {
				t.Errorf("%s does not have %q:\n%s", name, part, got[name])
			}
		}
	}
}

// TestEachFormHasThePolicies: the policies in Terraform and in CloudFormation are those of the files. That
// hcl reads the module as it is meant is shown by test/handoff.
func TestEachFormHasThePolicies(t *testing.T) {
	got := files(t, asking(t, "arn:aws:s3:::b/*", "s3:GetObject", "s3:PutObject"))
	read := func(text string) (out any) {
		must.Do(t, json.Unmarshal([]byte(text), &out))
		return out
	}
	trust, policy := read(got["trust-policy.json"]), read(got["permission-policy.json"])
	var template struct {
		Resources map[string]struct {
			Properties struct {
				RoleName                 string
				AssumeRolePolicyDocument any
				Policies                 []struct{ PolicyDocument any }
			}
		}
	}
	must.Do(t, yaml.Unmarshal([]byte(got["cloudformation.yaml"]), &template))
	role := template.Resources["Role"].Properties
	if diff := cmp.Diff([]any{trust, policy}, []any{role.AssumeRolePolicyDocument, role.Policies[0].PolicyDocument}); diff != "" || role.RoleName != "prod-keeper-p" {
		t.Errorf("CloudFormation has (-files +template):\n%s", diff)
	}
	var inModule []any
	for _, part := range strings.Split(got["main.tf"], "<<-JSON\n")[1:] {
		document, _, _ := strings.Cut(part, "\n  JSON\n")
		inModule = append(inModule, read(document))
	}
	if diff := cmp.Diff([]any{trust, policy}, inModule); diff != "" {
		t.Errorf("Terraform has (-files +module):\n%s", diff)
	}
}

// TestPermissionsThatAreTooLongAreManagedPolicies: what no inline policy has room for is attached in each form.
func TestPermissionsThatAreTooLongAreManagedPolicies(t *testing.T) {
	var actions []string
	for i := range 90 {
		actions = append(actions, fmt.Sprintf("s3:%s%d", strings.Repeat("VeryLongAction", 9), i))
	}
	got := files(t, asking(t, "*", actions...))
	for name, parts := range map[string][]string{
		"aws.sh":              {"iam attach-role-policy", "policy/prod-keeper-p-2"},
		"main.tf":             {"aws_iam_role_policy_attachment", "aws_iam_policy.policy_2.arn"},
		"cloudformation.yaml": {"ManagedPolicyArns", `"Ref": "Policy2"`},
		"README.md":           {"permission-policy-2.json"},
	} {
		for _, part := range parts {
			if !strings.Contains(got[name], part) {
				t.Errorf("%s does not have %q", name, part)
			}
		}
	}
	if got["permission-policy-1.json"] == "" || got["permission-policy.json"] != "" {
		t.Error("the policies are not in files of their own")
	}
}

// TestTextsOfStrangersStayTexts: what an author writes is neither Markdown nor a command.
func TestTextsOfStrangersStayTexts(t *testing.T) {
	for _, text := range []string{"``` # heading", "`a` <script>alert(1)</script>", "[x](javascript:alert(1))", "$(touch x)", "'; touch x; '", "${var.x}", "%{if true}", "a`b``c```d"} {
		r := asking(t, "arn:aws:s3:::"+text, "s3:GetObject")
		for row := range strings.Lines(files(t, r)["README.md"]) {
			at := strings.Index(row, text)
			if at < 0 {
				continue
			}
			before := row[:at]
			open := before[strings.LastIndex(before, "- ")+2:]
			fence := open[:len(open)-len(strings.TrimLeft(open, "`"))]
			if fence == "" || strings.Count(strings.TrimSuffix(strings.TrimSpace(row[at:]), fence), fence) != 0 {
				t.Errorf("it is not in a code span: %s", row)
			}
		}
	}
}

// asked is a request to another cloud.
func asked(t *testing.T, kind, fields string) rolerequest.Request {
	t.Helper()
	text := `[{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"p"},"spec":{"secretRef":{"name":"s","namespace":"ns"},"serviceAccountNames":["operator"],"providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"` + kind + `",` + fields + `}}}]`
	set := permission.ReadAnnotations(permission.Subject{Package: "p", Version: "1.0.0"}, "p", map[string]string{permission.Annotation: text})
	return must.Get(rolerequest.New(set, place, rolerequest.Role{}))(t)
}

func TestAzure(t *testing.T) {
	r := asked(t, "AzureProviderSpec", `"roleBindings":[{"role":"Reader"}],"permissions":["Microsoft.Storage/storageAccounts/read"]`)
	where := operator.Where{Azure: &handoff.AzurePlace{Subscription: "11111111-2222-3333-4444-555555555555", ResourceGroup: "rg", Region: "westeurope"}}
	got := map[string]string{}
	for _, f := range must.Get(operator.Files(r, where))(t) {
		got[f.Name] = f.Text
	}
	for name, part := range map[string]string{"azure.sh": "az identity create", "main.tf": "azurerm_federated_identity_credential", "README.md": "does not simulate Azure", "request.json": `"cloud": "azure"`} {
		if !strings.Contains(got[name], part) {
			t.Errorf("%s does not have %q:\n%s", name, part, got[name])
		}
	}
	where.Azure.Region = ""
	if _, err := operator.Files(r, where); err == nil || !strings.Contains(err.Error(), "region") {
		t.Errorf("%v", err)
	}
	if got := files(t, r); len(got) != 2 || !strings.Contains(got["README.md"], "there is no script") {
		t.Errorf("without a place: %v", got)
	}
}

func TestGoogle(t *testing.T) {
	r := asked(t, "GCPProviderSpec", `"predefinedRoles":["roles/storage.admin"],"permissions":["compute.disks.get"]`)
	where := operator.Where{Google: &handoff.GooglePlace{Project: "project-one", Number: "123456", Pool: "pool", Provider: "provider"}}
	got := map[string]string{}
	for _, f := range must.Get(operator.Files(r, where))(t) {
		got[f.Name] = f.Text
	}
	for name, part := range map[string]string{"gcp.sh": "gcloud iam service-accounts create", "main.tf": "google_service_account", "README.md": "does not simulate Google Cloud", "request.json": `"cloud": "gcp"`} {
		if !strings.Contains(got[name], part) {
			t.Errorf("%s does not have %q:\n%s", name, part, got[name])
		}
	}
}
