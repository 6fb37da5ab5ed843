package olm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	system = "tabard-system"
	region = "us-east-1"
)

// inTokenMode gives the cluster the three objects by which OpenShift says that operators take roles by
// tokens.
func (c *cluster) inTokenMode() {
	c.Helper()
	c.apply(`
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
spec: {platformSpec: {type: AWS}}
---
apiVersion: operator.openshift.io/v1
kind: CloudCredential
metadata: {name: cluster}
spec: {credentialsMode: Manual, managementState: Managed}
---
apiVersion: config.openshift.io/v1
kind: Authentication
metadata: {name: cluster}
spec: {serviceAccountIssuer: "` + c.Env["TABARD_ISSUER_URL"] + `"}
`)
	status := fmt.Sprintf(`{"status":{"infrastructureName":"lab","infrastructureTopology":"SingleReplica","controlPlaneTopology":"SingleReplica","apiServerURL":"","apiServerInternalURI":"","etcdDiscoveryDomain":"",`+
		`"platform":"AWS","platformStatus":{"type":"AWS","aws":{"region":%q,"serviceEndpoints":[{"name":"sts","url":%q}]}}}}`, region, c.Env["AWS_ENDPOINT_URL"])
	c.Kubectl("patch", "infrastructure", "cluster", "--subresource=status", "--type=merge", "-p", status)
}

// fulfils lets Tabard fulfil the CredentialsRequests of a namespace, for roles of a name.
func (c *cluster) fulfils(namespace, pattern string) {
	c.Helper()
	c.Kubectl("apply", "-f", filepath.Join(c.Root, "config", "manifests", "credentials"))
	c.Kubectl("patch", "deployment", "tabard-credentials", "-n", system, "--patch-file", filepath.Join(c.Dir, "manifests", "issuer-patch.yaml"))
	c.Bed.Run("credentials", "bootstrap", "--infrastructure-name", "lab")
	c.Kubectl("rollout", "status", "-n", system, "deployment/tabard-credentials", "--timeout=180s")
	c.fulfilsIn(namespace, pattern)
}

// fulfilsIn makes one more namespace whose CredentialsRequests Tabard fulfils.
func (c *cluster) fulfilsIn(namespace, pattern string) {
	c.Helper()
	c.Kubectl("create", "namespace", namespace)
	c.Kubectl("apply", "-n", namespace, "-f", filepath.Join(c.Dir, "manifests", "aws.yaml"))
	c.Kubectl("create", "rolebinding", "-n", namespace, "tabard-credentials-secrets", "--clusterrole=tabard-credentials-secrets", "--serviceaccount="+system+":tabard-credentials")
	c.apply(`
apiVersion: identity.tabard.dev/v1alpha1
kind: CredentialsBoundary
metadata: {name: ` + namespace + `}
spec:
  namespaces: [` + namespace + `]
  aws: {roleARNPatterns: ["` + pattern + `"]}
`)
}

// knows has the issuer's provider in AWS know the audience of OpenShift's operators.
func (c *cluster) knows() {
	c.Helper()
	c.Kubectl("patch", "oidcissuer", "lab", "--type=merge", "-p", `{"spec":{"providers":[{"audiences":["sts.amazonaws.com","openshift"]}]}}`)
	c.Shell(c.Dir, `until aws iam get-open-id-connect-provider --open-id-connect-provider-arn `+c.ProviderARN(c.Account)+` | grep -q openshift; do sleep 1; done`)
}

// file is the catalogue as a file, which tells of all versions: a PackageManifest tells of the newest.
func (c *cluster) file() string {
	c.Helper()
	path := filepath.Join(c.TempDir(), "catalog.json")
	must.Do(c.T, os.WriteFile(path, c.catalogue([]string{"1.0.0", "1.1.0"}, nil), 0o600))
	return path
}

// handOff has the owner of the account make, or mend, the role of a version by the script of its
// hand-off, and returns its ARN.
func (c *cluster) handOff(namespace, version string) string {
	c.Helper()
	dir := filepath.Join(c.TempDir(), "out")
	c.Bed.Run("operators", "handoff", "token-operator", "--catalogue", c.file(), "--version", version, "-n", namespace, "--cluster-name", "lab", "--account", c.Account, "--output-dir", dir)
	said := strings.Fields(c.Shell(dir, "AWS_PAGER= sh ./aws.sh"))
	return said[len(said)-1]
}
