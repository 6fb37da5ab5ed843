package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/lab/scenario"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// stage is a lab in which scenarios are played.
type stage struct {
	*testing.T
	*Story
	// bin has kubectl and tabard.
	bin string
}

// openStage tells the story until a pod becomes its role.
func openStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, Story: must.Get(Programs(root, t.TempDir(), t.Output()))(t), bin: t.TempDir()}
	t.Cleanup(func() {
		if err := s.Down(context.WithoutCancel(t.Context()), false); err != nil {
			t.Errorf("take the lab down: %v", err)
		}
	})
	for i, step := range Steps()[:7] {
		must.Do(t, s.take(t.Context(), i+1, step))
	}
	kubectl := fmt.Sprintf("#!/bin/sh\nexec %s kubectl \"$@\"\n", must.Get(filepath.Abs(s.Localkube))(t))
	must.Do(t, os.WriteFile(filepath.Join(s.bin, "kubectl"), []byte(kubectl), 0o755)) //nolint:gosec // it is a program
	must.Do(t, os.Symlink(must.Get(filepath.Abs(s.Tabard))(t), filepath.Join(s.bin, "tabard")))
	return s
}

// sh types a command in a shell of the administrator's, and returns what it printed and its exit code.
func (s *stage) sh(command string) (string, int, error) {
	env := []string{"PATH=" + s.bin + ":" + os.Getenv("PATH")}
	for name, value := range s.Env {
		if name != "PATH" {
			env = append(env, name+"="+value)
		}
	}
	out, err := s.Exec(s.Context(), env, "bash", "-euo", "pipefail", "-c", command)
	if refused, is := errors.AsType[*onlab.RefusedError](err); is {
		return out, refused.Code, err
	}
	return out, 0, err
}

// printed is the command that a scenario prints behind a word.
func printed(out, before string) string {
	_, rest, _ := strings.Cut(out, before)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// explained types the command, and returns its report. The error is that of a pod that is not there.
func (s *stage) explained(command string) (r chain.Report, code int, err error) {
	out, code, err := s.sh(command + " -o json")
	if decoded := json.Unmarshal([]byte(out), &r); decoded != nil {
		return r, code, errors.Join(err, decoded)
	}
	return r, code, nil
}

// TestCommandLineExplainFindsWhatIsBrokenAndMendsIt plays all scenarios. What is printed is typed: by
// bash, kubectl and the AWS command line.
func TestCommandLineExplainFindsWhatIsBrokenAndMendsIt(t *testing.T) {
	t.Parallel()
	s := openStage(t)
	s.typesThePage()
	before := s.shared()
	for _, each := range scenario.All() {
		if !t.Run(each.Name, func(t *testing.T) { (&stage{t, s.Story, s.bin}).mends(each) }) {
			return // the next one may fail by what this one left
		}
	}
	if _, _, err := s.sh("tabard lab scenario end"); err != nil {
		t.Error(err)
	}
	for _, left := range []string{"kubectl get namespace " + scenario.Namespace, "aws iam get-role --role-name " + scenario.RoleName, "aws iam get-role --role-name " + scenario.NodeRoleName, "tabard lab scenario call"} {
		if out, code, _ := s.sh(left); code == 0 {
			t.Errorf("when it is ended, %s prints %s", left, out)
		}
	}
	if diff := cmp.Diff(before, s.shared()); diff != "" {
		t.Errorf("what scenarios change is not put back (-before +after):\n%s", diff)
	}
	must.Get(s.injectedPod(t.Context(), team, podName, account))(t)
	must.Do(t, s.runPod(t.Context()))
}

// shared is what scenarios change beside their own workload: the OIDC provider, the webhook's selectors,
// and the issuer's keys.
func (s *stage) shared() string {
	s.Helper()
	out, _, err := s.sh("aws iam get-open-id-connect-provider --open-id-connect-provider-arn " + s.ProviderARN(s.AccountID) + " --query '[Url,ClientIDList,ThumbprintList,Tags]'\n" +
		"kubectl get mutatingwebhookconfiguration tabard-webhook -o jsonpath='{.webhooks[*].namespaceSelector}'\n" +
		"aws s3 cp s3://" + s.Env["TABARD_ISSUER_BUCKET"] + "/keys.json -")
	must.Do(s.T, err)
	return out
}

// typesThePage types what docs/explain.md and the help have for a shell, twice.
func (s *stage) typesThePage() {
	help, _, err := s.sh("tabard lab scenario --help")
	must.Do(s.T, err)
	commands := testkit.Examples(help)
	for _, block := range testkit.Blocks(string(must.Get(os.ReadFile(filepath.Join(root, "docs", "explain.md")))(s.T)), "sh") {
		if strings.HasPrefix(block, "tabard lab ") {
			commands = append(commands, strings.Split(block, "\n")...)
		}
	}
	if len(commands) != 5 {
		s.Fatalf("the page and the help have %q", commands)
	}
	for range 2 {
		for _, command := range commands {
			must.Get(func() (string, error) { out, _, err := s.sh(command); return out, err }())(s.T)
		}
	}
}

// mends plays a scenario. The first finding is the planted one, its commands are typed as they are
// printed, and the workload becomes its role.
func (s *stage) mends(each scenario.Scenario) {
	out, _, err := s.sh("tabard lab scenario " + each.Name)
	must.Do(s.T, err)
	s.Log(out)
	explain := printed(out, "Find out why:")
	if _, code, _ := s.sh("tabard lab scenario call"); code != 1 {
		s.Errorf("before it is mended, the call ends with the exit code %d", code)
	}
	var r chain.Report
	must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error { // the webhook sees a change a moment later
		var code int
		if r, code, err = s.explained(explain); r.First == nil || r.First.Code != each.Code || code != 1 {
			return fmt.Errorf("%s: exit code %d, the first finding is %+v, want %s: %w", explain, code, r.First, each.Code, err)
		}
		return nil
	}))
	for _, command := range r.First.Mend {
		command = strings.NewReplacer("=ROLE_ARN", "="+strings.TrimSuffix(s.role, RoleName)+scenario.RoleName, " -f FILE", " -f "+s.IssuerManifest()).Replace(command) // what a person fills in
		s.Logf("$ %s", command)
		if _, _, err := s.sh(command); err != nil {
			s.Fatalf("the command that mends it: %v", err)
		}
	}
	must.Do(s.T, onlab.Eventually(s.Context(), onlab.Patience, func(context.Context) error {
		if _, code, err := s.sh("tabard lab scenario call"); code != 0 || err != nil {
			return fmt.Errorf("when it is mended, the call ends with the exit code %d: %w", code, err)
		}
		pod, _, err := s.sh("kubectl -n " + scenario.Namespace + " get pods --sort-by=.metadata.creationTimestamp -o jsonpath='{.items[-1:].metadata.name}'")
		if err != nil {
			return err
		}
		r, code, err := s.explained("tabard explain pod " + pod + " -n " + scenario.Namespace + " " + each.Flags)
		anew := each.Code == chain.CodeNoRoleInAWS && r.First != nil && r.First.Code == chain.CodeNoPolicy // a role that was made has no policy yet
		if code != 0 && !anew {
			return fmt.Errorf("when it is mended, the exit code is %d, and the first finding %+v: %w", code, r.First, err)
		}
		return err
	}))
}
