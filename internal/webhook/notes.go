package webhook

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// notes is what is kept of a ServiceAccount, or of a namespace: name, value,
// name, value and so on, at most a few.
type notes struct{ annotations, labels []string }

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
	err := seen.eachAnnotation(func(name, value []byte) {
		for _, prefix := range i.prefixes {
			if len(name) > len(prefix) && string(name[:len(prefix)]) == prefix {
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
	if err != nil || found.annotations == nil && found.labels == nil {
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

// has is whether there is an annotation of that name that is not empty.
func (n *notes) has(name string) bool {
	if n == nil {
		return false
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
	return &inject.ServiceAccount{Annotations: pairs(n.annotations), Labels: pairs(n.labels)}
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
	return slices.Equal(n.annotations, b.annotations) && slices.Equal(n.labels, b.labels)
}

// annotatedAs says that the annotations are the same.
func (n *notes) annotatedAs(b *notes) bool {
	var none notes
	return slices.Equal(cmp.Or(n, &none).annotations, cmp.Or(b, &none).annotations)
}
