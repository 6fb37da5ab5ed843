package carm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// What marks the selectors of a migration.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	ManagedBy      = "tabard"
	// SourcesAnnotation lists the entries of config maps that a selector comes from,
	// as NAMESPACE/CONFIG MAP/KEY.
	SourcesAnnotation = "tabard.dev/carm-sources"
	// BlockerLabel marks a selector that stands for no role at all.
	BlockerLabel = "tabard.dev/carm-blocker"
)

const (
	// chunk is how many namespaces a selector lists at most.
	chunk = 500
	// anyGroup stands for all groups.
	anyGroup = "*"
)

// bucket is the places of one target that have the same groups.
type bucket struct {
	target target
	groups []string
	places []place
}

// identity is what the bucket's name is made of.
func (b bucket) identity() string {
	id := string(b.target.outcome)
	if b.target.outcome == Role {
		id = b.target.role
	}
	id += "|" + strings.Join(b.groups, ",")
	if first := b.places[0]; first.label != "" {
		id += "|" + first.label + "=" + first.value
	}
	return id
}

// build covers the cells with as few selectors as their targets and groups allow.
// No two of them match the same resource as long as no cell says two things.
func build(cells []cell) []v1alpha1.IAMRoleSelector {
	groups, sources := map[target]map[place][]string{}, map[cell][]string{}
	for _, one := range cells {
		if groups[one.target] == nil {
			groups[one.target] = map[place][]string{}
		}
		groups[one.target][one.place] = append(groups[one.target][one.place], one.group)
		at := cell{target: one.target, place: one.place}
		sources[at] = append(sources[at], one.source)
	}
	buckets := map[string]*bucket{}
	for t, places := range groups {
		for p, list := range places {
			slices.Sort(list)
			one := bucket{t, slices.Compact(list), []place{p}}
			if known := buckets[one.identity()]; known != nil {
				known.places = append(known.places, p)
				continue
			}
			buckets[one.identity()] = &one
		}
	}
	names := namesFor(buckets)
	var out []v1alpha1.IAMRoleSelector
	for id, b := range buckets {
		slices.SortFunc(b.places, func(a, c place) int { return strings.Compare(a.namespace, c.namespace) })
		number := 0
		for part := range slices.Chunk(b.places, chunk) {
			number++
			name := names[id]
			if number > 1 {
				name = fmt.Sprintf("%s-%d", name, number)
			}
			var from []string
			for _, p := range part {
				from = append(from, sources[cell{target: b.target, place: p}]...)
			}
			out = append(out, b.selector(name, part, from))
		}
	}
	slices.SortFunc(out, func(a, c v1alpha1.IAMRoleSelector) int { return strings.Compare(a.Name, c.Name) })
	return out
}

// namesFor gives each bucket a name of eight digits of its hash, or of sixteen
// where eight would be the same.
func namesFor(buckets map[string]*bucket) map[string]string {
	short := func(id string, digits int) string {
		sum := sha256.Sum256([]byte(id))
		return "carm-" + hex.EncodeToString(sum[:])[:digits]
	}
	uses, names := map[string]int{}, map[string]string{}
	for id := range buckets {
		uses[short(id, 8)]++
	}
	for id := range buckets {
		names[id] = short(id, 8)
		if uses[names[id]] > 1 {
			names[id] = short(id, 16)
		}
	}
	return names
}

// selector is the object for some places of a bucket.
func (b bucket) selector(name string, places []place, sources []string) v1alpha1.IAMRoleSelector {
	slices.Sort(sources)
	spec := &v1alpha1.IAMRoleSelectorSpec{NamespaceSelector: &v1alpha1.NamespaceSelector{}}
	labels := map[string]string{ManagedByLabel: ManagedBy}
	if b.target.outcome == Denied {
		spec.Effect = v1alpha1.Deny
	} else {
		spec.ARN = b.target.role
	}
	if b.target.outcome == Denied || IsBlocker(spec.ARN) {
		labels[BlockerLabel] = "true"
	}
	if first := places[0]; first.label != "" {
		spec.NamespaceSelector.LabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{first.label: first.value}}
	} else {
		for _, p := range places {
			spec.NamespaceSelector.Names = append(spec.NamespaceSelector.Names, p.namespace)
		}
	}
	for _, group := range b.groups {
		if group != anyGroup {
			spec.ResourceTypeSelector = append(spec.ResourceTypeSelector, v1alpha1.ResourceType{Group: group})
		}
	}
	return v1alpha1.IAMRoleSelector{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "IAMRoleSelector"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: labels,
			Annotations: map[string]string{SourcesAnnotation: strings.Join(slices.Compact(sources), "\n")},
		},
		Spec: spec,
	}
}

// Manifest is a selector of a migration as an object to apply. ACK's own schema
// asks for fields that may be empty: they are all there.
func Manifest(s v1alpha1.IAMRoleSelector) map[string]any {
	if s.Spec == nil {
		s.Spec = &v1alpha1.IAMRoleSelectorSpec{}
	}
	by := s.Spec.NamespaceSelector
	if by == nil {
		by = &v1alpha1.NamespaceSelector{}
	}
	namespaces := map[string]any{"names": texts(by.Names)}
	if by := by.LabelSelector; by != nil {
		namespaces["labelSelector"] = map[string]any{"matchLabels": by.MatchLabels}
	}
	spec := map[string]any{"namespaceSelector": namespaces}
	if s.Spec.ARN != "" {
		spec["arn"] = s.Spec.ARN
	}
	if s.Spec.Effect != "" {
		spec["effect"] = string(s.Spec.Effect)
	}
	var types []any
	for _, t := range s.Spec.ResourceTypeSelector {
		types = append(types, map[string]any{"group": t.Group, "version": t.Version, "kind": t.Kind})
	}
	if types != nil {
		spec["resourceTypeSelector"] = types
	}
	return map[string]any{
		"apiVersion": s.APIVersion, "kind": s.Kind,
		"metadata": map[string]any{"name": s.Name, "labels": s.Labels, "annotations": s.Annotations},
		"spec":     spec,
	}
}

func texts(in []string) []any {
	out := make([]any, 0, len(in))
	for _, text := range in {
		out = append(out, text)
	}
	return out
}
