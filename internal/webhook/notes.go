package webhook

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// notes is what is kept of a ServiceAccount, or of a namespace: name, value,
// name, value and so on, at most a few.
type notes struct {
	annotations, labels []string
	// tooLong says that the annotations are more than is kept: then none is.
	tooLong bool
}

// interest says which annotations matter.
type interest struct {
	// prefixes begin the names of all of them, optIns are those that name an
	// identity, each of one cloud.
	prefixes, optIns []string
	// oddities are names of annotations that are warned of where they stand, each
	// under itself; their values do not matter.
	oddities map[string]string
}

// warnedOf adds annotations that are warned of.
func (i interest) warnedOf(names []string) interest {
	i.oddities = make(map[string]string, len(names))
	for _, name := range names {
		i.oddities[name] = name
	}
	return i
}

// newInterest is in the annotations that opt in, and in all others of their
// prefixes.
func newInterest(optIns ...string) interest {
	wanted := interest{optIns: optIns}
	for _, name := range optIns {
		prefix, _, _ := strings.Cut(name, "/")
		wanted.prefixes = append(wanted.prefixes, prefix+"/")
	}
	return wanted
}

// labelNames has each name of a label that matters under itself: all entries
// share its text.
type labelNames map[string]string

// everyLabel is a filter that takes all.
func everyLabel(name []byte) (string, bool) { return string(name), true }

// filter takes the labels that matter; nil takes none.
func (l *labelNames) filter() func(name []byte) (string, bool) {
	if l == nil {
		return nil
	}
	return func(name []byte) (string, bool) {
		known, ok := (*l)[string(name)]
		return known, ok
	}
}

// read takes what matters from an object, nil if it has nothing of it.
func (i interest) read(seen object, labels func(name []byte) (string, bool)) (*notes, error) {
	var found notes
	size := 0
	err := seen.eachAnnotation(func(name, value []byte) {
		if found.tooLong {
			return
		}
		for _, prefix := range i.prefixes {
			if len(name) > len(prefix) && string(name[:len(prefix)]) == prefix {
				if size += len(name) + len(value); size > inject.MaxAnnotations {
					found.tooLong, found.annotations = true, nil
					return
				}
				found.annotations = append(found.annotations, i.name(name), string(value))
				return
			}
		}
		if known, ok := i.oddities[string(name)]; ok {
			found.annotations = append(found.annotations, known, "")
		}
	})
	if err == nil && labels != nil {
		err = seen.eachLabel(func(name, value []byte) {
			if known, ok := labels(name); ok {
				found.labels = append(found.labels, known, string(value))
			}
		})
	}
	if err != nil || found.annotations == nil && found.labels == nil && !found.tooLong {
		return nil, err
	}
	found.annotations, found.labels = slices.Clip(found.annotations), slices.Clip(found.labels)
	return &found, nil
}

// name is a text that all annotations of the name share, if it is a known one.
func (i interest) name(text []byte) string {
	for _, known := range i.optIns {
		if string(text) == known {
			return known
		}
	}
	return string(text)
}

// optsIn says whether a ServiceAccount of these notes names an identity of some
// cloud.
func (i interest) optsIn(n *notes) bool { return slices.ContainsFunc(i.optIns, n.has) }

// has is whether there is an annotation of that name that is not empty. Of too many
// annotations each may be: it is certain that they cannot be read.
func (n *notes) has(name string) bool {
	switch {
	case n == nil:
		return false
	case n.tooLong:
		return true
	}
	for k := 0; k < len(n.annotations); k += 2 {
		if n.annotations[k+1] != "" && n.annotations[k] == name {
			return true
		}
	}
	return false
}

func (n *notes) account() *inject.ServiceAccount {
	if n == nil {
		return &inject.ServiceAccount{}
	}
	return &inject.ServiceAccount{Annotations: pairs(n.annotations), Labels: pairs(n.labels), TooLong: n.tooLong}
}

// accountIf is nil where there is none.
func (n *notes) accountIf(there bool) *inject.ServiceAccount {
	if !there {
		return nil
	}
	return n.account()
}

// only is the same with no other labels than those that a filter takes.
func (n *notes) only(labels func(name []byte) (string, bool)) *notes {
	kept := &notes{annotations: n.annotations, tooLong: n.tooLong}
	for k := 0; labels != nil && k < len(n.labels); k += 2 {
		if known, ok := labels([]byte(n.labels[k])); ok {
			kept.labels = append(kept.labels, known, n.labels[k+1])
		}
	}
	return kept
}

// pairs is a list of name, value, name, value and so on; nil for an empty one.
func pairs(list []string) map[string]string {
	if len(list) == 0 {
		return nil
	}
	found := make(map[string]string, len(list)/2)
	for k := 0; k < len(list); k += 2 {
		found[list[k]] = list[k+1]
	}
	return found
}

func (n *notes) equal(b *notes) bool {
	if n == nil || b == nil {
		return n == b
	}
	return n.tooLong == b.tooLong && slices.Equal(n.annotations, b.annotations) && slices.Equal(n.labels, b.labels)
}

// annotatedAs says that the annotations are the same.
func (n *notes) annotatedAs(b *notes) bool {
	var none notes
	n, b = cmp.Or(n, &none), cmp.Or(b, &none)
	return n.tooLong == b.tooLong && slices.Equal(n.annotations, b.annotations)
}
