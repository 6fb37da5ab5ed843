package issuer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
	"github.com/tabard-dev/tabard/test/e2e"
)

// The blocks of docs/moving-an-issuer.md, in their order.
const (
	seeIssuer = iota
	initNew
	publishFirst
	publishBeside
	signForNew
	deleteOld
	removeOld
	goBack
	allBlocks
)

// move is a lab whose issuer is moved as the page says it.
type move struct {
	scenario
	blocks    []string
	old, new  string // URLs
	folder    string // has issuer.yaml and new.yaml
	arguments []string
	apiServer *testkit.Process // what setIssuers has started; nil for the lab's own
	operator  bool             // it runs
}

func startMove(t *testing.T, upTo int) *move {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "moving-an-issuer.md")))(t)
	m := &move{blocks: testkit.Blocks(string(text), "sh"), folder: t.TempDir()}
	if len(m.blocks) != allBlocks {
		t.Fatalf("the page has %d blocks of commands, the test knows %d", len(m.blocks), allBlocks)
	}
	m.scenario = open(t, upTo)
	m.operator = upTo >= afterOperator
	bucket := m.Env["TABARD_ISSUER_BUCKET"]
	m.old = m.Env["TABARD_ISSUER_URL"]
	m.new = strings.ReplaceAll(m.old, bucket, bucket+"-new")
	must.Do(t, os.WriteFile(filepath.Join(m.folder, "issuer.yaml"), must.Get(os.ReadFile(m.IssuerManifest()))(t), 0o600))
	return m
}

// types runs a block of the page as its reader does, line by line and then all of it again. When
// the operator's role has changed its process is replaced, which is the Deployment's work.
func (m *move) types(block int) (said string) {
	m.Helper()
	for range 2 {
		for line := range strings.Lines(m.blocks[block]) {
			said += m.runLine(line)
			if m.operator && strings.Contains(line, "issuer bootstrap") {
				m.stopOperator()
				m.startOperator()
			}
		}
	}
	return said
}

func (m *move) runLine(line string) string {
	m.Helper()
	bucket := m.Env["TABARD_ISSUER_BUCKET"]
	for page, here := range map[string]string{
		"oidcissuer cluster":    "oidcissuer " + e2e.IssuerName,
		"oidcissuer/cluster":    "oidcissuer/" + e2e.IssuerName,
		"--region eu-central-1": "--region " + m.Env["AWS_REGION"],
		"--name new --region":   "--name new --bucket " + bucket + "-new --url " + m.new + " --region",
		"-f ":                   "-f " + m.folder + "/",
		"https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com": m.old,
	} {
		line = strings.ReplaceAll(line, page, here)
	}
	return m.follow(line, "")
}

// setIssuers starts the lab's API server anew with other issuers: it signs for the first.
func (m *move) setIssuers(issuers ...string) {
	m.Helper()
	const flag = "--service-account-issuer="
	if m.apiServer == nil {
		status := must.Get(m.Status(m.Context()))(m)
		text := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", must.Get(status.PID("kube-apiserver"))(m))))(m)
		m.arguments = strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
		m.must("", m.Stop(m.Context(), "kube-apiserver"))
	} else {
		m.apiServer.Kill()
	}
	args := slices.DeleteFunc(slices.Clone(m.arguments), func(a string) bool { return strings.HasPrefix(a, flag) })
	for _, issuer := range issuers {
		args = append(args, flag+issuer)
	}
	m.apiServer = testkit.StartProcess(m, exec.CommandContext(context.WithoutCancel(m.Context()), args[0], args[1:]...))
	m.must("", onlab.Eventually(m.Context(), testkit.Patience, func(ctx context.Context) error {
		_, err := m.Kubectl(ctx, "get", "--raw", "/readyz")
		return err
	}))
}

// says waits until a condition of an OIDCIssuer has a reason.
func (m *move) says(name, condition string, reason core.Reason) {
	m.Helper()
	m.must(m.Kubectl(m.Context(), "wait", "oidcissuer/"+name, "--timeout=2m",
		fmt.Sprintf(`--for=jsonpath={.status.conditions[?(@.type=="%s")].reason}=%s`, condition, reason)))
}

// TestCommandLineTheMovingPage types the page's commands where the cluster has an OIDCIssuer: to
// the new issuer, back, and to the new one for good.
func TestCommandLineTheMovingPage(t *testing.T) {
	m := startMove(t, afterOperator)
	if got := m.types(seeIssuer); !strings.Contains(got, `"issuer":"`+m.old+`"`) {
		t.Fatalf("the cluster's issuer is not %s: %s", m.old, got)
	}
	for _, last := range []bool{false, true} {
		m.types(initNew)
		m.types(publishBeside)
		m.wantSaid(1, "OK OK Failed it names the issuer", "verify", "new")
		m.says("new", core.TypeReady, core.ReasonIssuerMismatch)
		m.says("new", core.TypePublished, core.ReasonAccessDenied)
		m.ready()

		m.setIssuers(m.old, m.new)
		m.wantSaid(0, "it verifies", "verify", e2e.IssuerName)
		m.setIssuers(m.new, m.old)
		m.types(signForNew)
		m.says(e2e.IssuerName, core.TypeReady, core.ReasonIssuerMismatch)
		m.wantSaid(0, "OK OK", "verify", m.old)
		if last {
			break
		}
		m.setIssuers(m.old, m.new)
		m.types(goBack)
		m.ready()
	}
	m.types(deleteOld)
	m.wantSaid(0, "OK OK", "verify", m.old)
	m.setIssuers(m.new)
	m.wantProviders(2)
	m.types(removeOld)
	m.wantProviders(1)
	m.says("new", core.TypeReady, core.ReasonVerified)
}

// TestCommandLineAMoveFromAnIssuerOfOthers types them where it has none.
func TestCommandLineAMoveFromAnIssuerOfOthers(t *testing.T) {
	m := startMove(t, afterBootstrap-1)
	m.install()
	m.types(initNew)
	m.types(publishFirst)
	m.startOperator()
	m.operator = true
	m.says("new", core.TypeReady, core.ReasonIssuerMismatch)
	m.says("new", core.TypePublished, core.ReasonNotAuthenticated)

	// bootstrap says which issuer an API server still names.
	m.wantSaid(1, "the cluster's tokens name the issuer "+m.old, "bootstrap", "-f", filepath.Join(m.folder, "new.yaml"), "--replace-role")
	m.setIssuers(m.new, m.old)
	m.types(signForNew)
}
