package capacity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

const capacityPrefix = "capacity.cluster-autoscaler.kubernetes.io/"

// Annotations that this package writes.
const (
	// VCPUKey, MemoryKey and GPUKey are the Machine API's: bare integers, the
	// memory in MiB whatever its name says. OpenShift's autoscaler reads them.
	VCPUKey   = "machine.openshift.io/vCPU"
	MemoryKey = "machine.openshift.io/memoryMb"
	GPUKey    = "machine.openshift.io/GPU"
	// LabelsKey holds labels of the node, shared with whoever wants to add one.
	LabelsKey = capacityPrefix + "labels"
	// The other keys are those that upstream's autoscaler reads: quantities, a
	// number and an extended resource.
	cpuQuantityKey    = capacityPrefix + "cpu"
	memoryQuantityKey = capacityPrefix + "memory"
	gpuCountKey       = capacityPrefix + "gpu-count"
	gpuTypeKey        = capacityPrefix + "gpu-type"
)

// driverKey says that the GPUs are handed out by a DRA driver. The autoscaler
// takes it in the place of gpu-type, not beside it.
const driverKey = capacityPrefix + "dra-driver"

// ownKeys are the annotations that only we write, sorted.
var ownKeys = []string{
	cpuQuantityKey, gpuCountKey, gpuTypeKey, memoryQuantityKey, GPUKey, MemoryKey, VCPUKey,
}

// annotations are those that an object gets for its type, without the labels.
// The GPU count is written even if it is 0, gpu-count only if it counts.
//
// The Machine API's keys are written whatever the template's status says:
// upstream's autoscaler does not read them, so they hide nothing from it, and
// OpenShift's has nothing else.
func (w World) annotations(t instancetype.Type) map[string]string {
	out := map[string]string{
		VCPUKey:   strconv.FormatInt(t.VCPUs, 10),
		MemoryKey: strconv.FormatInt(w.memory(t), 10),
		GPUKey:    strconv.FormatInt(t.GPUs, 10),
	}
	if !w.wantsQuantities() {
		return out
	}
	if w.Template == nil || !w.defersTo(w.Template.CPU) {
		out[cpuQuantityKey] = out[VCPUKey]
	}
	if w.Template == nil || !w.defersTo(w.Template.Memory) {
		out[memoryQuantityKey] = out[MemoryKey] + "Mi"
	}
	if t.Accelerators > 0 {
		out[gpuCountKey] = strconv.FormatInt(t.Accelerators, 10)
		if w.Object.Annotations[driverKey] == "" {
			out[gpuTypeKey] = t.Accelerator
		}
	}
	return out
}

// memory is what is written of a type's memory, in whole MiB.
func (w World) memory(t instancetype.Type) int64 {
	return t.Less(w.Options.MemoryReserve)
}

// memoryText is the memory that is written, for people.
func (w World) memoryText(t instancetype.Type) string {
	text := fmt.Sprintf("%d MiB", w.memory(t))
	if w.Options.MemoryReserve > 0 {
		text += fmt.Sprintf(" (%d MiB less %d %%)", t.MemoryMiB, w.Options.MemoryReserve)
	}
	return text
}

// defersTo says that a quantity of the template's status is left to it. Zero
// counts as none for the autoscaler.
func (w World) defersTo(said string) bool {
	quantity, err := resource.ParseQuantity(said)
	return w.Options.DeferToTemplate && err == nil && quantity.Sign() > 0
}

func (w World) wantsQuantities() bool {
	switch w.Options.Profile {
	case Legacy:
		return false
	case Full:
		return true
	default:
		return w.Object.Kind != MachineAPIMachineSet
	}
}

// architecture is the node's. The template's status, where CAPA has filled it
// in, knows the image, which the type does not.
func (w World) architecture(t instancetype.Type) string {
	if known := w.templateArchitecture(); known != "" {
		return known
	}
	return t.Architecture
}

func (w World) templateArchitecture() string {
	architectures := []string{instancetype.AMD64, instancetype.ARM64}
	if w.Template == nil || !slices.Contains(architectures, w.Template.Architecture) {
		return ""
	}
	return w.Template.Architecture
}

// mismatch says where the template's status disagrees with AWS; empty where it
// does not, or says nothing. What is annotated masks that status.
func (w World) mismatch(t instancetype.Type) string {
	if w.Template == nil {
		return ""
	}
	var out []string
	differ := func(what, said, want string) {
		have, err := resource.ParseQuantity(said)
		if said != "" && err == nil && have.Cmp(resource.MustParse(want)) != 0 {
			out = append(out, fmt.Sprintf("%s is %s, AWS says %s", what, said, want))
		}
	}
	differ("cpu", w.Template.CPU, strconv.FormatInt(t.VCPUs, 10))
	differ("memory", w.Template.Memory, strconv.FormatInt(t.MemoryMiB, 10)+"Mi")
	if known := w.templateArchitecture(); known != "" && known != t.Architecture {
		out = append(out, fmt.Sprintf("architecture is %s, AWS says %s", known, t.Architecture))
	}
	return strings.Join(out, "; ")
}
