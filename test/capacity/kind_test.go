package capacity

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// testKinds has objects of all sorts at once, each with what is to become of it.
func testKinds(t *testing.T, c *cluster) {
	s := c.webSite(t, "kinds", "us-west-2")
	deleted := s.makeDeleted(t)
	s.start(t)
	t.Run("what is being deleted is left alone", func(t *testing.T) { s.testDeleted(t, deleted) })
	t.Run("provider specs", s.testProviderSpecs)
	t.Run("labels", s.testLabels)
	t.Run("types", s.testTypes)
	t.Run("regions of Cluster API", s.testRegions)
	t.Run("other clouds", s.testOtherClouds)
	t.Run("accelerators for upstream's autoscaler", s.testAccelerators)
}

func (s *site) testProviderSpecs(t *testing.T) {
	told := map[*unstructured.Unstructured]string{}
	var annotated []*unstructured.Unstructured
	for name, value := range map[string]string{
		"old-group": "{apiVersion: awsproviderconfig.openshift.io/v1beta1, kind: AWSMachineProviderConfig, instanceType: m5.large}",
		"no-kind":   "{instanceType: m5.large, placement: {region: us-west-2}}",
	} {
		annotated = append(annotated, s.machines(t, name, "", value))
	}
	for name, c := range map[string]struct{ value, told string }{
		"no-value": {"null", "Warning FailedUpdate: Failed to extract instance type: instanceType is empty in providerSpec"},
		"no-type":  {"{kind: AWSMachineProviderConfig}", "Warning FailedUpdate: Failed to extract instance type: instanceType is empty in providerSpec"},
		"odd-type": {
			"{kind: AWSMachineProviderConfig, instanceType: 7}",
			"Warning ReconcileError: failed to get providerConfig: error unmarshalling providerSpec: " +
				"json: cannot unmarshal number into Go struct field providerConfig.instanceType of type string",
		},
		"odd-region": {
			`{kind: AWSMachineProviderConfig, instanceType: m5.large, placement: {region: "evil.example.com/"}}`,
			"Warning ReconcileError: region evil.example.com/ is not a valid region",
		},
	} {
		told[s.machines(t, name, "", c.value)] = c.told
	}
	for _, set := range annotated {
		s.In(t).Make(set)
	}
	for set := range told {
		s.In(t).Make(set)
	}
	for _, set := range annotated {
		s.awaitAnnotations(t, set, m5large())
	}
	for set, text := range told {
		s.awaitEvent(t, set, text)
		s.checkAnnotations(t, set, map[string]string{})
	}
}

// testLabels: what is in the shared annotation, and what is in it then.
func (s *site) testLabels(t *testing.T) {
	sets := map[*unstructured.Unstructured]map[string]string{}
	for i, c := range []struct{ before, instanceType, after string }{
		{"custom-label=value,node-role.kubernetes.io/worker=", "m5.large", "custom-label=value,kubernetes.io/arch=amd64,node-role.kubernetes.io/worker="},
		{"kubernetes.io/arch=amd64,custom-label=value", "m6g.4xlarge", "custom-label=value,kubernetes.io/arch=arm64"},
		{"b=2, a=1 ,,", "m5.large", "a=1,b=2,kubernetes.io/arch=amd64"},
		{"a=1,a=2", "m5.large", "a=2,kubernetes.io/arch=amd64"},
		{"x=1=2", "m6g.4xlarge", "kubernetes.io/arch=arm64,x=1=2"},
		{"bare,a=1", "m5.large", "a=1,kubernetes.io/arch=amd64,bare"},
	} {
		set := s.machines(t, fmt.Sprintf("labels-%d", i), fmt.Sprintf("%s: %q", labels, c.before), "{instanceType: "+c.instanceType+"}")
		sets[set] = m5large()
		if c.instanceType != "m5.large" {
			sets[set] = m6g4xlarge()
		}
		sets[set][labels] = c.after
		s.In(t).Make(set)
	}
	for set, want := range sets {
		s.awaitAnnotations(t, set, want)
	}
}

