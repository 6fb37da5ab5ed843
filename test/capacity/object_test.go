package capacity

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	vcpu        = "machine.openshift.io/vCPU"
	memory      = "machine.openshift.io/memoryMb"
	gpu         = "machine.openshift.io/GPU"
	labels      = "capacity.cluster-autoscaler.kubernetes.io/labels"
	cpuKey      = "capacity.cluster-autoscaler.kubernetes.io/cpu"
	memoryKey   = "capacity.cluster-autoscaler.kubernetes.io/memory"
	gpuCountKey = "capacity.cluster-autoscaler.kubernetes.io/gpu-count"
	gpuTypeKey  = "capacity.cluster-autoscaler.kubernetes.io/gpu-type"
	driverKey   = "capacity.cluster-autoscaler.kubernetes.io/dra-driver"
	regionKey   = "capa.infrastructure.cluster.x-k8s.io/region"

	provider     = "infrastructure.cluster.x-k8s.io"
	controlPlane = "controlplane.cluster.x-k8s.io"
)

// parse makes an object of the site's namespace of its manifest.
func (s *site) parse(t *testing.T, manifest string, args ...any) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	must.Do(t, yaml.Unmarshal(fmt.Appendf(nil, manifest, args...), &out.Object))
	out.SetNamespace(s.namespace)
	return out
}

// set creates a MachineSet of the Machine API.
func (s *site) set(t *testing.T, name, instanceType, region string) *unstructured.Unstructured {
	t.Helper()
	out := s.machines(t, name, "", fmt.Sprintf(`
          apiVersion: machine.openshift.io/v1beta1
          kind: AWSMachineProviderConfig
          instanceType: %s
          placement: {region: %s}
          credentialsSecret: {name: aws-cloud-credentials}`, instanceType, region))
	s.In(t).Make(out)
	return out
}

// machines is a MachineSet of the Machine API with annotations and a value of
// its provider spec, which is indented by ten.
func (s *site) machines(t *testing.T, name, annotations, value string) *unstructured.Unstructured {
	t.Helper()
	return s.parse(t, `
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata: {name: %s, annotations: {%s}}
spec:
  replicas: 0
  selector: {matchLabels: {set: a}}
  template:
    metadata: {labels: {set: a}}
    spec:
      providerSpec:
        value: %s
`, name, annotations, value)
}

// become gives a MachineSet another type in another region.
func (s *site) become(t *testing.T, set *unstructured.Unstructured, instanceType, region string) {
	t.Helper()
	s.In(t).Merge(set, fmt.Sprintf(`{"spec":{"template":{"spec":{"providerSpec":{"value":{"instanceType":%q,"placement":{"region":%q}}}}}}}`, instanceType, region))
}

// group is a MachineDeployment or MachineSet of Cluster API at v1beta2, with the
// kind of its machines' template, which has its name, as the Cluster has.
func (s *site) group(t *testing.T, kind, name, annotations, template string) *unstructured.Unstructured {
	t.Helper()
	return s.parse(t, `
apiVersion: cluster.x-k8s.io/v1beta2
kind: %s
metadata: {name: %s, annotations: {%s}}
spec:
  clusterName: %s
  replicas: 0
  selector: {matchLabels: {set: a}}
  template:
    metadata: {labels: {set: a}}
    spec:
      clusterName: %s
      bootstrap: {dataSecretName: none}
      infrastructureRef: {apiGroup: %s, kind: %s, name: %s}
`, kind, name, annotations, name, name, provider, template, name)
}

func (s *site) template(t *testing.T, name, instanceType string) *unstructured.Unstructured {
	t.Helper()
	return s.parse(t, `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: %s}
spec: {template: {spec: {instanceType: %s}}}
`, name, instanceType)
}

// owner is a Cluster that refers to things of its name.
func (s *site) owner(t *testing.T, name, infrastructure, control string) *unstructured.Unstructured {
	t.Helper()
	return s.parse(t, `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: %s}
spec:
  infrastructureRef: {apiGroup: %s, kind: %s, name: %s}
  controlPlaneRef: {apiGroup: %s, kind: %s, name: %s}
`, name, provider, infrastructure, name, controlPlane, control, name)
}

// m5large are the annotations of an m5.large of the Machine API; m6g4xlarge
// those of another type with nothing in common.
func m5large() map[string]string { return having("2", "8192", "0", "amd64") }

func m6g4xlarge() map[string]string { return having("16", "65536", "0", "arm64") }

func having(cpus, mebibytes, gpus, architecture string) map[string]string {
	return map[string]string{vcpu: cpus, memory: mebibytes, gpu: gpus, labels: "kubernetes.io/arch=" + architecture}
}

// forUpstream adds the keys that upstream's autoscaler reads.
func forUpstream(annotations map[string]string, more ...string) map[string]string {
	annotations[cpuKey], annotations[memoryKey] = annotations[vcpu], annotations[memory]+"Mi"
	for i := 0; i+1 < len(more); i += 2 {
		annotations[more[i]] = more[i+1]
	}
	return annotations
}
