package olm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// fromTheHandoffToTheUpgrade: the owner of the account makes the role by the hand-off's script, the
// operator is installed with it and becomes it, its next version is refused until the script of that
// version's hand-off has extended the role, and then installed.
func (c *cluster) fromTheHandoffToTheUpgrade() {
	arn := c.handOff(ns, "1.0.0")
	install := []string{"operators", "install", "token-operator", "-n", ns, "--version", "1.0.0", "--catalogue", c.file(), "--source", "olm/vendor", "--role-arn", arn, "--wait", "--timeout", "4m"}
	says(c.T, c.Bed.Run(install...), "token-operator.v1.0.0: Satisfied", "+ Subscription  team-a/token-operator", "token-operator.v1.0.0 is installed")
	says(c.T, c.Bed.Run(install...), "= Subscription  team-a/token-operator", "token-operator.v1.0.0 is installed")
	c.becomes(arn)
	// OLM plans the next version some seconds later.
	c.awaits("token-operator.v1.1.0", "{.status.currentCSV}", "subscription.operators.coreos.com", "token-operator", "-n", ns)
	c.awaits("RequiresApproval", "{.status.phase}", "installplan", c.plan("token-operator.v1.1.0"), "-n", ns)
	says(c.T, c.Bed.Run("operators", "status", "token-operator", "-n", ns), "10/10 done", "An upgrade to token-operator.v1.1.0 waits")

	c.noted(ns, c.plan("token-operator.v1.1.0"), operator.VerdictMissing, operator.ReasonMissing)

	// The plan of the next version was made at once, and was left alone.
	says(c.T, c.refused("operators", "approve", "token-operator", "-n", ns), "s3:ListAllMyBuckets", "the role is not enough", "missing=sha256:")
	c.awaits("false", "{.spec.approved}", "installplan", c.plan("token-operator.v1.1.0"), "-n", ns)
	// With the page's policy nobody approves it by another way.
	for range 2 {
		c.Shell(c.Root, "kubectl apply -f config/operators/approval-policy.yaml")
	}
	c.Eventually("the policy refuses a careless click", func(ctx context.Context) error {
		said, err := c.Lab.Kubectl(ctx, "patch", "installplan", c.plan("token-operator.v1.1.0"), "-n", ns, "--type=merge", "--dry-run=server", "-p", `{"spec":{"approved":true}}`)
		if err == nil || !strings.Contains(err.Error(), "tabard operators approve") {
			return fmt.Errorf("it said %q: %w", said, err)
		}
		return nil
	})
	if got := c.handOff(ns, "1.1.0"); got != arn {
		c.Errorf("the script of the next version's hand-off printed %s, want %s", got, arn)
	}
	says(c.T, c.Bed.Run("operators", "approve", "token-operator", "-n", ns, "--wait", "--timeout", "4m"), "Satisfied", "approved InstallPlan team-a/", "token-operator.v1.1.0 is installed")
	c.becomes(arn)
	says(c.T, c.Bed.Run("operators", "status", "-A"), "10/10 credentials")
}

// says fails the test for each text that is not in what was said.
func says(t *testing.T, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("it does not say %q:\n%s", text, said)
		}
	}
}

// refused runs tabard, which must end with exit code 1, and returns what it said on both streams.
func (c *cluster) refused(args ...string) string {
	c.Helper()
	return c.ends(1, args...)
}

// wrong runs tabard, which must find the command line wrong.
func (c *cluster) wrong(args ...string) string {
	c.Helper()
	return c.ends(2, args...)
}

func (c *cluster) ends(code int, args ...string) string {
	c.Helper()
	said, err := c.RunTabard(c.Context(), args...)
	refused, ok := errors.AsType[*onlab.RefusedError](err)
	if !ok || refused.Code != code {
		c.Fatalf("tabard %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, said)
	}
	return said + refused.Stderr
}

// becomes waits until the operator says of itself that it is a session of a role.
func (c *cluster) becomes(arn string) {
	c.Helper()
	c.becomesIn(ns, arn)
}

func (c *cluster) becomesIn(namespace, arn string) {
	c.Helper()
	c.awaits("True", `{.status.conditions[?(@.type=="Ready")].status}`, "whoami", "token-operator", "-n", namespace)
	says(c.T, c.Kubectl("get", "whoami", "token-operator", "-n", namespace, "-o", "jsonpath={.status.arn}"), ":assumed-role/"+arn[strings.LastIndex(arn, "/")+1:]+"/")
}

// plan is the InstallPlan of a version.
func (c *cluster) plan(csv string) string {
	c.Helper()
	return c.planIn(ns, csv)
}

func (c *cluster) planIn(namespace, csv string) string {
	c.Helper()
	for line := range strings.Lines(c.Kubectl("get", "installplans", "-n", namespace, "-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.clusterServiceVersionNames[*]}{"\n"}{end}`)) {
		if name, versions, _ := strings.Cut(strings.TrimSpace(line), " "); versions == csv {
			return name
		}
	}
	c.Fatalf("no InstallPlan is for %s", csv)
	return ""
}
