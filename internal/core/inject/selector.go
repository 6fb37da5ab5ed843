package inject

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// namespaceNameLabel is the label of each Namespace with its name, which the API
// server keeps.
const namespaceNameLabel = "kubernetes.io/metadata.name"

// bindings are roles for ServiceAccounts by labels: theirs and those of their
// namespace.
type bindings struct {
	items []labelBinding
	// index has the items under one label each that they demand, the one that
	// the fewest others demand, in ascending order: so that a look costs by the
	// labels of the one who is looked for.
	index map[label][]int
	// namespaceLabels and accountLabels are the names of the labels asked for.
	namespaceLabels, accountLabels []string
}

// labelBinding is one of them: all labels are demanded.
type labelBinding struct {
	labels map[label]struct{}
	entry  entry
}

// label is one label of a namespace or ServiceAccount.
type label struct {
	ofNamespace bool
	key, value  string
}

// NamespaceLabels are the names of the labels of namespaces that some binding
// looks at, other than the one with their name.
func (m *Mapping) NamespaceLabels() []string {
	if m == nil {
		return nil
	}
	return m.namespaceLabels
}

// AccountLabels are the names of the labels of ServiceAccounts that some binding
// looks at.
func (m *Mapping) AccountLabels() []string {
	if m == nil {
		return nil
	}
	return m.accountLabels
}

// Named says whether something names the pod's ServiceAccount that goes before
// the bindings by labels.
func (in *Injector) Named(pod Pod, s Subject) bool {
	name := pod.ServiceAccountName
	if s.Identities.has(s.Namespace, name) || s.Account != nil && s.Account.Annotations[in.names.roleARN] != "" {
		return true
	}
	if s.Mapping == nil {
		return false
	}
	_, ok := s.Mapping.byName(s.Namespace, name)
	return ok
}

// parseBindings reads {"items": […]}.
func parseBindings(value json.RawMessage) (bindings, []string) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := decodeStrictly(value, &list); err != nil {
		return bindings{}, []string{fmt.Sprintf("%q: no object with a list items: %v", bindingsKey, err)}
	}
	var found bindings
	var problems []string
	for i, item := range list.Items {
		parsed, err := parseBinding(item)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%q: items[%d]: %v", bindingsKey, i, err))
			parsed.entry = entry{broken: true}
		}
		if len(parsed.labels) > 0 {
			found.items = append(found.items, parsed)
		}
	}
	found.makeIndex()
	return found, problems
}

// parseBinding reads one item. Unlike an entry it has no predecessor to be
// compatible with: an unknown field is refused. With an error, the labels are
// those that could be read.
func parseBinding(value json.RawMessage) (labelBinding, error) {
	type selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
	var item struct {
		NamespaceSelector      selector `json:"namespaceSelector"`
		ServiceAccountSelector selector `json:"serviceAccountSelector"`
		RoleARN                string
		Audience               string
		UseRegionalSTS         *bool
		TokenExpiration        int64
	}
	err := decodeStrictly(value, &item)
	found := labelBinding{
		labels: map[label]struct{}{},
		entry: entry{RoleARN: item.RoleARN, Audience: item.Audience,
			UseRegionalSTS: item.UseRegionalSTS, TokenExpiration: item.TokenExpiration},
	}
	err = errors.Join(err,
		found.demand("namespaceSelector", true, item.NamespaceSelector.MatchLabels),
		found.demand("serviceAccountSelector", false, item.ServiceAccountSelector.MatchLabels))
	switch {
	case err != nil:
		return found, err
	case len(found.labels) == 0:
		return found, errors.New("it has no matchLabels, expected some: it would give the role to everybody")
	case item.RoleARN == "":
		return found, errors.New("RoleARN is empty, expected the ARN of a role")
	}
	return found, nil
}

// demand adds the labels of one selector.
func (b *labelBinding) demand(selector string, ofNamespace bool, matchLabels map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(matchLabels)) {
		value := matchLabels[key]
		if len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
			return fmt.Errorf("%s: %.80q: %.80q is no label", selector, key, value)
		}
		b.labels[label{ofNamespace, key, value}] = struct{}{}
	}
	return nil
}

// makeIndex makes the index once all items are known.
func (b *bindings) makeIndex() {
	demanded := map[label]int{}
	ofNamespaces, ofAccounts := map[string]struct{}{}, map[string]struct{}{}
	for _, item := range b.items {
		for each := range item.labels {
			demanded[each]++
			switch {
			case !each.ofNamespace:
				ofAccounts[each.key] = struct{}{}
			case each.key != namespaceNameLabel:
				ofNamespaces[each.key] = struct{}{}
			}
		}
	}
	b.namespaceLabels, b.accountLabels = slices.Sorted(maps.Keys(ofNamespaces)), slices.Sorted(maps.Keys(ofAccounts))
	b.index = make(map[label][]int, len(b.items))
	for i, item := range b.items {
		var rarest label
		for each := range item.labels {
			if rarest.key == "" || demanded[each] < demanded[rarest] {
				rarest = each
			}
		}
		b.index[rarest] = append(b.index[rarest], i)
	}
}

// match is the first item whose labels are all there.
func (b *bindings) match(s Subject) (entry, bool) {
	if len(b.items) == 0 {
		return entry{}, false
	}
	first := len(b.items)
	look := func(has label) {
		for _, i := range b.index[has] {
			if i >= first {
				return
			}
			if b.items[i].matches(s) {
				first = i
			}
		}
	}
	look(label{true, namespaceNameLabel, s.Namespace})
	for key, value := range s.NamespaceLabels {
		look(label{true, key, value})
	}
	if s.Account != nil {
		for key, value := range s.Account.Labels {
			look(label{false, key, value})
		}
	}
	if first == len(b.items) {
		return entry{}, false
	}
	return b.items[first].entry, true
}

func (b labelBinding) matches(s Subject) bool {
	for demanded := range b.labels {
		if !s.has(demanded) {
			return false
		}
	}
	return true
}

// has says whether a namespace or ServiceAccount has a label.
func (s Subject) has(demanded label) bool {
	var labels map[string]string
	switch {
	case demanded.ofNamespace && demanded.key == namespaceNameLabel:
		return demanded.value == s.Namespace
	case demanded.ofNamespace:
		labels = s.NamespaceLabels
	case s.Account != nil:
		labels = s.Account.Labels
	}
	value, ok := labels[demanded.key]
	return ok && value == demanded.value
}
