package roleselector

type set[T comparable] map[T]struct{}

func (s set[T]) remove(element T) { delete(s, element) }

// inverse finds what has a label, by key and value.
type inverse[T comparable] map[string]map[string]set[T]

func newInverse[T comparable]() inverse[T] { return inverse[T]{} }

func (v inverse[T]) put(labels map[string]string, element T) {
	for key, value := range labels {
		values := v[key]
		if values == nil {
			values = map[string]set[T]{}
			v[key] = values
		}
		if values[value] == nil {
			values[value] = set[T]{}
		}
		values[value][element] = struct{}{}
	}
}

func (v inverse[T]) drop(labels map[string]string, element T) {
	for key, value := range labels {
		values := v[key]
		values[value].remove(element)
		if len(values[value]) == 0 {
			delete(values, value)
		}
		if len(values) == 0 {
			delete(v, key)
		}
	}
}

// sets are those for which a positive term holds. An element is in one of them
// only.
func (v inverse[T]) sets(t *term) []set[T] {
	var found []set[T]
	if len(t.values) == 0 {
		for _, elements := range v[t.key] {
			found = append(found, elements)
		}
		return found
	}
	for _, value := range t.values {
		if elements := v[t.key][value]; elements != nil {
			found = append(found, elements)
		}
	}
	return found
}
