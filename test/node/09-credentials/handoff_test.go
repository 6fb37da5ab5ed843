package credentials

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

// becomesTheRoleOfItsHandoff makes a role of the two documents that "tabard operators handoff"
// wrote for an operator of a catalogue, and a pod of that operator becomes it.
func becomesTheRoleOfItsHandoff(t *testing.T, b *bed.Bed, bucket string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	b.Run("operators", "handoff", "keeper", "--catalogue", catalogue(t, bucket), "-n", team, "--cluster-name", "lab",
		"--issuer", b.Env["TABARD_ISSUER_URL"], "--account", b.Account, "--output-dir", dir)
	document := func(name string) *string {
		return aws.String(string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t)))
	}
	const name = "lab-" + team + "-keeper"
	account := iam.NewFromConfig(must.Get(b.Config(b.Administrator()))(t))
	made := must.Get(account.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String(name), AssumeRolePolicyDocument: document("trust-policy.json")}))(t)
	must.Get(account.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: aws.String(name), PolicyName: aws.String("operator"), PolicyDocument: document("permission-policy.json")}))(t)
	arn := aws.ToString(made.Role.Arn)
	if said := b.Run("operators", "check", "--request", dir, "--role-arn", arn); !strings.Contains(said, "Satisfied") {
		t.Error(said)
	}

	text := strings.ReplaceAll(string(must.Get(os.ReadFile("keeper.yaml"))(t)), "ROLEARN", arn)
	path := filepath.Join(t.TempDir(), "keeper.yaml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	b.Apply(team, path, bed.Role{Bucket: bucket})
	b.AwaitLine(team, "keeper", "own", `"wrote":"s3://`+bucket+`/keeper/first.txt"`)
	if refusal := b.AwaitLine(team, "keeper", "foreign", "AccessDenied"); !strings.Contains(refusal, "assumed-role/"+name+"/") {
		t.Errorf("another prefix: %q, want it to name the role", refusal)
	}
}

// catalogue is a file-based catalogue with the operator keeper, and its ClusterServiceVersion in it.
func catalogue(t *testing.T, bucket string) string {
	t.Helper()
	csv := strings.ReplaceAll(string(must.Get(os.ReadFile("csv.json"))(t)), "BUCKET", bucket)
	property := func(kind string, value map[string]any) map[string]any {
		return map[string]any{"type": kind, "value": value}
	}
	var lines []string
	for _, document := range []map[string]any{
		{"schema": "olm.package", "name": "keeper", "defaultChannel": "stable"},
		{"schema": "olm.channel", "package": "keeper", "name": "stable", "entries": []any{map[string]any{"name": "keeper.v1.0.0"}}},
		{"schema": "olm.bundle", "package": "keeper", "name": "keeper.v1.0.0", "image": "", "properties": []any{
			property("olm.package", map[string]any{"packageName": "keeper", "version": "1.0.0"}),
			property("olm.bundle.object", map[string]any{"data": base64.StdEncoding.EncodeToString([]byte(csv))}),
		}},
	} {
		lines = append(lines, string(must.Get(json.Marshal(document))(t)))
	}
	path := filepath.Join(t.TempDir(), "catalog.json")
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}