// knownTypes are types of which AWS says something unusual, and what is
// annotated for them.
func knownTypes() map[string]map[string]string {
	return map[string]map[string]string{
		"t2.micro":     having("1", "1024", "0", "amd64"), // i386, too
		"c5n.large":    having("2", "5376", "0", "amd64"), // no whole number of GiB
		"mac2.metal":   having("8", "16384", "0", "arm64"),
		"a1.2xlarge":   having("8", "16384", "0", "arm64"),
		"p4d.24xlarge": having("96", "1179648", "8", "amd64"),
		"g4ad.xlarge":  having("4", "16384", "1", "amd64"),
		"g6f.large":    having("2", "8192", "1", "amd64"),  // a part of one GPU
		"inf2.xlarge":  having("4", "16384", "0", "amd64"), // Neuron devices are no GPUs
	}
}

func (s *site) testTypes(t *testing.T) {
	sets := map[*unstructured.Unstructured]map[string]string{}
	for instanceType, want := range knownTypes() {
		set := s.machines(t, "type-"+namespaceOf(instanceType), "", "{instanceType: "+instanceType+"}")
		sets[set] = want
		s.In(t).Make(set)
	}
	for set, want := range sets {
		s.awaitAnnotations(t, set, want)
	}
}

// testRegions: each of the kinds that say a cluster's region, for both kinds of
// Cluster API.
func (s *site) testRegions(t *testing.T) {
	control := s.parse(t, `
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: ROSAControlPlane
metadata: {name: rosa}
spec: {region: eu-central-1, rosaClusterName: rosa, version: 4.16.0, versionGate: WaitForAcknowledge}
`)
	managed := s.parse(t, `
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: AWSManagedControlPlane
metadata: {name: managed}
spec: {region: eu-west-1}
`)
	plain := s.parse(t, `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSCluster
metadata: {name: plain}
spec: {region: us-west-2}
`)
	s.In(t).Make(control, managed, plain,
		s.owner(t, "rosa", "ROSACluster", "ROSAControlPlane"), s.owner(t, "managed", "AWSManagedCluster", "AWSManagedControlPlane"),
		s.owner(t, "plain", "AWSCluster", "KubeadmControlPlane"))
	for name, region := range map[string]string{"rosa": "eu-central-1", "managed": "eu-west-1", "plain": "us-west-2"} {
		deployment := s.group(t, "MachineDeployment", name, "", "AWSMachineTemplate")
		alone := s.group(t, "MachineSet", name, "", "AWSMachineTemplate")
		s.In(t).Make(s.template(t, name, "m5.large"), deployment, alone)
		for _, object := range []*unstructured.Unstructured{deployment, alone} {
			s.awaitAnnotations(t, object, forUpstream(m5large()))
			s.awaitEvent(t, object, "Normal CapacityAnnotated: Set autoscaling from zero annotations: m5.large in "+region+" has 2 vCPU, 8192 MiB, 0 GPU, amd64")
		}
	}
}

// testOtherClouds: what is of another cloud is left alone, without a word.
func (s *site) testOtherClouds(t *testing.T) {
	azure := s.group(t, "MachineDeployment", "azure", regionKey+": us-west-2", "AzureMachineTemplate")
	elsewhere := s.group(t, "MachineDeployment", "elsewhere", "", "AWSMachineTemplate")
	marker := s.group(t, "MachineDeployment", "marker", regionKey+": us-west-2", "AWSMachineTemplate")
	s.In(t).Make(s.template(t, "elsewhere", "m5.large"), s.owner(t, "elsewhere", "AzureCluster", "KubeadmControlPlane"), azure, elsewhere)
	s.In(t).Make(s.template(t, "marker", "m5.large"), marker)
	s.awaitAnnotations(t, marker, forUpstream(m5large(), regionKey, "us-west-2"))
	s.checkAnnotations(t, azure, map[string]string{regionKey: "us-west-2"})
	s.checkAnnotations(t, elsewhere, map[string]string{})
	if told := s.told(t, azure) + s.told(t, elsewhere); told != "" {
		t.Errorf("they have the events:\n%s", told)
	}
}

