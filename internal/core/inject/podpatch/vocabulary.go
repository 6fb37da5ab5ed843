package podpatch

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/spelling"
)

// Bounds of what is looked at of names that nobody knows: whoever writes annotations may
// write very many, and long ones.
const (
	maxUnknown    = 16
	maxSuspicious = 64
	// alike is how many letters two names of one meaning may differ by.
	alike = 2
	// telling is how long a part of a name must be to mean the name.
	telling = 4
)

// Vocabulary are the names that a cloud's webhook reads, without their prefix, by where
// they count. Nothing else of the prefix counts, and a name that was meant to is warned
// of.
type Vocabulary struct {
	// Prefix is the part before the name, with its slash.
	Prefix string
	// Account are those of annotations of ServiceAccounts, Pod those of annotations of
	// pods, Label those of labels of pods.
	Account, Pod, Label []string
}

// AdviseAccount warns of annotations of a ServiceAccount that do not count there.
func (v *Vocabulary) AdviseAccount(account string, annotations map[string]string, warnings *Warnings) {
	var odd []string
	for name := range annotations {
		if rest, is := strings.CutPrefix(name, v.Prefix); is && !slices.Contains(v.Account, rest) {
			odd = append(odd, rest)
		}
	}
	slices.Sort(odd) // a map has no order
	for _, name := range odd[:min(len(odd), maxUnknown)] {
		switch meant := v.meant(name, v.Account); {
		case slices.Contains(v.Pod, name):
			warnings.Add("ServiceAccount %.63q has the annotation %s%s, which counts on pods only: write it into the pod template", account, v.Prefix, name)
		case slices.Contains(v.Label, name):
			warnings.Add("ServiceAccount %.63q has the annotation %s%s, which is a label of pods", account, v.Prefix, name)
		case meant != "":
			warnings.Add("ServiceAccount %.63q has the annotation %s%.64s, which does not count: did you mean %s%s?", account, v.Prefix, name, v.Prefix, meant)
		}
	}
}

// AdvisePod warns of annotations and labels of a pod that do not count there.
func (v *Vocabulary) AdvisePod(pod Pod, warnings *Warnings) {
	seen := 0
	for c := pod.Annotations.Walk(); c.Next() && seen < maxUnknown; {
		rest, is := v.after(c.Name())
		if !is || slices.Contains(v.Pod, rest) {
			continue
		}
		seen++
		switch meant := v.meant(rest, v.Pod); {
		case slices.Contains(v.Account, rest):
			warnings.Add("annotation %s%s of the pod does not count: write it on the ServiceAccount", v.Prefix, rest)
		case slices.Contains(v.Label, rest):
			warnings.Add("annotation %s%s of the pod does not count: it is a label", v.Prefix, rest)
		case meant != "":
			warnings.Add("annotation %s%.64s of the pod does not count: did you mean %s%s?", v.Prefix, rest, v.Prefix, meant)
		}
	}
	for c := pod.Labels.Walk(); c.Next() && seen < maxUnknown; {
		rest, is := v.after(c.Name())
		if !is || slices.Contains(v.Label, rest) {
			continue
		}
		seen++
		switch meant := v.meant(rest, v.Label); {
		case slices.Contains(v.Pod, rest):
			warnings.Add("label %s%s of the pod does not count: it is an annotation", v.Prefix, rest)
		case slices.Contains(v.Account, rest):
			warnings.Add("label %s%s of the pod does not count: it is an annotation of the ServiceAccount", v.Prefix, rest)
		case meant != "":
			warnings.Add("label %s%.64s of the pod does not count: did you mean %s%s?", v.Prefix, rest, v.Prefix, meant)
		}
	}
}

// after is what a name has after the prefix. It costs nothing for those of others.
func (v *Vocabulary) after(name []byte) (rest string, is bool) {
	if len(name) < len(v.Prefix) || string(name[:len(v.Prefix)]) != v.Prefix {
		return "", false
	}
	return string(name[len(v.Prefix):]), true
}

// meant is the known name that a name resembles, empty for none: one that differs from it
// by a few letters, by case or by what stands between its words, or that is a part of it
// or has it as a part.
func (v *Vocabulary) meant(name string, known []string) string {
	if len(name) > maxSuspicious {
		return ""
	}
	plain, best, least := letters(name), "", alike+1
	for _, each := range known {
		if d := spelling.Distance(plain, letters(each)); d < least {
			best, least = each, d
		}
	}
	if best != "" {
		return best
	}
	for _, each := range known {
		its := letters(each)
		if min(len(plain), len(its)) >= telling && (strings.Contains(plain, its) || strings.Contains(its, plain)) {
			return each
		}
	}
	return ""
}

// letters is a name without case, and without what stands between its words.
func letters(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}

// Named says that the pod has a container of that name.
func (p Pod) Named(name string) bool {
	for c := p.containers.Walk(); c.Next(); {
		if c.Value().Get("name").Is(name) {
			return true
		}
	}
	for c := p.initContainers.Walk(); c.Next(); {
		if c.Value().Get("name").Is(name) {
			return true
		}
	}
	return false
}

// AdviseSkipped warns of names of containers to leave out that the pod has not. A list of
// very many is looked at no further than warnings are given.
func (p Pod) AdviseSkipped(annotation string, names []string, warnings *Warnings) {
	for _, name := range names[:min(len(names), maxUnknown)] {
		if !p.Named(name) {
			warnings.Add("annotation %s names %.63q, which is no container of the pod", annotation, name)
		}
	}
}
