package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// grant is a rule that an account has, in one namespace, or with an empty one in all
// and for what has none.
type grant struct {
	namespace string
	rbacv1.PolicyRule
}

// everything is what an account is taken to have that is bound to a role of
// Kubernetes' own.
var everything = map[string][]rbacv1.PolicyRule{
	"cluster-admin": {{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
	"admin":         {{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
	"edit":          {{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
	"view":          {{Verbs: reading, APIGroups: []string{""}, Resources: []string{"pods", "configmaps"}}},
}

// grants are all rules of an account.
func (w *world) grants(of account) ([]grant, error) {
	var found []grant
	for _, b := range w.bindings {
		if !slices.ContainsFunc(b.subjects, of.is) {
			continue
		}
		rules, err := w.rulesOf(b)
		if err != nil {
			return nil, err
		}
		for _, rule := range rules {
			found = append(found, grant{b.namespace, rule})
		}
	}
	return found, nil
}

// is says that a subject of a binding is the account, by name or by a group.
func (a account) is(subject rbacv1.Subject) bool {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		return subject.Namespace == a.namespace && subject.Name == a.name
	case rbacv1.UserKind:
		return subject.Name == a.user()
	case rbacv1.GroupKind:
		return slices.Contains(a.groups(), subject.Name)
	}
	return false
}

// rulesOf are the rules of the role that a binding is to, with those that it
// aggregates.
func (w *world) rulesOf(b binding) ([]rbacv1.PolicyRule, error) {
	namespace := b.namespace
	if b.to.Kind == "ClusterRole" {
		namespace = ""
	}
	at := slices.IndexFunc(w.roles, func(r role) bool { return r.namespace == namespace && r.name == b.to.Name })
	if at < 0 {
		if rules := everything[b.to.Name]; rules != nil && namespace == "" {
			return rules, nil
		}
		return nil, fmt.Errorf("a binding is to %s %s, which no manifest has: name the folder with it, too", b.to.Kind, cmp.Or(namespace+"/", "")+b.to.Name)
	}
	rules := slices.Clone(w.roles[at].rules)
	if w.roles[at].aggregates == nil {
		return rules, nil
	}
	for _, each := range w.roles[at].aggregates.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&each)
		if err != nil {
			return nil, err
		}
		for _, other := range w.roles {
			if other.namespace == "" && selector.Matches(labels.Set(other.labels)) {
				rules = append(rules, other.rules...)
			}
		}
	}
	return rules, nil
}

// in says that a list of a rule has a value, or all.
func in(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

// covers says that a grant is of a verb on a resource, some of its names at least.
func (g grant) covers(verb, group, resource string) bool {
	return in(g.Verbs, verb) && g.isOf(group, resource)
}

// isOf says that a grant is of a resource, whatever the verb is.
func (g grant) isOf(group, resource string) bool {
	_, sub, isSub := strings.Cut(resource, "/")
	return in(g.APIGroups, group) && (in(g.Resources, resource) || isSub && slices.Contains(g.Resources, "*/"+sub))
}

// allows says that an account may do it by RBAC. Kubernetes: a create cannot be limited
// to names, for it has none yet; but for one by server-side apply, which needs the right
// to patch that name too. A collection is deleted by no name, either.
func allows(grants []grant, r request) bool {
	resource := withSub(r.resource, r.sub)
	return slices.ContainsFunc(grants, func(g grant) bool {
		if g.namespace != "" && g.namespace != r.namespace || !g.covers(r.verb, r.group, resource) {
			return false
		}
		if len(g.ResourceNames) > 0 && r.verb == "deletecollection" {
			return false
		}
		return len(g.ResourceNames) == 0 || slices.Contains(g.ResourceNames, r.name) && (r.verb != "create" || r.sub != "" || allows(grants, r.as("patch")))
	})
}

// writes says that an account may change some objects of a resource in a namespace.
func writes(grants []grant, group, resource, namespace string) bool {
	return slices.ContainsFunc(grants, func(g grant) bool { return g.writes(group, resource, namespace) })
}

func (g grant) writes(group, resource, namespace string) bool {
	return (g.namespace == "" || g.namespace == namespace) && slices.ContainsFunc(writing, func(verb string) bool { return g.covers(verb, group, resource) })
}

// namesOf are the names to which an account's rights on a resource are limited in a
// namespace, whatever the verbs are.
func namesOf(grants []grant, group, resource, namespace string) []string {
	var found []string
	for _, g := range grants {
		if (g.namespace == "" || g.namespace == namespace) && g.isOf(group, resource) {
			found = append(found, g.ResourceNames...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// reading are the verbs by which nothing changes.
var reading = []string{"get", "list", "watch"}

func reads(verb string) bool { return slices.Contains(reading, verb) }

// writing are the verbs by which something changes.
var writing = []string{"create", "update", "patch", "delete", "deletecollection"}
