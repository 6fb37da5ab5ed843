package authors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestCommandLineScenario23TheOperatorBecomesTheRoleOfItsHandoff: the owner of the account runs the
// script twice with the AWS command line, the role that it prints is enough, and the operator
// becomes it by its pod's token.
func TestCommandLineScenario23TheOperatorBecomesTheRoleOfItsHandoff(t *testing.T) {
	w := newWorld(t)
	w.apply("")
	w.serveCluster()
	w.serveRequests()
	w.describe("AWS", "Manual")
	dir := filepath.Join(w.dir, "out")
	w.operators(0, "handoff", "token-operator", "--version=1.0.0", "--catalogue", "../../../examples/token-operator/catalog.json",
		"-n", name, "--account", account, "--output-dir", dir)

	// Without the OIDC provider the script makes nothing.
	if said, err := w.script(dir); err == nil || !strings.Contains(said, "nothing was made") {
		t.Errorf("without a provider the script said %v: %s", err, said)
	}
	w.register()
	var arn string
	for range 2 {
		said, err := w.script(dir)
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		lines := strings.Fields(said)
		arn = lines[len(lines)-1]
	}
	if want := "arn:aws:iam::" + account + ":role/prod-x7k2p-token-operator-token-operator"; arn != want {
		t.Fatalf("the script printed %s, want %s", arn, want)
	}
	if said := w.operators(0, "check", "--request", dir, "--role-arn", arn); !strings.Contains(said, "Satisfied") {
		t.Error(said)
	}
	// What the next version asks for, it does not have.
	next := filepath.Join(w.dir, "next")
	w.operators(0, "handoff", "token-operator", "--version=1.1.0", "--catalogue", "../../../examples/token-operator/catalog.json",
		"-n", name, "--account", account, "--output-dir", next)
	if said := w.operators(1, "check", "--request", next, "--role-arn", arn); !strings.Contains(said, "Missing") || !strings.Contains(said, "s3:ListAllMyBuckets") {
		t.Error(said)
	}

	w.install()
	w.allow(arn)
	w.bindSecrets()
	controller := w.fulfil()
	p := w.start(arn)
	w.awaitCondition("Assumed", "this operator is arn:aws:sts::"+account+":assumed-role/prod-x7k2p-token-operator-token-operator/pod")
	p.End()
	controller.End()
}

// asAdministrator is the environment of whoever owns the account and the cluster.
func (w *world) asAdministrator() []string {
	w.Helper()
	if w.session == nil {
		key := w.aws.Administrator(account)
		w.session = append(w.inAWS(), "HOME="+w.dir, "KUBECONFIG="+w.Kubeconfig(w.Config),
			"AWS_REGION="+region, "AWS_ACCESS_KEY_ID="+key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+key.SecretAccessKey)
	}
	return w.session
}

// operators runs "tabard operators" and wants an exit code.
func (w *world) operators(code int, args ...string) (said string) {
	w.Helper()
	command := exec.CommandContext(w.Context(), testkit.Tabard(w), append([]string{"operators"}, args...)...)
	command.Env = w.asAdministrator()
	out, err := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); got != code {
		w.Fatalf("tabard operators %s: exit code %d, want %d: %v\n%s", strings.Join(args, " "), got, code, err, out)
	}
	return string(out)
}

// script runs the script of a hand-off.
func (w *world) script(dir string) (said string, err error) {
	w.Helper()
	command := exec.CommandContext(w.Context(), "/bin/sh", filepath.Join(dir, "aws.sh"))
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "AWS_PAGER=", "AWS_DEFAULT_REGION=" + region}, w.asAdministrator()...)
	out, err := command.CombinedOutput()
	return string(out), err
}
