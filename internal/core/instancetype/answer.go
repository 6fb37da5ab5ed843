package instancetype

import (
	"iter"
	"slices"
)

// Question is one question about an instance type.
type Question struct {
	// Type and Region are what is asked.
	Type, Region string
	// Home is a region that works for certain, where the partition's list of
	// regions can be had if Region is in its partition; empty for none.
	Home string
	// Like are sizes that somebody wrote, for which a type is looked for that has
	// them; the zero value is none.
	Like Sizes
}

// Sizes are sizes of a type, as far as somebody says them. They are comparable.
type Sizes struct {
	// VCPUs, MemoryMiB, GPUs and Accelerators are those of a Type.
	VCPUs, MemoryMiB, GPUs, Accelerators Size
	// Accelerator is a Type's, empty if nobody says it.
	Accelerator string
	// Reserve is how much of the memory may be missing, in percent: all of that or
	// nothing.
	Reserve int64
}

// Size is one size; the zero value is that nobody says it.
type Size struct {
	Said  bool
	Value int64
}

func (s Size) fits(values ...int64) bool { return !s.Said || slices.Contains(values, s.Value) }

// Fit says that a type has the sizes. Without vCPUs and memory they are no type's.
func (s Sizes) Fit(t Type) bool {
	return s.VCPUs.Said && s.MemoryMiB.Said && s.VCPUs.fits(t.VCPUs) && s.MemoryMiB.fits(t.MemoryMiB, t.Less(s.Reserve)) &&
		s.GPUs.fits(t.GPUs) && s.Accelerators.fits(t.Accelerators) && (s.Accelerator == "" || s.Accelerator == t.Accelerator)
}

// In is the first by name of the types that have the sizes, empty for none.
func (s Sizes) In(types iter.Seq[Type]) (name string) {
	if !s.VCPUs.Said {
		return ""
	}
	for t := range types {
		if s.Fit(t) && (name == "" || t.Name < name) {
			name = t.Name
		}
	}
	return name
}

// Less is the memory in MiB less a part in percent. It is never zero, which would
// be taken for none.
func (t Type) Less(percent int64) int64 { return max(t.MemoryMiB*(100-percent)/100, 1) }

// State says what came out of a question.
type State string

// The states of an answer. The zero value is none: nobody has asked.
const (
	// Found: EC2 knows the type, and the answer holds it.
	Found State = "Found"
	// Unknown: EC2 said that there is no such type in the region.
	Unknown State = "Unknown"
	// Incomplete: EC2 knows the type and does not say its vCPUs or its memory.
	Incomplete State = "Incomplete"
	// RegionInvalid: there is no such region.
	RegionInvalid State = "RegionInvalid"
	// RegionNotOptedIn: the account has not asked for the region.
	RegionNotOptedIn State = "RegionNotOptedIn"
)

// Answer is what EC2 said. What went wrong on the way is no answer, but a fault.
type Answer struct {
	State State
	// Type is known if State is Found.
	Type Type
	// Like is a type of the region that has the sizes that were asked about, empty
	// for none.
	Like string
}
