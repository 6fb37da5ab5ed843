package hubaccess

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// person is an administrator of the hub and of its account, who types commands.
type person struct {
	*world
	environment []string
}

func newPerson(w *world) person {
	key := w.aws.Administrator(account)
	p := person{w, []string{
		"HOME=" + w.TempDir(), "KUBECONFIG=" + w.Kubeconfig(w.Config), "AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Path("ca.crt"), "AWS_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
	}}
	w.Cleanup(func() {
		left := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: hub.ControllerName}}
		must.Do(w, client.IgnoreNotFound(w.Delete(context.WithoutCancel(w.Context()), left)))
	})
	return p
}

// hub runs "tabard hub COMMAND" for the hub, and returns what it said and which calls of AWS
// wrote.
func (p person) hub(command string, args ...string) (said string, code int, writes []string) {
	p.Helper()
	p.aws.Admin().ClearJournal()
	called := exec.CommandContext(p.Context(), testkit.Tabard(p), append([]string{"hub", command, "--hub-cluster-arn", hubARN}, args...)...)
	called.Env = p.environment
	out, _ := called.CombinedOutput()
	for _, call := range p.aws.Admin().Journal() {
		if !slices.ContainsFunc([]string{"Get", "List"}, func(verb string) bool { return strings.HasPrefix(call.Operation, verb) }) {
			writes = append(writes, call.Operation)
		}
	}
	return string(out), called.ProcessState.ExitCode(), writes
}

// want runs a command that has to succeed with these calls that write.
func (p person) want(writes string, says string, command string, args ...string) {
	p.Helper()
	said, code, wrote := p.hub(command, args...)
	if code != 0 || strings.Join(wrote, " ") != writes || !strings.Contains(said, says) {
		p.Fatalf("tabard hub %s %v: exit code %d, it wrote %v, want %s and %q in\n%s", command, args, code, wrote, writes, says, said)
	}
}

// typesWhat types the command that a program has said behind a text, and returns what that says.
func typesWhat(c *testkit.Cluster, environment []string, said, behind, more string) string {
	c.Helper()
	_, line, found := strings.Cut(said, behind)
	line, _, _ = strings.Cut(strings.TrimLeft(line, "\n "), "\n")
	if !found || !strings.HasPrefix(line, "tabard ") {
		c.Fatalf("it says no command behind %q:\n%s", behind, said)
	}
	shell := exec.CommandContext(c.Context(), "/bin/sh", "-c", line+more)
	shell.Env = append(slices.Clone(environment), "PATH="+filepath.Dir(testkit.Tabard(c)))
	out, err := shell.CombinedOutput()
	if err != nil {
		c.Fatalf("%s: %v: %s", line, err, out)
	}
	return string(out)
}

func (p person) told() map[string]string {
	p.Helper()
	config := &corev1.ConfigMap{}
	must.Do(p, client.IgnoreNotFound(p.Get(p.Context(), client.ObjectKey{Namespace: system, Name: hub.ControllerName}, config)))
	return config.Data
}

func (p person) role(name string) (trust string, there bool) {
	p.Helper()
	out, err := p.aws.IAM(account).GetRole(p.Context(), &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return "", false
	}
	return aws.ToString(out.Role.AssumeRolePolicyDocument), true
}

// TestBootstrapMakesTheProgramsRole has a person make the role, and the program give a cluster its
// access with nothing but what the ConfigMap tells it. Then the person takes the role back.
func TestBootstrapMakesTheProgramsRole(t *testing.T) {
	w := newWorld(t)
	p := newPerson(w)
	name := hub.ControllerRoleName(must.Get(hub.ParseARN(hubARN))(t))
	p.want("", "this was a dry run", "bootstrap", "--dry-run")
	if _, there := p.role(name); there || p.told() != nil {
		t.Fatalf("a dry run made the role or told %v", p.told())
	}
	p.want("CreateRole PutRolePolicy", "role "+roleARN(name)+" for ServiceAccount tabard-system/tabard-hub: written", "bootstrap")
	p.want("", "tells the controller its role: unchanged", "bootstrap")
	told := p.told()
	if len(told) != 3 || told["roleARN"] != roleARN(name) || told["region"] != "us-west-2" || told["hubARN"] != hubARN {
		t.Fatalf("the controller is told %v", told)
	}
	w.aws.Must(w.aws.IAM(account).DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: aws.String(hub.ControllerPolicyName)}))
	p.want("PutRolePolicy", "~ role", "bootstrap")

	w.environment = []string{
		"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Path("ca.crt"), "AWS_REGION=" + told["region"], "AWS_ROLE_ARN=" + told["roleARN"],
		"AWS_WEB_IDENTITY_TOKEN_FILE=" + w.aws.Write("token", w.Token(system, hub.ControllerName, time.Hour, audience)),
	}
	w.join(0, 1)
	process := w.start("--hubaccess-managed-iam=On")
	w.ready(core.ReasonAccessGiven, 1)
	if _, there := p.role(hub.RoleName(suffix(t, 0))); !there || len(w.aws.Admin().Clusters()[0].AccessEntries) != 1 {
		t.Errorf("the cluster has no role, or not one entry: %+v", w.aws.Admin().Clusters())
	}
	process.End()

	p.want("", "! HubAccess cluster-0: the role "+roleARN(hub.RoleName(suffix(t, 0))), "unbootstrap", "--dry-run")
	p.want("DeleteRolePolicy DeleteRole", "left in AWS", "unbootstrap", "--yes")
	if _, there := p.role(name); there || p.told() != nil {
		t.Errorf("the role is there still, or the ConfigMap says %v", p.told())
	}
	if _, there := p.role(hub.RoleName(suffix(t, 0))); !there {
		t.Error("the role of a cluster went with that of the controller")
	}
	p.want("", "nothing to do", "unbootstrap", "--yes")
}

