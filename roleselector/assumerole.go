package roleselector

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// defaultDuration is how long a session holds where nobody says.
const defaultDuration = 15 * time.Minute

// AssumeRole is how the selector's role is assumed for a subject. The call must
// not be made if there is a problem: nothing is cut short or left out to make an
// input that STS takes, the session's name aside.
func (s *Selector) AssumeRole(subject Subject, settings Settings) (Input, []Problem) {
	if problem := firstBlocking(s.problems); problem != nil {
		return Input{}, []Problem{*problem}
	}
	if s.deny {
		return Input{}, []Problem{badInput("spec.effect", "a selector that denies has no role to assume")}
	}
	// The settings are the program's own, but a caller may not have looked.
	if problems := settings.Problems(); len(problems) > 0 {
		return Input{}, problems
	}
	if !settings.allows(s.reference.ARN) {
		return Input{}, []Problem{badInput("spec.arn", "the administrator of the controller does not let it assume this role, which fits none of --"+flagAllowedRoles)}
	}
	spec := s.assumeRole
	if spec == nil {
		spec = &v1alpha1.AssumeRole{}
	}
	b := builder{selector: s, subject: &subject, settings: &settings, spec: spec, scope: v1alpha1.SelectorScope}
	role := identity.Role{
		ARN:            s.reference.ARN,
		ExternalID:     b.externalID(),
		SourceIdentity: b.sourceIdentity(),
		Tags:           b.tags(),
		TransitiveTags: slices.Sorted(slices.Values(spec.TransitiveTagKeys)),
		PolicyARNs:     slices.Sorted(slices.Values(spec.PolicyARNs)),
		Duration:       defaultDuration,
	}
	if spec.DurationSeconds != nil {
		role.Duration = time.Duration(*spec.DurationSeconds) * time.Second
	}
	role.SessionName = b.sessionName()
	b.checkTransitive(role)
	if len(b.problems) > 0 {
		return Input{}, b.problems
	}
	return Input{Role: role, Scope: b.scope}, nil
}

// builder makes the parts of an input, and gathers the narrowest scope of the
// variables it meets.
type builder struct {
	selector *Selector
	subject  *Subject
	settings *Settings
	spec     *v1alpha1.AssumeRole
	scope    v1alpha1.CacheScope
	problems []Problem
}

func (b *builder) fault(field, format string, arguments ...any) {
	b.problems = append(b.problems, badInput(field, fmt.Sprintf(format, arguments...)))
}

// refuseLocked makes it a fault that a selector sets a field that is locked.
func (b *builder) refuseLocked(field Field, at string) {
	if slices.Contains(b.settings.Locked, field) {
		b.fault(at, "the administrator has locked the %s with --%s; take it out of the selector", field, flagLock)
	}
}

const (
	atExternalID     = "spec.assumeRole.externalID"
	atSessionName    = "spec.assumeRole.sessionName"
	atSessionTags    = "spec.assumeRole.sessionTags"
	atSourceIdentity = "spec.assumeRole.sourceIdentity"
	atTransitive     = "spec.assumeRole.transitiveTagKeys"
	atCacheScope     = "spec.assumeRole.cacheScope"
)

func (b *builder) externalID() string {
	text := b.spec.ExternalID
	if text != nil {
		b.refuseLocked(ExternalIDField, atExternalID)
	} else if b.settings.ExternalID != "" {
		text = &v1alpha1.Text{Template: b.settings.ExternalID}
	}
	if text == nil {
		return ""
	}
	return b.checked(atExternalID, b.render(atExternalID, text, fixed), isExternalID())
}

func (b *builder) sourceIdentity() string {
	if b.spec.SourceIdentity == nil {
		return ""
	}
	return b.checked(atSourceIdentity, b.render(atSourceIdentity, b.spec.SourceIdentity, trusted), isSourceIdentity())
}

// sessionName comes last: a scope that is narrower than the variables' is told
// apart by the name.
func (b *builder) sessionName() string {
	text := b.spec.SessionName
	if text != nil {
		b.refuseLocked(SessionNameField, atSessionName)
	} else if b.settings.SessionName != "" {
		text = &v1alpha1.Text{Template: b.settings.SessionName}
	}
	name := fmt.Sprintf("ack-%s-%s-%s", b.subject.Service, digest(b.selector.reference.Name), digest(b.subject.ClusterID))
	if text != nil {
		name = b.render(atSessionName, text, untrusted)
	}
	name += b.narrow()
	if len(name) > maxSessionName {
		end := "-" + digest(name)
		name = name[:maxSessionName-len(end)] + end
	}
	return b.checked(atSessionName, name, isSessionName())
}

