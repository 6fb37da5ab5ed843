// Package olm proves on a real Operator Lifecycle Manager, whose programs run as pods of the lab's
// node, what the commands of "tabard operators" do with one.
package olm

import (
	"path/filepath"
	"testing"
)

const ns = "team-a"

func TestOLMInstallsAnOperator(t *testing.T) {
	c := open(t)
	c.Kubectl("create", "namespace", ns)
	c.Kubectl("apply", "-n", ns, "-f", filepath.Join(c.Dir, "manifests", "aws.yaml"))
	c.apply(`
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: own, namespace: ` + ns + `}
spec: {targetNamespaces: [` + ns + `]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: token-operator, namespace: ` + ns + `}
spec: {name: token-operator, channel: stable, source: vendor, sourceNamespace: olm}
`)
	c.awaits("Succeeded", "{.status.phase}", "csv", "token-operator.v1.1.0", "-n", ns)
	c.awaits("True", `{.status.conditions[?(@.type=="Available")].status}`, "deployment", "token-operator", "-n", ns)
}
