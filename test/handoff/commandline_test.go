package handoff_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// keys are those of a cluster that nobody gets a token of (RFC 7517, appendix A.1).
var keys = json.RawMessage(`{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}`)

// cloud is a local AWS with a cluster of EKS, and the aws command line on it.
type cloud struct {
	*testing.T
	environment []string
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{Region: "eu-west-1"})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(server.Start("127.0.0.1:0"),
		server.Admin().AddCluster(awslocal.Cluster{Name: "hub", Issuer: "https://oidc.example", JWKS: keys}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.WithoutCancel(t.Context())) })
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ca.crt"), server.CACertificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	key := server.Administrator("123456789012")
	return &cloud{t, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "AWS_PAGER=", "AWS_ENDPOINT_URL=" + server.URL(), "AWS_CA_BUNDLE=" + filepath.Join(folder, "ca.crt"),
		"AWS_REGION=eu-west-1", "AWS_DEFAULT_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
	}}
}

// shell runs a script.
func (c *cloud) shell(script string) (out string, err error) {
	command := exec.CommandContext(c.Context(), "/bin/sh", "-c", script)
	command.Env = c.environment
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	err = command.Run()
	return said.String(), err
}

func (c *cloud) must(script string) string {
	c.Helper()
	out, err := c.shell(script)
	if err != nil {
		c.Fatalf("%v: %s", err, out)
	}
	return out
}

func (c *cloud) read(call string) (out map[string]any) {
	c.Helper()
	if err := json.Unmarshal([]byte(c.must("aws --output json "+call)), &out); err != nil {
		c.Fatal(err)
	}
	return out
}

const (
	roleARN   = "arn:aws:iam::123456789012:role/app"
	policyARN = "arn:aws:iam::123456789012:policy/tabard/bound"
)

func request() handoff.Work {
	const text = `it's "${aws:username}" of Zoë \n`
	trust := iampolicy.WebIdentity(arn, "sts.amazonaws.com", "system:serviceaccount:shop:app")
	rights := iampolicy.Statement{Actions: []string{"s3:GetObject"}, Resources: []string{"arn:aws:s3:::docs/${aws:username}/it's \"é\"/*"}}
	anybody := iampolicy.Statement{
		Principals: map[iampolicy.PrincipalType][]string{iampolicy.TypeAny: nil}, Actions: []string{"s3:GetObject"}, Resources: []string{"arn:aws:s3:::docs/keys.json"},
	}
	return handoff.Work{
		About: []string{"Made by a test.\nrm -rf /"}, Owner: handoff.Tag{Key: "tabard.dev/issuer", Value: "https://issuer.example"},
		Buckets:   []handoff.Bucket{{Name: "docs", Region: "eu-west-1", AllowPublicPolicy: true, Policy: handoff.Policy(iampolicy.Document{anybody}.String())}},
		Providers: []handoff.Provider{{ARN: arn, URL: "https://issuer.example", Audiences: []string{"sts.amazonaws.com", "openshift"}}},
		Policies: []handoff.ManagedPolicy{{
			ARN: policyARN, Name: "bound", Path: "/tabard/", Description: "Bounds", Document: handoff.Policy(iampolicy.Document{rights}.String()),
		}},
		Roles: []handoff.Role{{
			Name: "app", Description: "Publishes", Trust: handoff.Policy(iampolicy.Document{trust}.String()), PolicyName: "rights",
			Policy: handoff.Policy(iampolicy.Document{rights}.String()), Tags: []handoff.Tag{{Key: "note", Value: "a b=c"}},
		}},
		Entries: []handoff.AccessEntry{{Cluster: "hub", Region: "eu-west-1", PrincipalARN: roleARN, Username: text[:4] + "x", Groups: []string{"viewers"}}},
	}
}

// TestCommandLineMakesWhatWasMeant runs the script, and again with changes, and reads what
// there is.
func TestCommandLineMakesWhatWasMeant(t *testing.T) {
	c, w := newCloud(t), request()
	script, err := w.Text(handoff.AWS)
	if err != nil {
		t.Fatal(err)
	}
	if out := c.must(script); !strings.Contains(out, roleARN) {
		t.Errorf("the script does not say the role's ARN: %s", out)
	}
	role, _ := c.read("iam get-role --role-name app")["Role"].(map[string]any)
	c.wantPolicy("first trust", role["AssumeRolePolicyDocument"], w.Roles[0].Trust)
	w.Roles[0].Trust = handoff.Policy(strings.ReplaceAll(string(w.Roles[0].Trust), "shop:app", "shop:till"))
	w.Providers[0].Audiences = append(w.Providers[0].Audiences, "third")
	w.Roles[0].Boundary, w.Roles[0].Attached = policyARN, []string{policyARN}
	w.Roles[0].Tags = append(w.Roles[0].Tags, handoff.Tag{Key: "team", Value: "a"})
	w.Needed = []handoff.Provider{{ARN: arn, Audiences: []string{"third"}}}
	if script, err = w.Text(handoff.AWS); err != nil {
		t.Fatal(err)
	}
	c.must(script)
	role, _ = c.read("iam get-role --role-name app")["Role"].(map[string]any)
	c.wantPolicy("trust", role["AssumeRolePolicyDocument"], w.Roles[0].Trust)
	bound, _ := role["PermissionsBoundary"].(map[string]any)
	if tags, _ := role["Tags"].([]any); bound["PermissionsBoundaryArn"] != policyARN || len(tags) != 3 {
		t.Errorf("the role has the boundary %v and the tags %v", bound, role["Tags"])
	}
	if attached, _ := c.read("iam list-attached-role-policies --role-name app")["AttachedPolicies"].([]any); len(attached) != 1 {
		t.Errorf("the role's policies are %v", attached)
	}
	c.wantPolicy("rights", c.read("iam get-role-policy --role-name app --policy-name rights")["PolicyDocument"], w.Roles[0].Policy)
	if policy, _ := c.read("s3api get-bucket-policy --bucket docs")["Policy"].(string); true {
		var document any
		if err := json.Unmarshal([]byte(policy), &document); err != nil {
			t.Fatal(err)
		}
		c.wantPolicy("bucket policy", document, w.Buckets[0].Policy)
	}
	provider := c.read("iam get-open-id-connect-provider --open-id-connect-provider-arn " + arn)
	if audiences, _ := provider["ClientIDList"].([]any); len(audiences) != 3 {
		t.Errorf("the provider is %v", provider)
	}
	entry, _ := c.read("eks describe-access-entry --cluster-name hub --principal-arn " + roleARN)["accessEntry"].(map[string]any)
	if entry["username"] != w.Entries[0].Username || !reflect.DeepEqual(entry["kubernetesGroups"], []any{"viewers"}) {
		t.Errorf("the access entry is %v", entry)
	}
}

