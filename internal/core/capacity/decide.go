package capacity

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// unknownText is what the original program says, word for word; people and
// alerts look for it.
const unknownText = "Failed to set autoscaling from zero annotations, instance type unknown"

// askAgain is when to look at a world in which AWS has not answered yet, if nobody
// tells before that it has.
const askAgain = time.Minute

// Decide says what to do with an object.
func Decide(w World) Plan {
	found := find(w)
	switch {
	case found.skip != "":
		return Plan{Outcome: Skipped, Skip: found.skip}
	case found.trouble != nil:
		return found.trouble.plan(w)
	case w.Fault != nil:
		return lookupFailed(w, *w.Fault).plan(w)
	}
	switch w.Answer.State {
	case instancetype.Found:
		return annotate(w, found.question)
	case instancetype.Unknown:
		return unknown(w, found.question, "")
	case instancetype.Incomplete:
		return unknown(w, found.question, "AWS does not say its vCPUs or its memory")
	case instancetype.RegionInvalid, instancetype.RegionNotOptedIn:
		return badRegion(w, w.Answer.State, found.question.Region).plan(w)
	}
	return Plan{Outcome: Asking, Again: askAgain, Memory: w.Memory}
}

// annotate makes the annotations those of the type.
func annotate(w World, q instancetype.Question) Plan {
	t := w.Answer.Type
	want := w.annotations(t)
	out := Plan{Outcome: Unchanged, Mismatch: w.mismatch(t), Memory: Memory{Corrected: w.Memory.Corrected}}
	labels := w.Object.Annotations[LabelsKey]
	patch := Patch{Version: w.Object.Version, Remove: w.surplus(want)}
	if merged := MergeLabels(labels, w.architecture(t)); merged != labels {
		patch.Set = map[string]string{LabelsKey: merged}
	}
	if out.Steps = w.steps(want, patch); len(out.Steps) > 0 {
		out.Outcome = Annotated
		out.Events = w.written(q, want)
		if t.ArchitectureAssumed {
			out.Log = []string{fmt.Sprintf("AWS names no known architecture of instance type %s; assuming %s", q.Type, t.Architecture)}
		}
	}
	if correction := w.correction(q, want); correction != nil {
		out.Events, out.Memory.Corrected = append(out.Events, *correction), w.stamp()
	}
	if conflict := w.conflict(q, want); conflict != nil {
		out.Outcome, out.Memory.Told = Conflict, *conflict
		if w.Memory.Told != *conflict {
			out.Events = append([]Event{*conflict}, out.Events...)
		}
	}
	return out
}

// written tells what is written: the sizes that will be stored, and those of others
// that stay.
func (w World) written(q instancetype.Question, want map[string]string) []Event {
	t, labels := w.Answer.Type, w.Object.Annotations[LabelsKey]
	has := map[string]string{
		VCPUKey: fmt.Sprintf("%d vCPU", t.VCPUs), MemoryKey: w.memoryText(t), GPUKey: fmt.Sprintf("%d GPU", t.GPUs),
	}
	var parts, stay []string
	for _, key := range []string{VCPUKey, MemoryKey, GPUKey, cpuQuantityKey, memoryQuantityKey, gpuCountKey, gpuTypeKey} {
		if _, contested := w.rival(key, want[key]); contested && w.Object.Annotations[key] != want[key] && want[key] != "" {
			stay = append(stay, fmt.Sprintf("; %s stays %q", key, w.Object.Annotations[key]))
		} else if has[key] != "" {
			parts = append(parts, has[key])
		}
	}
	out := []Event{normal(ReasonAnnotated, fmt.Sprintf("Set autoscaling from zero annotations: %s in %s has %s%s",
		q.Type, q.Region, strings.Join(append(parts, w.architecture(t)), ", "), strings.Join(stay, "")))}
	if before, there := readLabels(labels).values[archLabel]; there && before != w.architecture(t) && !w.isOnlyOurs(LabelsKey) {
		out = append(out, normal(ReasonArchCorrected, fmt.Sprintf(
			"Corrected %s in the annotation %s from %q to %q", archLabel, LabelsKey, before, w.architecture(t))))
	}
	return out
}

