package capacity

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// testOnOpenShift runs the program on a cluster that can move machines between
// the two machine APIs, and that has endpoints and certificates of its own. These
// are the whole cluster's, so one test comes after the other.
func testOnOpenShift(t *testing.T, c *cluster) {
	c.InstallForeign(t, testkit.MachineAPIMigration, testkit.OpenShiftConfig)
	c.ServeOnly(t, "v1beta1")
	s := c.webSite(t, "team", "us-west-2")
	process := s.start(t)
	t.Run("a MachineSet is left alone while the Machine API has no authority", s.testAuthority)
	t.Run("a template of another namespace is not read", s.testForeignTemplate)
	process.End()
	t.Run("endpoints and certificates are followed", func(t *testing.T) { testInfrastructure(t, c) })
}

func (s *site) setAuthority(t *testing.T, set *unstructured.Unstructured, authority string) {
	t.Helper()
	s.In(t).MergeStatus(set, fmt.Sprintf(`{"status":{"authoritativeAPI":%q}}`, authority))
}

// testAuthority: the schema says that there is authority, so it counts.
func (s *site) testAuthority(t *testing.T) {
	set := s.set(t, "workers", "m5.large", "us-west-2")
	rest := func() {
		t.Helper()
		marker := s.set(t, "marker-"+s.reread(t, set).GetResourceVersion(), "m5.large", "us-west-2")
		s.setAuthority(t, marker, "MachineAPI")
		s.awaitAnnotations(t, marker, m5large())
	}
	rest()
	s.checkAnnotations(t, set, map[string]string{}) // nobody has decided yet
	s.setAuthority(t, set, "MachineAPI")
	s.awaitAnnotations(t, set, m5large())
	for _, authority := range []string{"Migrating", "ClusterAPI", "Migrating"} {
		s.setAuthority(t, set, authority)
		s.become(t, set, "m6g.4xlarge", "us-west-2")
		rest()
		s.checkAnnotations(t, set, m5large())
	}
	paused := `{"status":{"authoritativeAPI":"MachineAPI","conditions":[{"type":"Paused","status":%q,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	s.In(t).MergeStatus(set, fmt.Sprintf(paused, "True"))
	rest()
	s.checkAnnotations(t, set, m5large())
	s.In(t).MergeStatus(set, fmt.Sprintf(paused, "False"))
	s.awaitAnnotations(t, set, m6g4xlarge())
}

// testForeignTemplate: the references of v1beta1 can name a namespace.
func (s *site) testForeignTemplate(t *testing.T) {
	other := &site{cluster: s.cluster, namespace: "other-team"}
	s.In(t).MakeNamespaces(other.namespace)
	s.In(t).Make(other.template(t, "theirs", "m5.large"), s.template(t, "ours", "m5.large"))
	for name, told := range map[string]string{
		"{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachineTemplate, name: theirs, namespace: other-team}": "Warning FailedUpdate: " +
			"Failed to resolve AWSMachineTemplate: infrastructureRef names AWSMachineTemplate other-team/theirs; it must be in the namespace team of the machineDeployment",
		"{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachineTemplate, name: ours, namespace: team}": "Normal CapacityAnnotated: " +
			"Set autoscaling from zero annotations: m5.large in us-west-2 has 2 vCPU, 8192 MiB, 0 GPU, amd64",
	} {
		deployment := s.parse(t, `
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {generateName: workers-, annotations: {capa.infrastructure.cluster.x-k8s.io/region: us-west-2}}
spec:
  clusterName: workers
  selector: {matchLabels: {set: a}}
  template:
    metadata: {labels: {set: a}}
    spec: {clusterName: workers, bootstrap: {dataSecretName: none}, infrastructureRef: %s}
`, name)
		s.In(t).Make(deployment)
		s.awaitEvent(t, deployment, told)
	}
}

// describe makes the Infrastructure say where AWS's services are.
func (c *cluster) describe(t *testing.T, infrastructure *unstructured.Unstructured, url string) {
	t.Helper()
	c.In(t).MergeStatus(infrastructure, fmt.Sprintf(`{"status":{"platformStatus":{"type":"AWS","aws":{"region":"us-west-2",
		"serviceEndpoints":[{"name":"ec2","url":%q},{"name":"sts","url":%q}]}}}}`, url, url))
}

// trust puts a bundle where OpenShift keeps that of private endpoints.
func (c *cluster) trust(t *testing.T, bundle string) {
	t.Helper()
	must.Do(t, c.Update(t.Context(), cloudConfig(bundle)))
}

func cloudConfig(bundle string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config-managed", Name: "kube-cloud-config"},
		Data:       map[string]string{"ca-bundle.pem": bundle},
	}
}

// testInfrastructure: region, endpoints and certificates come from the cluster
// alone, and each change counts without a restart. That machines could move does
// not count, by the feature gate.
func testInfrastructure(t *testing.T, c *cluster) {
	s, next := c.webSite(t, "infrastructure", "us-west-2"), c.webSite(t, "next", "us-west-2")
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_CA_BUNDLE", "AWS_REGION"} {
		delete(s.env, name)
	}
	first, second := s.front.newCertificate(t), next.front.newCertificate(t)
	infrastructure := s.parse(t, "{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, spec: {platformSpec: {type: AWS}}}")
	infrastructure.SetNamespace("")
	s.In(t).Make(infrastructure, cloudConfig(string(first)))
	c.describe(t, infrastructure, s.front.URL)
	p := s.start(t, "--feature-gates=MachineAPIMigration=false")
	set := s.machines(t, "workers", "", "{kind: AWSMachineProviderConfig, instanceType: m5.large}")
	s.In(t).Make(set)
	s.awaitAnnotations(t, set, m5large())
	s.checkCallers(t, byRole, "sts by anonymous")

	// The endpoint's authority is replaced, first where it is used.
	renewed := s.front.newCertificate(t)
	s.become(t, set, "m6g.4xlarge", "eu-central-1")
	// Where no region is the process's own, each has its own exchange.
	s.awaitEvent(t, set, silent+exchange+"the endpoint's certificate is signed by an unknown authority; add that authority to ca-bundle.pem "+
		"of the ConfigMap openshift-config-managed/kube-cloud-config")
	s.checkAnnotations(t, set, m5large())

	// A bundle that holds nothing is told, and mended. While the MachineSet waits, it
	// does not matter in which order the controller sees the two objects.
	c.trust(t, "no certificate")
	s.awaitEvent(t, set, "Warning ReconcileError: failed to set the custom CA bundle: it holds no certificate; it must be PEM")
	s.checkAnnotations(t, set, m5large())
	c.trust(t, string(renewed)+string(second))
	s.awaitAnnotations(t, set, m6g4xlarge())
	s.become(t, set, "m5.large", "us-west-1")
	s.awaitAnnotations(t, set, m5large())

	// The services move.
	s.aws.Admin().ClearJournal()
	c.describe(t, infrastructure, next.front.URL)
	testkit.Await(t, func() error {
		if got := next.front.asked()["us-west-1/ec2"]; got == 0 {
			return fmt.Errorf("EC2 was not asked at its new place")
		}
		return nil
	})
	s.become(t, set, "m6g.4xlarge", "us-east-2")
	s.awaitAnnotations(t, set, m6g4xlarge())
	next.checkCallers(t, byRole, "sts by anonymous")
	if got := next.front.asked()["us-east-2/ec2"]; got == 0 {
		t.Error("EC2 was not asked for us-east-2 at its new place")
	}
	if got := s.front.asked()["us-east-2/ec2"]; got > 0 {
		t.Errorf("EC2 was asked %d times for us-east-2 where it is no more", got)
	}
	p.checkFiles(t)
	s.checkNeverUnknown(t, set)
}
