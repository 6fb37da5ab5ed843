package roleselector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// Field is a part of the AssumeRole input that an administrator has a flag for.
type Field string

// The fields.
const (
	ExternalIDField  Field = "external-id"
	SessionNameField Field = "session-name"
	SessionTagsField Field = "session-tags"
)

var lockable = []Field{ExternalIDField, SessionNameField, SessionTagsField}

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
	// SessionLimit is for NewSessions: how many distinct sessions one selector may
	// have; 0 is DefaultSessionLimit.
	SessionLimit int
}

// Problems are what is wrong with the settings, for a program's start.
func (s Settings) Problems() []Problem {
	var problems []Problem
	if s.ExternalID != "" {
		problems = append(problems, s.faultsOfDefault(flagExternalID, s.ExternalID, fixed, isExternalID())...)
	}
	if s.SessionName != "" {
		problems = append(problems, s.faultsOfDefault(flagSessionName, s.SessionName, untrusted, isDefaultName())...)
	}
	problems = append(problems, faultsOfTags("--"+flagSessionTags, s.SessionTags)...)
	if len(problems) == 0 {
		for _, tag := range s.SessionTags {
			problems = append(problems, s.faultsOfDefaultTag(tag)...)
		}
	}
	problems = append(problems, s.faultsOfLock()...)
	for _, pattern := range s.AllowedRoles {
		if !isRolePattern().pattern.MatchString(pattern) {
			problems = append(problems, badInput("--"+flagAllowedRoles, fmt.Sprintf("%q is not %s", shortened(pattern), isRolePattern().words)))
		}
	}
	for _, prefix := range s.ProtectedLabels {
		if !isLabelPrefix().pattern.MatchString(prefix) {
			problems = append(problems, badInput("--"+flagProtectedLabels, fmt.Sprintf("%q is not %s", shortened(prefix), isLabelPrefix().words)))
		}
	}
	if s.SessionLimit < 0 {
		problems = append(problems, badInput("--"+flagSessionLimit, fmt.Sprintf("%d is not 1 or more", s.SessionLimit)))
	}
	return problems
}

var (
	isRolePattern = lazy(`^arn:[!-+\--~]+$`, "the ARN of a role, with * for any characters; write one such as arn:aws:iam::*:role/ack/*")
	isLabelPrefix = lazy(`^[A-Za-z0-9][\w./-]*$`, "what keys of labels begin with; write one such as identity.tabard.dev/")
	// A session's name is shortened where it is too long.
	isDefaultName = lazy(`^[\w+=,.@-]{2,}$`, sessionWords)
	anyVariable   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[^%]*%`) })
)

// faultsOfDefault looks at a template that is no selector's.
func (s Settings) faultsOfDefault(flag, template string, most trust, form form) []Problem {
	if problem := s.faultOfTemplate("--"+flag, template, most, form); problem != nil {
		problem.Message += fmt.Sprintf("; write a text such as %s, with the variables %s", flagExamples[flag], strings.Join(variablesUpTo(most), ", "))
		return []Problem{*problem}
	}
	return nil
}

// faultsOfDefaultTag looks at what a selector's own schema asks for, too: a session
// may inherit tags, and none of those may be replaced.
func (s Settings) faultsOfDefaultTag(tag v1alpha1.SessionTag) []Problem {
	at := "--" + flagSessionTags + "[" + tag.Key + "]"
	if tag.Template == "" {
		if !isTagValue().pattern.MatchString(tag.Value) {
			return []Problem{badInput(at, fmt.Sprintf("%q is not what STS takes: %s", shortened(tag.Value), isTagValue().words))}
		}
		return nil
	}
	if !strings.HasPrefix(tag.Key, ownTags) {
		return []Problem{badInput(at, fmt.Sprintf("the key of a tag with a variable begins with %s; write %s%s", ownTags, ownTags, tag.Key))}
	}
	if problem := s.faultOfTemplate(at, tag.Template, trustOfTag(tag.Key), isTagValue()); problem != nil {
		return []Problem{*problem}
	}
	return nil
}

// faultOfTemplate is what shows of a template before there are values for its
// variables: it is tried with short ones, and with none.
func (s Settings) faultOfTemplate(at, template string, most trust, form form) *Problem {
	parts, err := parseTemplate(template, most)
	if err != nil {
		problem := badInput(at, err.Error())
		return &problem
	}
	for _, p := range parts {
		if p.variable == namespaceLabel && !s.protects(p.key) {
			problem := badInput(at, fmt.Sprintf("%s is not of a protected label; add the beginning of its key to --%s", p, flagProtectedLabels))
			return &problem
		}
	}
	isTaken := func(filling string) bool {
		return form.pattern.MatchString(anyVariable().ReplaceAllString(template, filling))
	}
	if !isTaken("") && !isTaken("xx") {
		problem := badInput(at, fmt.Sprintf("%q is not what STS takes: %s", shortened(template), form.words))
		return &problem
	}
	return nil
}

func (s Settings) faultsOfLock() []Problem {
	var problems []Problem
	for _, field := range s.Locked {
		switch {
		case !slices.Contains(lockable, field):
			problems = append(problems, badInput("--"+flagLock, fmt.Sprintf("%q is no field that can be locked; there are %s, %s and %s",
				shortened(string(field)), ExternalIDField, SessionNameField, SessionTagsField)))
		case field == SessionTagsField && len(s.SessionTags) == 0:
			problems = append(problems, badInput("--"+flagLock, fmt.Sprintf("%s locks the keys of --%s, and there are none", field, flagSessionTags)))
		}
	}
	return problems
}

// protects says whether only administrators write a label of namespaces.
func (s Settings) protects(key string) bool {
	return slices.ContainsFunc(s.ProtectedLabels, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// allows says whether a role may be assumed.
func (s Settings) allows(arn string) bool {
	return len(s.AllowedRoles) == 0 || slices.ContainsFunc(s.AllowedRoles, func(pattern string) bool { return fitsRole(pattern, arn) })
}

// roleMark begins the path of a role in its ARN. What is before it has no slash.
const roleMark = ":role/"

// fitsRole says whether the ARN of a role is as a pattern says. What a pattern says
// before roleMark is about the account, and not about a path, in which IAM lets
// people write anything, such as another :role/.
func fitsRole(pattern, arn string) bool {
	before, after, marked := strings.Cut(pattern, roleMark)
	if !marked {
		return fits(pattern, arn)
	}
	account, role, isRole := strings.Cut(arn, roleMark)
	return isRole && fits(before, account) && fits(after, role)
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
