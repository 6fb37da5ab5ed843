// Package olm proves on a real Operator Lifecycle Manager, whose programs run as pods of the lab's
// node, what the commands of "tabard operators" do with one.
package olm

import (
	"path/filepath"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/consoletest"
)

// ns is the namespace of the operator that takes a role.
const ns = "team-a"

// TestOLM shares one cluster, which takes most of the time.
func TestOLM(t *testing.T) {
	c, images := open(t)
	c.inTokenMode()
	c.fulfils(ns, "arn:aws:iam::"+c.Account+":role/lab-team-a-*")
	c.knows()
	c.watches()
	t.Run("from the hand-off to the upgrade", func(t *testing.T) { c.For(t).fromTheHandoffToTheUpgrade() })
	t.Run("the newest version of the cluster's catalogue", func(t *testing.T) { c.For(t).theNewestVersion() })
	t.Run("the console's wizard", func(t *testing.T) { c.For(t).byTheConsole() })
	t.Run("a bundle that a Job unpacks", func(t *testing.T) { c.For(t).unpacksABundle(images) })
}

// For is the cluster for a subtest, which fails by itself.
func (c *cluster) For(t *testing.T) *cluster { return &cluster{Bed: c.Bed.For(t), T: t} }

// theNewestVersion is read from the cluster's PackageManifests, and installed without a role into a
// namespace that is not there yet.
func (c *cluster) theNewestVersion() {
	const other = "team-b"
	says(c.T, c.Bed.Run("operators", "list", "--cloud", "this", "--token-auth", "yes"), "token-operator", "1.1.0")
	says(c.T, c.wrong("operators", "install", "token-operator", "-n", other), "--without-role")
	c.Kubectl("create", "namespace", other)
	c.Kubectl("apply", "-n", other, "-f", filepath.Join(c.Dir, "manifests", "aws.yaml"))
	says(c.T, c.Bed.Run("operators", "install", "token-operator", "-n", other, "--without-role", "--wait", "--timeout", "4m"), "+ Subscription  team-b/token-operator", "token-operator.v1.1.0 is installed")
	c.awaits("true", `{.metadata.annotations.operators\.tabard\.dev/without-role}`, "subscription.operators.coreos.com", "token-operator", "-n", other)
	says(c.T, c.Bed.Run("operators", "status", "token-operator", "-n", other), "7/7 done")
}

// byTheConsole: a person installs it with its role in a browser, and it becomes that role.
func (c *cluster) byTheConsole() {
	const namespace = "team-console"
	c.fulfilsIn(namespace, "arn:aws:iam::"+c.Account+":role/lab-team-console-*")
	arn := c.handOff(namespace, "1.1.0")
	consoletest.Start(c.T, c.Environ()).Plays("install-on-olm", map[string]string{"operator": "Token operator", "arn": arn, "namespace": namespace})
	c.becomesIn(namespace, arn)
}