// TestBootstrapLeavesWhatIsNotItsOwn: a role of the wanted name that people made, or another hub's
// controller has.
func TestBootstrapLeavesWhatIsNotItsOwn(t *testing.T) {
	w := newWorld(t)
	p := newPerson(w)
	name := hub.ControllerRoleName(must.Get(hub.ParseARN(hubARN))(t))
	w.aws.Role(account, name, anybody, "")
	refused := func(command string, args ...string) {
		t.Helper()
		before, _ := p.role(name)
		said, code, writes := p.hub(command, args...)
		after, there := p.role(name)
		if code != 1 || len(writes) != 0 || !there || before != after || !strings.Contains(said, "was not made by Tabard for this hub") || p.told() != nil {
			t.Errorf("tabard hub %s: exit code %d, it wrote %v, told %v: %s", command, code, writes, p.told(), said)
		}
	}
	refused("bootstrap")
	refused("unbootstrap", "--yes")
	w.aws.Must(w.aws.IAM(account).TagRole(t.Context(), &iam.TagRoleInput{RoleName: &name, Tags: []iamtypes.Tag{{Key: aws.String(hub.ControllerTag), Value: aws.String(hubARN + "-2")}}}))
	refused("bootstrap")
	refused("unbootstrap", "--yes")

	if said, code, writes := p.hub("bootstrap", "--issuer", "https://other.example"); code != 1 || len(writes) != 0 || !strings.Contains(said, "create-open-id-connect-provider --url https://other.example") || !strings.Contains(said, "the cluster's tokens name") {
		t.Errorf("without a provider, exit code %d, it wrote %v: %s", code, writes, said)
	}
}

// TestBootstrapMakesTheRoleAsTheAccountDemands: AWS has the path, the boundary and the tags, and the
// controller is told the ARN with the path. A run without the flags changes nothing, and what
// takes it back finds the role.
func TestBootstrapMakesTheRoleAsTheAccountDemands(t *testing.T) {
	w := newWorld(t)
	p := newPerson(w)
	name := hub.ControllerRoleName(must.Get(hub.ParseARN(hubARN))(t))
	boundary := *must.Get(w.aws.IAM(account).CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("platform"), PolicyDocument: aws.String(hub.Permissions(must.Get(hub.ParseARN(hubARN))(t)).String())}))(t).Policy.Arn
	demanded := []string{"--role-path", "/platform/", "--permissions-boundary", boundary, "--tag", "cost-center=42"}
	p.want("CreateRole PutRolePolicy", "role "+roleARN("platform/"+name)+" for ServiceAccount", "bootstrap", demanded...)
	p.want("", "tells the controller its role: unchanged", "bootstrap", demanded...)
	p.want("", "tells the controller its role: unchanged", "bootstrap")
	p.want("TagRole", "~ role", "bootstrap", "--tag", "cost-center=43")
	made := must.Get(w.aws.IAM(account).GetRole(t.Context(), &iam.GetRoleInput{RoleName: &name}))(t).Role
	tags := map[string]string{}
	for _, tag := range made.Tags {
		tags[*tag.Key] = *tag.Value
	}
	if *made.Arn != p.told()["roleARN"] || *made.PermissionsBoundary.PermissionsBoundaryArn != boundary || len(tags) != 2 || tags["cost-center"] != "43" {
		t.Errorf("the role is %s with %v and the tags %v, and the controller is told %v", *made.Arn, made.PermissionsBoundary, tags, p.told())
	}
	said, _, _ := p.hub("bootstrap")
	back := typesWhat(w.Cluster, p.environment, said, "to undo all of it later:", " --yes")
	if _, there := p.role(name); there || p.told() != nil {
		t.Errorf("the role is there still, or the ConfigMap says %v", p.told())
	}
	typesWhat(w.Cluster, p.environment, back, "to undo: ", "")
	again := must.Get(w.aws.IAM(account).GetRole(t.Context(), &iam.GetRoleInput{RoleName: &name}))(t).Role
	if *again.Arn != *made.Arn || *again.PermissionsBoundary.PermissionsBoundaryArn != boundary || len(again.Tags) != 2 || p.told()["roleARN"] != *made.Arn {
		t.Errorf("after the undo of the undo the role is %s with %v and the tags %v, and the controller is told %v", *again.Arn, again.PermissionsBoundary, again.Tags, p.told())
	}
}

// TestCommandLineMakesTheRoleThatIsPrinted: another team runs the script, and bootstrap finds
// nothing to change but the ConfigMap.
func TestCommandLineMakesTheRoleThatIsPrinted(t *testing.T) {
	w := newWorld(t)
	p := newPerson(w)
	script, code, writes := p.hub("bootstrap", "--print", "aws")
	if code != 0 || len(writes) != 0 {
		t.Fatalf("exit code %d, it wrote %v: %s", code, writes, script)
	}
	shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	shell.Env = append(slices.Clone(p.environment), "PATH="+os.Getenv("PATH"), "AWS_PAGER=", "AWS_DEFAULT_REGION=eu-central-1")
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.want("", "ConfigMap tabard-system/tabard-hub tells the controller its role: written", "bootstrap")
	p.want("DeleteRolePolicy DeleteRole", "deleted", "unbootstrap", "--yes")
}