// testAccelerators: GPUs are named by who makes them, and go with the type.
func (s *site) testAccelerators(t *testing.T) {
	for name, c := range map[string]struct {
		instanceType, annotations string
		want                      map[string]string
	}{
		"nvidia": {"p4d.24xlarge", "", forUpstream(having("96", "1179648", "8", "amd64"), gpuCountKey, "8", gpuTypeKey, "nvidia.com/gpu")},
		"amd":    {"g4ad.xlarge", "", forUpstream(having("4", "16384", "1", "amd64"), gpuCountKey, "1", gpuTypeKey, "amd.com/gpu")},
		"neuron": {"trn1.2xlarge", "", forUpstream(having("8", "32768", "0", "amd64"), gpuCountKey, "1", gpuTypeKey, "aws.amazon.com/neuron")},
		"dra": {
			"p4d.24xlarge", driverKey + ": gpu.nvidia.com",
			forUpstream(having("96", "1179648", "8", "amd64"), gpuCountKey, "8", driverKey, "gpu.nvidia.com"),
		},
	} {
		deployment := s.group(t, "MachineDeployment", name, c.annotations, "AWSMachineTemplate")
		s.In(t).Make(s.template(t, name, c.instanceType), deployment)
		s.In(t).Merge(deployment, fmt.Sprintf(`{"metadata":{"annotations":{%q:"us-west-2"}}}`, regionKey))
		c.want[regionKey] = "us-west-2"
		s.awaitAnnotations(t, deployment, c.want)
		s.In(t).Make(s.template(t, name+"-without", "m5.large"))
		s.In(t).Merge(deployment, fmt.Sprintf(`{"spec":{"template":{"spec":{"infrastructureRef":{"name":%q}}}}}`, name+"-without"))
		want := forUpstream(m5large(), regionKey, "us-west-2")
		if driver, found := c.want[driverKey]; found {
			want[driverKey] = driver
		}
		s.awaitAnnotations(t, deployment, want)
	}
}

// testProfiles: which keys are written can be chosen for all kinds.
func testProfiles(t *testing.T, c *cluster) {
	for profile, want := range map[string]struct{ machineAPI, clusterAPI map[string]string }{
		"legacy": {m5large(), m5large()},
		"full":   {forUpstream(m5large()), forUpstream(m5large())},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s := c.webSite(t, "profile-"+profile, "us-west-2")
			s.start(t, "--annotation-profile="+profile)
			deployment := s.group(t, "MachineDeployment", "workers", regionKey+": us-west-2", "AWSMachineTemplate")
			s.In(t).Make(s.template(t, "workers", "m5.large"), deployment)
			want.clusterAPI[regionKey] = "us-west-2"
			s.awaitAnnotations(t, s.set(t, "workers", "m5.large", "us-west-2"), want.machineAPI)
			s.awaitAnnotations(t, deployment, want.clusterAPI)
		})
	}
}

// testGateWithoutField: with the gate on and a schema that has no authority,
// nothing of the Machine API has it.
func testGateWithoutField(t *testing.T, c *cluster) {
	s := c.webSite(t, "gate-on", "us-west-2")
	s.start(t, "--feature-gates=MachineAPIMigration=true")
	set := s.set(t, "workers", "m5.large", "us-west-2")
	marker := s.group(t, "MachineDeployment", "marker", regionKey+": us-west-2", "AWSMachineTemplate")
	s.In(t).Make(s.template(t, "marker", "m5.large"), marker)
	s.awaitAnnotations(t, marker, forUpstream(m5large(), regionKey, "us-west-2"))
	s.checkAnnotations(t, set, map[string]string{})
	if told := s.told(t, set); told != "" {
		t.Errorf("it has the events:\n%s", told)
	}
}

// makeDeleted makes a MachineSet that is being deleted.
func (s *site) makeDeleted(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	set := s.machines(t, "deleted", "", "{instanceType: m5.large}")
	set.SetFinalizers([]string{"example.com/hold"})
	s.In(t).Make(set)
	must.Do(t, s.Delete(t.Context(), set.DeepCopy()))
	return set
}

// testDeleted: an object that is being deleted is left alone, and gets no
// finalizer of ours.
func (s *site) testDeleted(t *testing.T, set *unstructured.Unstructured) {
	marker := s.set(t, "marker", "m5.large", "us-west-2")
	s.awaitAnnotations(t, marker, m5large())
	s.checkAnnotations(t, set, map[string]string{})
	for _, each := range []*unstructured.Unstructured{set, marker} {
		now := s.reread(t, each)
		if got := now.GetFinalizers(); len(got) != len(each.GetFinalizers()) {
			t.Errorf("%s has the finalizers %q", each.GetName(), got)
		}
	}
	s.In(t).Merge(set, `{"metadata":{"finalizers":null}}`)
	testkit.Await(t, func() error {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(set), set.DeepCopy()); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("the object is there still: %w", err)
		}
		return nil
	})
}