// unknown takes away what we wrote for an earlier type, and leaves what others
// wrote, which may be a person's answer to the event.
func unknown(w World, q instancetype.Question, detail string) Plan {
	text, cause := unknownText, "AWS has no such type in "+q.Region
	if detail != "" {
		text, cause = text+": "+detail, detail
	}
	out := trouble{event: warning(ReasonFailedUpdate, text), outcome: Unknown, again: w.Options.recheck()}.plan(w)
	out.Steps = w.steps(nil, w.withoutArchitecture())
	if len(out.Events) > 0 {
		out.Log = []string{
			fmt.Sprintf("Unable to set scale from zero annotations: unknown instance type %s: %s", q.Type, cause),
			fmt.Sprintf("Autoscaling from zero will not work. To fix this, manually populate machine annotations "+
				"for your instance type: [%s %s %s]", VCPUKey, MemoryKey, GPUKey),
		}
	}
	return out
}

// withoutArchitecture takes our entry out of the labels, with the values that go.
// While there are such, the entry is that of the type that they were of, whoever
// wrote the labels last; only who applies them keeps it.
func (w World) withoutArchitecture() Patch {
	out := Patch{Version: w.Object.Version}
	goes := w.isOnlyOurs(LabelsKey) || slices.ContainsFunc(ownKeys, func(key string) bool { return w.applies(key) || w.isOnlyOurs(key) })
	isApplied := slices.ContainsFunc(w.Object.Owners[LabelsKey], func(o Owner) bool { return o.Applied && !w.isOurs(o) })
	list := readLabels(w.Object.Annotations[LabelsKey])
	if _, there := list.values[archLabel]; !there || !goes || isApplied {
		return out
	}
	delete(list.values, archLabel)
	if left := list.String(); left != "" {
		out.Set = map[string]string{LabelsKey: left}
	} else {
		out.Remove = []string{LabelsKey}
	}
	return out
}

// steps are the writes that make our annotations those wanted, after a patch of what
// is shared; none if all is so.
func (w World) steps(want map[string]string, patch Patch) []Step {
	apply := Apply{Annotations: map[string]string{}}
	changed := false
	for _, key := range ownKeys {
		value, wanted := want[key]
		_, contested := w.rival(key, value)
		current, there := w.Object.Annotations[key]
		switch {
		case wanted && !contested:
			apply.Annotations[key] = value
			// Without owners too: at a first apply the API server makes up one that
			// conflicts, for an object whose managed fields were stripped.
			isOwn := w.applies(key) && !w.hasOtherOwner(key)
			apply.Force = apply.Force || there && current != value && !isOwn
			changed = changed || current != value || !w.applies(key)
		case slices.Contains(patch.Remove, key):
		case !wanted && there && w.isOnlyOurs(key) && w.hasOtherOwner(key):
			patch.Remove = append(patch.Remove, key)
		default:
			changed = changed || w.applies(key)
		}
	}
	var out []Step
	if len(patch.Set) > 0 || len(patch.Remove) > 0 {
		out = append(out, patch)
	}
	if changed {
		out = append(out, apply)
	}
	return out
}

// hasOtherOwner says that an annotation has an owner besides our apply.
func (w World) hasOtherOwner(key string) bool {
	return slices.ContainsFunc(w.Object.Owners[key], func(o Owner) bool { return o != w.self() })
}

// sayer is whose word an annotation's value is.
func (w World) sayer(key string) string {
	if w.Options.MemoryReserve > 0 && (key == MemoryKey || key == memoryQuantityKey) {
		return fmt.Sprintf("AWS says, less %d %%,", w.Options.MemoryReserve)
	}
	return "AWS says"
}

// conflict tells of annotations that others maintain with another value, nil for
// none.
func (w World) conflict(q instancetype.Question, want map[string]string) *Event {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		owner, contested := w.rival(key, want[key])
		if current := w.Object.Annotations[key]; contested && current != want[key] {
			out = append(out, fmt.Sprintf("%s is %q by %s, %s %q", key, current, owner.Manager, w.sayer(key), want[key]))
		}
	}
	if len(out) == 0 {
		return nil
	}
	event := warning(ReasonConflict, fmt.Sprintf("Left as set by others, for %s: %s; remove the annotation to have it maintained",
		q.Type, strings.Join(out, "; ")))
	return &event
}