// TestCommandLineKeepsAManagedPolicy runs the script for more documents than a policy may
// have versions.
func TestCommandLineKeepsAManagedPolicy(t *testing.T) {
	c, w := newCloud(t), request()
	w.Buckets, w.Providers, w.Roles, w.Entries = nil, nil, nil, nil
	for _, action := range []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket", "s3:GetObjectTagging", "s3:PutObjectTagging", "s3:AbortMultipartUpload"} {
		w.Policies[0].Document = handoff.Policy(iampolicy.Document{{Actions: []string{action}, Resources: []string{"*"}}}.String())
		script, err := w.Text(handoff.AWS)
		if err != nil {
			t.Fatal(err)
		}
		c.must(script)
	}
	policy, _ := c.read("iam get-policy --policy-arn " + policyARN)["Policy"].(map[string]any)
	version, _ := c.read("iam get-policy-version --policy-arn " + policyARN + " --version-id " + policy["DefaultVersionId"].(string))["PolicyVersion"].(map[string]any)
	c.wantPolicy("managed policy", version["Document"], w.Policies[0].Document)
	if versions, _ := c.read("iam list-policy-versions --policy-arn " + policyARN)["Versions"].([]any); len(versions) != 5 {
		t.Errorf("there are %d versions, want the last 5", len(versions))
	}
}

func (c *cloud) wantPolicy(what string, got any, want handoff.Policy) {
	c.Helper()
	var document any
	if err := json.Unmarshal([]byte(want), &document); err != nil {
		c.Fatal(err)
	}
	if !reflect.DeepEqual(got, document) {
		c.Errorf("the %s is %v, want %v", what, got, document)
	}
}

// TestCommandLineLeavesWhatIsNotItsOwn makes each thing by hand before.
func TestCommandLineLeavesWhatIsNotItsOwn(t *testing.T) {
	const nobody = `'{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}}'`
	bucket := func(w *handoff.Work) { w.Providers, w.Roles, w.Entries, w.Policies = nil, nil, nil, nil }
	provider := func(w *handoff.Work) { w.Buckets, w.Roles, w.Entries, w.Policies = nil, nil, nil, nil }
	role := func(w *handoff.Work) { w.Buckets, w.Providers, w.Entries, w.Policies = nil, nil, nil, nil }
	policy := func(w *handoff.Work) { w.Buckets, w.Providers, w.Roles, w.Entries = nil, nil, nil, nil }
	for what, test := range map[string]struct {
		only          func(*handoff.Work)
		prepare, look string
	}{
		"a bucket":            {bucket, "aws s3api create-bucket --bucket docs --create-bucket-configuration LocationConstraint=eu-west-1", "s3api get-public-access-block --bucket docs"},
		"a provider":          {provider, "aws iam create-open-id-connect-provider --cli-input-json '{\"Url\":\"https://issuer.example\",\"ClientIDList\":[\"theirs\"]}'", "iam get-open-id-connect-provider --open-id-connect-provider-arn " + arn},
		"a role":              {role, "aws iam create-role --role-name app --assume-role-policy-document " + nobody, "iam get-role --role-name app"},
		"a policy":            {policy, "aws iam create-policy --policy-name bound --path /tabard/ --policy-document '{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\"Resource\":\"*\"}}'", "iam get-policy --policy-arn " + policyARN},
		"a role of an issuer": {role, "aws iam create-role --role-name app --tags Key=tabard.dev/issuer,Value=https://issuer.example/b --assume-role-policy-document " + nobody, "iam get-role --role-name app"},
	} {
		t.Run(what, func(t *testing.T) {
			c := newCloud(t)
			c.must(test.prepare)
			before := c.read(test.look)
			w := request()
			test.only(&w)
			script, err := w.Text(handoff.AWS)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := c.shell(script); err == nil || !strings.Contains(out, "is not tagged tabard.dev/issuer=https://issuer.example: it stays as it is") {
				t.Errorf("the script ended with %v: %s", err, out)
			}
			if after := c.read(test.look); !reflect.DeepEqual(before, after) {
				t.Errorf("it was %v and is %v", before, after)
			}
		})
	}
}
