// Package instancetype says what an EC2 instance type gives a node, from what
// EC2 says of it, and which region names are worth a call. It is data and
// arithmetic: the adapter internal/cloud/instancetype asks EC2, the decision
// internal/core/capacity uses the answer. It stands by itself so that the
// adapter knows nothing of machines and their annotations.
package instancetype

import (
	"slices"
	"strings"
)

// Architectures as Kubernetes names them (label kubernetes.io/arch).
const (
	AMD64 = "amd64"
	ARM64 = "arm64"
)

// Extended resources by which the device plugins of accelerators are known.
const (
	nvidia = "nvidia.com/gpu"
	amd    = "amd.com/gpu"
	habana = "habana.ai/gaudi"
	neuron = "aws.amazon.com/neuron"
)

// Type is what is known of one instance type. It is comparable.
type Type struct {
	// Name is the type's name, such as "m5.large".
	Name string
	// VCPUs is the default count: the CPU options of the machine APIs do not
	// change it.
	VCPUs int64
	// MemoryMiB is the memory; not all types have whole GiB.
	MemoryMiB int64
	// Architecture is AMD64 or ARM64.
	Architecture string
	// ArchitectureAssumed says that EC2 named no architecture that is known
	// here, and that AMD64 stands in for it.
	ArchitectureAssumed bool
	// GPUs counts GPUs of all makers, as the Machine API's annotation does.
	// A share of a GPU counts as one.
	GPUs int64
	// Accelerator is the extended resource of the GPUs, or of the Neuron
	// devices of a type without GPUs; empty if there are none, or if their
	// maker is unknown or not one.
	Accelerator string
	// Accelerators counts the devices of that resource, 0 if there is none.
	Accelerators int64
}

// Facts are what DescribeInstanceTypes says of one type. What it does not say
// is zero.
type Facts struct {
	Name          string
	VCPUs         int64
	MemoryMiB     int64
	Architectures []string
	// GPUs are the entries of gpuInfo, Neurons those of neuronInfo, whose
	// devices have no maker.
	GPUs, Neurons []Devices
}

// Devices are accelerators of one model in an instance.
type Devices struct {
	Maker string
	// Count is 0 for a share of a GPU, as in g6f; then Logical says how many
	// such shares there are.
	Count, Logical int64
}

func (d Devices) number() int64 {
	if d.Count > 0 {
		return d.Count
	}
	return max(d.Logical, 0)
}

// Of makes a Type of facts. It is false if EC2 does not say the name, the vCPUs
// or the memory: a zero capacity would be taken for none.
func Of(f Facts) (Type, bool) {
	if f.Name == "" || f.VCPUs <= 0 || f.MemoryMiB <= 0 {
		return Type{}, false
	}
	out := Type{Name: f.Name, VCPUs: f.VCPUs, MemoryMiB: f.MemoryMiB}
	out.Architecture, out.ArchitectureAssumed = architecture(f.Architectures)
	for _, devices := range f.GPUs {
		out.GPUs += devices.number()
	}
	out.Accelerator, out.Accelerators = accelerator(f, out.GPUs)
	return out, true
}

// architecture looks through all that is said: a type that runs 32 bit code too
// says so first. Macs have the CPUs of their kind. Unknown is amd64, which is
// what the autoscalers assume as well.
func architecture(said []string) (name string, assumed bool) {
	isARM := func(one string) bool { return one == "arm64" || one == "arm64_mac" }
	isAMD := func(one string) bool { return one == "x86_64" || one == "x86_64_mac" }
	switch {
	case slices.ContainsFunc(said, isAMD):
		return AMD64, false
	case slices.ContainsFunc(said, isARM):
		return ARM64, false
	}
	return AMD64, true
}

// accelerator names the one resource of all accelerators. GPUs of two makers
// cannot be said in one annotation.
func accelerator(f Facts, gpus int64) (string, int64) {
	if gpus == 0 {
		var count int64
		for _, devices := range f.Neurons {
			count += devices.number()
		}
		if count == 0 {
			return "", 0
		}
		return neuron, count
	}
	resource := ""
	for _, devices := range f.GPUs {
		if devices.number() == 0 {
			continue
		}
		one := resourceOf(devices.Maker)
		if one == "" || resource != "" && one != resource {
			return "", 0
		}
		resource = one
	}
	return resource, gpus
}

func resourceOf(maker string) string {
	switch strings.ToLower(maker) {
	case "nvidia":
		return nvidia
	case "amd":
		return amd
	case "habana":
		return habana
	}
	return ""
}