// narrow makes the scope what the selector asks for, and is what the session's
// name has to end with for that.
func (b *builder) narrow() string {
	wanted := b.spec.CacheScope
	if wanted == "" || wanted == b.scope {
		return ""
	}
	if slices.Index(scopes, wanted) < slices.Index(scopes, b.scope) {
		b.fault(atCacheScope, "%s is wider than what the templates are different for: %s", wanted, b.scope)
		return ""
	}
	b.scope = wanted
	of := b.subject.Namespace
	if wanted == v1alpha1.ResourceScope {
		of = strings.Join([]string{b.subject.Service, b.subject.Kind, b.subject.Namespace, b.subject.Name}, "/")
	}
	return "-" + digest(of)
}

// tags are the settings' with the selector's own over them.
func (b *builder) tags() map[string]string {
	if len(b.settings.SessionTags)+len(b.spec.SessionTags) == 0 {
		return nil
	}
	merged := slices.Clone(b.spec.SessionTags)
	for _, tag := range b.settings.SessionTags {
		own := slices.IndexFunc(b.spec.SessionTags, func(t v1alpha1.SessionTag) bool { return strings.EqualFold(t.Key, tag.Key) })
		if own < 0 {
			merged = append(merged, tag)
			continue
		}
		b.refuseLocked(SessionTagsField, atSessionTags+"["+b.spec.SessionTags[own].Key+"]")
	}
	if len(merged) > maxTags {
		b.fault(atSessionTags, "there are %d tags with those of the flags; STS takes %d", len(merged), maxTags)
	}
	tags := make(map[string]string, len(merged))
	for _, tag := range merged {
		at := atSessionTags + "[" + tag.Key + "]"
		tags[tag.Key] = b.checked(at, b.render(at, &tag.Text, trustOfTag(tag.Key)), isTagValue())
	}
	return tags
}

func (b *builder) checkTransitive(role identity.Role) {
	for _, key := range role.TransitiveTags {
		if _, has := role.Tags[key]; !has {
			b.fault(atTransitive, "the session has no tag %q", shortened(key))
		}
	}
}

// checked is a value that has the form that STS asks for. Of one that could not
// be made nothing more is said.
func (b *builder) checked(at, value string, form form) string {
	isFaulty := slices.ContainsFunc(b.problems, func(p Problem) bool { return p.Field == at })
	if !isFaulty && !form.pattern.MatchString(value) {
		b.fault(at, "%q is not what STS takes: %s", shortened(value), form.words)
	}
	return value
}

// render fills a text's variables in.
func (b *builder) render(at string, text *v1alpha1.Text, most trust) string {
	if text.Template == "" {
		return text.Value
	}
	parts, err := parseTemplate(text.Template, most)
	if err != nil {
		b.fault(at, "%s", err)
		return ""
	}
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.literal)
		if p.variable != "" {
			out.WriteString(b.value(at, p))
		}
	}
	return out.String()
}

func (b *builder) value(at string, p part) string {
	v := variables[p.variable]
	if slices.Index(scopes, v.scope) > slices.Index(scopes, b.scope) {
		b.scope = v.scope
	}
	if p.variable == namespaceLabel && !b.settings.protects(p.key) {
		b.fault(at, "the namespace label %q is not protected by the administrator", shortened(p.key))
		return ""
	}
	value, has := v.value(b.selector, b.subject, p.key)
	if !has {
		b.fault(at, "the variable %s has no value here", p)
	}
	return value
}

// String is the variable as it is written.
func (p part) String() string {
	if p.key != "" {
		return "%" + p.variable + "(" + p.key + ")%"
	}
	return "%" + p.variable + "%"
}

// scopes are from the widest to the narrowest.
var scopes = []v1alpha1.CacheScope{v1alpha1.SelectorScope, v1alpha1.NamespaceScope, v1alpha1.ResourceScope}

// digest is eight digits that stand for a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}
