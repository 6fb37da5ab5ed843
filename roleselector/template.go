package roleselector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// trust says who controls a variable's value. A field takes the variables of its
// level and of those below.
type trust uint8

const (
	// fixed values are the administrator's, or a namespace's own name: tenants
	// cannot choose them to pass for somebody else.
	fixed trust = iota
	// trusted values besides: what a controller declares, and labels of namespaces
	// that the administrator protects.
	trusted
	// untrusted values are whatever the resource's owner writes.
	untrusted
)

// variable is a name that a template may hold.
type variable struct {
	trust trust
	scope v1alpha1.CacheScope // what shares its value
	keyed bool                // it is written NAME(key)
	value func(s *Selector, subject *Subject, key string) (string, bool)
}

func plain(value func(*Selector, *Subject) string) func(*Selector, *Subject, string) (string, bool) {
	return func(s *Selector, subject *Subject, _ string) (string, bool) {
		text := value(s, subject)
		return text, text != ""
	}
}

// namespaceLabel is the one variable that takes protected labels alone.
const namespaceLabel = "NAMESPACE_LABEL"

// variables are all there are.
var variables = map[string]variable{
	"CLUSTER_ID":           {fixed, v1alpha1.SelectorScope, false, plain(func(_ *Selector, u *Subject) string { return u.ClusterID })},
	"CONTROLLER_NAMESPACE": {fixed, v1alpha1.SelectorScope, false, plain(func(_ *Selector, u *Subject) string { return u.ControllerNamespace })},
	"K8S_NAMESPACE":        {fixed, v1alpha1.NamespaceScope, false, plain(func(_ *Selector, u *Subject) string { return u.Namespace })},
	"K8S_NAMESPACE_UID":    {fixed, v1alpha1.NamespaceScope, false, plain(func(_ *Selector, u *Subject) string { return u.NamespaceUID })},
	"SELECTOR_NAME":        {fixed, v1alpha1.SelectorScope, false, plain(func(s *Selector, _ *Subject) string { return s.reference.Name })},
	"SELECTOR_UID":         {fixed, v1alpha1.SelectorScope, false, plain(func(s *Selector, _ *Subject) string { return string(s.reference.UID) })},
	"SERVICE":              {trusted, v1alpha1.SelectorScope, false, plain(func(_ *Selector, u *Subject) string { return u.Service })},
	"KIND":                 {trusted, v1alpha1.SelectorScope, false, plain(func(_ *Selector, u *Subject) string { return u.Kind })},
	namespaceLabel: {trusted, v1alpha1.NamespaceScope, true, func(_ *Selector, u *Subject, key string) (string, bool) {
		value, has := u.NamespaceLabels[key]
		return value, has
	}},
	"RESOURCE_NAME": {untrusted, v1alpha1.ResourceScope, false, plain(func(_ *Selector, u *Subject) string { return u.Name })},
	"RESOURCE_UID":  {untrusted, v1alpha1.ResourceScope, false, plain(func(_ *Selector, u *Subject) string { return u.UID })},
	"RESOURCE_LABEL": {untrusted, v1alpha1.ResourceScope, true, func(_ *Selector, u *Subject, key string) (string, bool) {
		value, has := u.Labels[key]
		return value, has
	}},
}

// variablesUpTo are the names of those of a level and of the levels below, as they
// are written.
func variablesUpTo(most trust) []string {
	var names []string
	for name, v := range variables {
		switch {
		case v.trust > most:
		case v.keyed:
			names = append(names, "%"+name+"(KEY)%")
		default:
			names = append(names, "%"+name+"%")
		}
	}
	slices.Sort(names)
	return names
}

// part is a literal text, or a variable with its key, of a template.
type part struct {
	literal, variable, key string
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Z0-9_]+)(?:\(([^()]+)\))?$`) })

// parseTemplate cuts a template into its parts, all of whose variables are known
// and of a level. A percent sign stands nowhere but around a variable: no field
// takes one in its value.
func parseTemplate(text string, most trust) ([]part, error) {
	pieces := strings.Split(text, "%")
	if len(pieces)%2 == 0 {
		return nil, fmt.Errorf("a percent sign has no partner in %q", shortened(text))
	}
	var parts []part
	for i, piece := range pieces {
		if i%2 == 0 {
			parts = append(parts, part{literal: piece})
			continue
		}
		match := placeholder().FindStringSubmatch(piece)
		if match == nil {
			return nil, fmt.Errorf("%q is no variable", shortened("%"+piece+"%"))
		}
		v, known := variables[match[1]]
		switch {
		case !known || v.keyed != (match[2] != ""):
			return nil, fmt.Errorf("%q is no variable", shortened("%"+piece+"%"))
		case v.trust > most:
			return nil, fmt.Errorf("the variable %%%s%% is not allowed here: others than the administrator may set its value", shortened(piece))
		}
		parts = append(parts, part{variable: match[1], key: match[2]})
	}
	return parts, nil
}
