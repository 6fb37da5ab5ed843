package selector

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// parseArgument splits resource/KIND/NAME. Where only resources can be meant, the
// first word may be left out.
func parseArgument(argument string, onlyResources bool) (kind, name string, err error) {
	parts := strings.Split(argument, "/")
	if parts[0] == "resource" && len(parts) == 3 {
		parts = parts[1:]
	} else if !onlyResources {
		return "", "", fmt.Errorf("%q is not yet known: use resource/KIND/NAME, such as resource/bucket/logs", argument)
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return "", "", fmt.Errorf("%q: expected KIND/NAME, such as bucket/logs", argument)
	}
	return parts[0], parts[1], nil
}

// kind is a kind that the API server serves.
type kind struct {
	schema.GroupVersionKind
	plural     string
	namespaced bool
	// versions are all that are served, the group's preferred one first.
	versions []string
}

func (k kind) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.plural}
}

// findKind finds the one kind that a person means: by kind, plural, singular or
// short name, behind which the group, or version and group, may stand.
func (c Cluster) findKind(ctx context.Context, written string) (kind, error) {
	groups, lists, failed := c.Kinds.ServerGroupsAndResourcesWithContext(ctx)
	name, of, qualified := strings.Cut(written, ".")
	// Which kind is meant is known only if all groups are, or if its group is named.
	if failed != nil && (!qualified || len(lists) == 0) {
		return kind{}, fmt.Errorf("find out what the API server serves: %w; KIND.GROUP/NAME needs only the group that it names", failed)
	}
	found := map[schema.GroupKind]kind{}
	for _, list := range inPreference(groups, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return kind{}, fmt.Errorf("the API server tells of the version %q: %w", list.GroupVersion, err)
		}
		for i := range list.APIResources {
			served := &list.APIResources[i]
			if strings.Contains(served.Name, "/") || !isCalled(served, name) {
				continue
			}
			if qualified && of != version.Group && of != version.Version+"."+version.Group {
				continue
			}
			k, known := found[version.WithKind(served.Kind).GroupKind()]
			if !known {
				k = kind{GroupVersionKind: version.WithKind(served.Kind), plural: served.Name, namespaced: served.Namespaced}
			}
			k.versions = append(k.versions, version.Version)
			found[k.GroupKind()] = k
		}
	}
	return only(written, found, failed)
}

// only is the one that was found.
func only(written string, found map[schema.GroupKind]kind, failed error) (kind, error) {
	var names []string
	var last kind
	for gk, k := range found {
		names = append(names, gk.String())
		last = k
	}
	slices.Sort(names)
	switch {
	case len(names) == 0 && failed != nil:
		return kind{}, fmt.Errorf("find out what the API server serves: %w", failed)
	case len(names) == 0:
		return kind{}, fmt.Errorf("the API server serves no kind %q; kubectl api-resources lists those that it serves", written)
	case len(names) > 1:
		return kind{}, fmt.Errorf("%q may be each of %s: write which", written, strings.Join(names, ", "))
	case last.Group == "":
		return kind{}, fmt.Errorf("%s has no API group, so that no IAMRoleSelector is for it", last.Kind)
	}
	return last, nil
}

func isCalled(r *metav1.APIResource, name string) bool {
	if slices.Contains(r.ShortNames, name) {
		return true
	}
	return strings.EqualFold(name, r.Kind) || strings.EqualFold(name, r.Name) || strings.EqualFold(name, r.SingularName)
}

// inPreference puts the list of a group's preferred version before its others.
func inPreference(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) []*metav1.APIResourceList {
	preferred := map[string]bool{}
	for _, group := range groups {
		preferred[group.PreferredVersion.GroupVersion] = true
	}
	sorted := slices.Clone(lists)
	slices.SortStableFunc(sorted, func(a, b *metav1.APIResourceList) int {
		switch {
		case preferred[a.GroupVersion] == preferred[b.GroupVersion]:
			return 0
		case preferred[a.GroupVersion]:
			return -1
		default:
			return 1
		}
	})
	return sorted
}
