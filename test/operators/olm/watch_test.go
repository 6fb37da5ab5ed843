package olm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// watches has the controller of plans run as the page tells, with a role that reads roles of the lab alone.
func (c *cluster) watches() {
	c.Helper()
	_, page, ok := strings.Cut(string(must.Get(os.ReadFile(filepath.Join(c.Root, "docs", "operators.md")))(c.T)), "\n## Have every plan checked\n")
	if !ok {
		c.Fatal("the page has no such part")
	}
	page, _, _ = strings.Cut(page, "\n## ")
	page = strings.NewReplacer("111122223333", c.Account, "/prod-", "/lab-").Replace(page)
	var blocks []string
	parts := strings.Split(page, "\n```")
	for i := 1; i < len(parts); i += 2 {
		_, block, _ := strings.Cut(parts[i], "\n")
		blocks = append(blocks, block)
	}
	if len(blocks) != 4 {
		c.Fatalf("the page has %d blocks, want a policy and three of commands", len(blocks))
	}
	trust := must.Get(onlab.Document(c.Lab.Trust(c.Account, system, "tabard-operators")))(c.T)
	dir := c.TempDir()
	for name, text := range map[string]string{"trust.json": trust, "roles.json": blocks[0]} {
		must.Do(c.T, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c.Shell(dir, blocks[1])
	for range 2 {
		c.Shell(c.Root, blocks[2])
		c.Shell(c.Root, blocks[3])
	}
	c.Kubectl("patch", "deployment", "tabard-operators", "-n", system, "--patch-file", filepath.Join(c.Dir, "manifests", "issuer-patch.yaml"))
	c.Kubectl("rollout", "status", "-n", system, "deployment/tabard-operators", "--timeout=180s")
}

// noted waits until the controller has noted a verdict on a plan, and an event of a Subscription says it.
func (c *cluster) noted(namespace, plan string, want operator.Verdict, reason string) {
	c.Helper()
	c.Eventually(fmt.Sprintf("the controller notes %s on %s/%s", want, namespace, plan), func(ctx context.Context) error {
		said, err := c.Lab.Kubectl(ctx, "get", "installplan", plan, "-n", namespace, "-o", `jsonpath={.metadata.annotations.operators\.tabard\.dev/permission-check}`)
		if err != nil {
			return err
		}
		if got, err := operator.ParseChecked(said); err != nil || got.Verdict != want {
			return fmt.Errorf("it is %q: %w", said, err)
		}
		return nil
	})
	says(c.T, c.Kubectl("get", "events.events.k8s.io", "-n", namespace, "--field-selector", "reason="+reason, "-o", "jsonpath={.items[*].note}"), plan+" waits for an approval")
}
