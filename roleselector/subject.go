package roleselector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Subject is for whom a role is assumed: the values of the variables that
// templates may hold, beside the selector's own. What is empty has no value, and
// a template that needs it is an error.
type Subject struct {
	// ClusterID tells this cluster from others.
	ClusterID string
	// ControllerNamespace is where the controller runs.
	ControllerNamespace string
	// Service is the controller's service, such as s3.
	Service string
	// Kind is the resource's kind.
	Kind string
	// Namespace, NamespaceUID and NamespaceLabels are the resource's namespace's.
	Namespace, NamespaceUID string
	NamespaceLabels         map[string]string
	// Name, UID and Labels are the resource's.
	Name, UID string
	Labels    map[string]string
}

// Field is a part of the AssumeRole input that an administrator has a flag for.
type Field string

// The fields.
const (
	ExternalIDField  Field = "external-id"
	SessionNameField Field = "session-name"
	SessionTagsField Field = "session-tags"
)

// Settings are what an administrator says of AssumeRole by flags: defaults for
// all selectors, which a selector overrides unless the field is locked. The zero
// value has no defaults.
type Settings struct {
	// ExternalID and SessionName are templates; empty is none.
	ExternalID, SessionName string
	// SessionTags are there besides a selector's own.
	SessionTags []v1alpha1.SessionTag
	// Locked are fields that a selector may not set; of the tags, none of those
	// keys.
	Locked []Field
	// AllowedRoles are the ARNs of the roles that may be assumed, whatever selectors
	// name; * stands for any characters. Empty is any role.
	AllowedRoles []string
	// ProtectedLabels are prefixes of keys of namespace labels that only
	// administrators may write, and that NAMESPACE_LABEL may read.
	ProtectedLabels []string
}

// Problems are what is wrong with the settings, for a program's start.
func (s Settings) Problems() []Problem {
	var problems []Problem
	if s.ExternalID != "" {
		problems = append(problems, faultsOfText("--assume-role-external-id", &v1alpha1.Text{Template: s.ExternalID}, fixed)...)
	}
	if s.SessionName != "" {
		problems = append(problems, faultsOfText("--assume-role-session-name", &v1alpha1.Text{Template: s.SessionName}, untrusted)...)
	}
	problems = append(problems, faultsOfTags("--assume-role-session-tags", s.SessionTags)...)
	for _, field := range s.Locked {
		if !slices.Contains([]Field{ExternalIDField, SessionNameField, SessionTagsField}, field) {
			problems = append(problems, badInput("--lock-assume-role-fields", fmt.Sprintf("%q is no field that can be locked", field)))
		}
	}
	for _, pattern := range s.AllowedRoles {
		if !strings.HasPrefix(pattern, "arn:") {
			problems = append(problems, badInput("--allowed-role-arns", fmt.Sprintf("%q is no pattern of ARNs, such as arn:aws:iam::*:role/ack/*", pattern)))
		}
	}
	if slices.Contains(s.ProtectedLabels, "") {
		problems = append(problems, badInput("protected label prefixes", "an empty prefix would protect every label"))
	}
	return problems
}

// allows says whether a role may be assumed.
func (s Settings) allows(arn string) bool {
	return len(s.AllowedRoles) == 0 || slices.ContainsFunc(s.AllowedRoles, func(pattern string) bool { return fits(pattern, arn) })
}

// fits says whether a text is as a pattern says, in which * is any characters.
func fits(pattern, text string) bool {
	first, rest, found := strings.Cut(pattern, "*")
	if !found {
		return text == pattern
	}
	text, fitting := strings.CutPrefix(text, first)
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return fitting && strings.HasSuffix(text, last)
}

// Input is one call of AssumeRole.
type Input struct {
	Role identity.Role
	// Scope is what shares the session: all that a selector selects, one
	// namespace, or one resource.
	Scope v1alpha1.CacheScope
}
