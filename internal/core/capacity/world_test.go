package capacity_test

import (
	"maps"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

const (
	vcpu      = "machine.openshift.io/vCPU"
	memoryMb  = "machine.openshift.io/memoryMb"
	gpu       = "machine.openshift.io/GPU"
	labels    = "capacity.cluster-autoscaler.kubernetes.io/labels"
	cpu       = "capacity.cluster-autoscaler.kubernetes.io/cpu"
	memory    = "capacity.cluster-autoscaler.kubernetes.io/memory"
	gpuCount  = "capacity.cluster-autoscaler.kubernetes.io/gpu-count"
	gpuType   = "capacity.cluster-autoscaler.kubernetes.io/gpu-type"
	draDriver = "capacity.cluster-autoscaler.kubernetes.io/dra-driver"
	region    = "capa.infrastructure.cluster.x-k8s.io/region"
	paused    = "cluster.x-k8s.io/paused"

	unknownText = "Failed to set autoscaling from zero annotations, instance type unknown"
)

var (
	large = instancetype.Type{Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architecture: "amd64"}
	arm   = instancetype.Type{Name: "m6g.4xlarge", VCPUs: 16, MemoryMiB: 65536, Architecture: "arm64"}
	gpus  = instancetype.Type{
		Name: "p3.8xlarge", VCPUs: 32, MemoryMiB: 249856, Architecture: "amd64",
		GPUs: 4, Accelerator: "nvidia.com/gpu", Accelerators: 4,
	}
	radeon = instancetype.Type{
		Name: "g4ad.xlarge", VCPUs: 4, MemoryMiB: 16384, Architecture: "amd64",
		GPUs: 1, Accelerator: "amd.com/gpu", Accelerators: 1,
	}
	neuron = instancetype.Type{
		Name: "inf2.xlarge", VCPUs: 4, MemoryMiB: 16384, Architecture: "amd64",
		Accelerator: "aws.amazon.com/neuron", Accelerators: 1,
	}
	unsaid = instancetype.Type{Name: "m6i.8xlarge", VCPUs: 32, MemoryMiB: 131072, Architecture: "amd64", ArchitectureAssumed: true}
)

// openshift is a world with a MachineSet of the Machine API, and AWS's answer.
func openshift(t instancetype.Type) capacity.World {
	return capacity.World{
		Object: capacity.Object{
			Kind: capacity.MachineAPIMachineSet, Namespace: "openshift-machine-api", Name: "workers", Version: "7",
			ProviderSpec: []byte(`{"kind":"AWSMachineProviderConfig","instanceType":"` + t.Name + `","placement":{"region":"us-east-1"}}`),
		},
		Answer: instancetype.Answer{State: instancetype.Found, Type: t},
	}
}

// clusterAPI is a world with a MachineDeployment, and AWS's answer.
func clusterAPI(t instancetype.Type) capacity.World {
	return capacity.World{
		Object: capacity.Object{
			Kind: capacity.MachineDeployment, Namespace: "team", Name: "workers", Version: "7", ClusterName: "demo",
			Infrastructure: capacity.Ref{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "AWSMachineTemplate", Name: "workers"},
		},
		Template: &capacity.Template{InstanceType: t.Name},
		Cluster: &capacity.Cluster{
			Infrastructure: capacity.Ref{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSCluster", Name: "demo"},
		},
		ClusterRegion: "us-east-1",
		Answer:        instancetype.Answer{State: instancetype.Found, Type: t},
	}
}

// with is a world changed.
func with(w capacity.World, change func(*capacity.World)) capacity.World {
	w.Object.Annotations = maps.Clone(w.Object.Annotations)
	w.Object.Owners = maps.Clone(w.Object.Owners)
	change(&w)
	return w
}

// failing is a world whose question got no answer.
func failing(w capacity.World, f fault.Fault) capacity.World {
	w.Answer, w.Fault = instancetype.Answer{}, &f
	return w
}

func ours() capacity.Owner              { return capacity.Owner{Manager: "capa-annotator", Applied: true} }
func wrote(who string) capacity.Owner   { return capacity.Owner{Manager: who} }
func applied(who string) capacity.Owner { return capacity.Owner{Manager: who, Applied: true} }

// annotated puts one annotation with its owners into a world.
func annotated(key, value string, owners ...capacity.Owner) func(*capacity.World) {
	return func(w *capacity.World) {
		if w.Object.Annotations == nil {
			w.Object.Annotations = map[string]string{}
		}
		if w.Object.Owners == nil {
			w.Object.Owners = map[string][]capacity.Owner{}
		}
		w.Object.Annotations[key] = value
		w.Object.Owners[key] = owners
	}
}

func all(changes ...func(*capacity.World)) func(*capacity.World) {
	return func(w *capacity.World) {
		for _, change := range changes {
			change(w)
		}
	}
}
