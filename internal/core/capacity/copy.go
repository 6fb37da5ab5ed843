package capacity

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// Who copies a MachineSet copies its annotations, too: values that are those of
// another instance type, written once and by somebody else. They are corrected. What
// somebody goes on to apply stays, and so does a choice: values that together are no
// type's, or that come back after they were corrected, because a program that does
// not apply maintains them all the same.

// writer is who else wrote an annotation once; false for nobody, and for those that
// somebody else applies.
func (w World) writer(key string) (Owner, bool) {
	var out Owner
	_, found := w.Object.Annotations[key]
	found = found && slices.ContainsFunc(w.Object.Owners[key], func(o Owner) bool {
		out = o
		return !w.isOurs(o)
	})
	applied := slices.ContainsFunc(w.Object.Owners[key], func(o Owner) bool { return o.Applied && !w.isOurs(o) })
	return out, found && !applied
}

// copied are the sizes that somebody else wrote, the zero value if they cannot be
// those of one type. What we have agreed with since belongs to them.
func (w World) copied() instancetype.Sizes {
	out := instancetype.Sizes{Reserve: w.Options.MemoryReserve}
	sizes := map[string]struct {
		into *instancetype.Size
		unit int64
	}{
		VCPUKey: {&out.VCPUs, 1}, cpuQuantityKey: {&out.VCPUs, 1},
		MemoryKey: {&out.MemoryMiB, 1}, memoryQuantityKey: {&out.MemoryMiB, 1 << 20},
		GPUKey: {&out.GPUs, 1}, gpuCountKey: {&out.Accelerators, 1},
	}
	for _, key := range ownKeys {
		if _, written := w.writer(key); !written {
			continue
		}
		text := w.Object.Annotations[key]
		if key == gpuTypeKey {
			out.Accelerator = text
			continue
		}
		size := sizes[key]
		quantity, err := resource.ParseQuantity(text)
		value := quantity.Value() / size.unit
		isWhole := err == nil && quantity.Cmp(*resource.NewQuantity(value*size.unit, resource.BinarySI)) == 0
		if !isWhole || size.into.Said && size.into.Value != value {
			return instancetype.Sizes{}
		}
		*size.into = instancetype.Size{Said: true, Value: value}
	}
	if !out.VCPUs.Said || !out.MemoryMiB.Said {
		return instancetype.Sizes{}
	}
	return out
}

// isCopy says that what somebody else wrote are the values of a type, and that they
// did not come back after they were corrected.
func (w World) isCopy() bool {
	return w.Answer.State == instancetype.Found && w.Answer.Like != "" && (w.Memory.Corrected == 0 || w.Memory.Corrected != w.stamp())
}

// stamp tells wrong values that somebody else wrote from others.
func (w World) stamp() uint64 {
	sum, want := fnv.New64a(), w.annotations(w.Answer.Type)
	for _, key := range ownKeys {
		value := w.Object.Annotations[key]
		if _, written := w.writer(key); written && !w.applies(key) && value != want[key] {
			_, _ = fmt.Fprintf(sum, "%s=%q;", key, value) // a hash takes all
		}
	}
	return sum.Sum64()
}

// surplus are annotations of a copy that are written for other types, and not for
// this one.
func (w World) surplus(want map[string]string) (out []string) {
	if !w.isCopy() || !w.wantsQuantities() {
		return nil
	}
	for _, key := range ownKeys {
		if _, written := w.writer(key); written && want[key] == "" {
			out = append(out, key)
		}
	}
	return out
}

// correction tells of a copy whose values go, nil for none.
func (w World) correction(q instancetype.Question, want map[string]string) *Event {
	if !w.isCopy() {
		return nil
	}
	var out []string
	for _, key := range append(slices.Sorted(maps.Keys(want)), w.surplus(want)...) {
		owner, written := w.writer(key)
		switch current := w.Object.Annotations[key]; {
		case !written || w.applies(key) || current == want[key]:
		case want[key] == "":
			out = append(out, fmt.Sprintf("%s %q by %s is taken away", key, current, owner.Manager))
		default:
			out = append(out, fmt.Sprintf("%s from %q by %s to %q", key, current, owner.Manager, want[key]))
		}
	}
	if len(out) == 0 {
		return nil
	}
	event := normal(ReasonCorrected, fmt.Sprintf("Corrected for %s: %s; these were the values of a type such as %s, written once; "+
		"to have other values, apply them by server-side apply", q.Type, strings.Join(out, "; "), w.Answer.Like))
	return &event
}
