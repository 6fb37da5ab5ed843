package sts

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const maxTags = 50

var tagPattern = pattern.New(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

// attributes are what a session carries besides its policies: tags, of which
// some go on to the sessions that it makes, and the identity at its source.
type attributes struct {
	tags []query.Tag
	// transitive are keys of tags.
	transitive []string
	source     string
}

func (a *attributes) clone() attributes {
	return attributes{tags: slices.Clone(a.tags), transitive: slices.Clone(a.transitive), source: a.source}
}

func hasKey(tags []query.Tag, key string) bool {
	return slices.ContainsFunc(tags, func(tag query.Tag) bool { return strings.EqualFold(tag.Key, key) })
}

func isOneOf(keys []string, key string) bool {
	return slices.ContainsFunc(keys, func(one string) bool { return strings.EqualFold(one, key) })
}

// readAttributes reads the tags and the source identity that a caller passes.
func readAttributes(form query.Form, v *query.Validation) attributes {
	given := attributes{tags: form.Tags("Tags"), transitive: form.List("TransitiveTagKeys")}
	given.source = v.Optional(form, "SourceIdentity", 2, 64, sessionPattern)
	v.Count("Tags", len(given.tags), maxTags)
	v.Count("TransitiveTagKeys", len(given.transitive), maxTags)
	return given
}

// check makes the checks that the form of a parameter does not cover. Keys
// compare without regard to case (STS: "Pass session tags").
func (a *attributes) check() *call.Fault {
	for i, tag := range a.tags {
		switch {
		case tag.Key == "" || len([]rune(tag.Key)) > 128 || !tagPattern.MatchString(tag.Key):
			return badParameter(textTagKey)
		case len([]rune(tag.Value)) > 256 || !tagPattern.MatchString(tag.Value):
			return badParameter(fmt.Sprintf(textTagValue, tag.Key))
		case strings.HasPrefix(strings.ToLower(tag.Key), "aws:"):
			return badParameter(textTagReserved)
		case hasKey(a.tags[:i], tag.Key):
			return badParameter(textTagTwice)
		}
	}
	for _, key := range a.transitive {
		if !hasKey(a.tags, key) {
			return badParameter(textTagNotPassed)
		}
	}
	if strings.HasPrefix(strings.ToLower(a.source), "aws:") {
		return badParameter(textSourceReserved)
	}
	return nil
}

// inherit adds what the caller's session hands on. Neither a transitive tag nor
// the source identity can be replaced on the way (STS: "Chaining roles with
// session tags", "Monitor and control actions taken with assumed roles").
func (a *attributes) inherit(from attributes) *call.Fault {
	if from.source != "" {
		if a.source != "" && a.source != from.source {
			return query.AccessDenied(textSourceFixed)
		}
		a.source = from.source
	}
	for _, tag := range from.tags {
		if !isOneOf(from.transitive, tag.Key) {
			continue
		}
		if hasKey(a.tags, tag.Key) {
			return query.AccessDenied(textTagFixed)
		}
		a.tags = append(a.tags, tag)
		a.transitive = append(a.transitive, tag.Key)
	}
	return nil
}

// context has the condition keys of what the caller passes; what is inherited
// is in the caller's own keys.
func (a *attributes) context() iampolicy.Context {
	context := iampolicy.Context{}
	keys := []string{}
	for _, tag := range a.tags {
		context.Set("aws:RequestTag/"+tag.Key, tag.Value)
		keys = append(keys, tag.Key)
	}
	if len(keys) > 0 {
		context.Set("aws:TagKeys", keys...)
	}
	if len(a.transitive) > 0 {
		context.Set("sts:TransitiveTagKeys", a.transitive...)
	}
	if a.source != "" {
		context.Set("sts:SourceIdentity", a.source)
	}
	return context
}

// needs are the actions besides the assuming itself that the trust policy has
// to allow for a session with these attributes, passed or inherited.
func (a *attributes) needs() []string {
	actions := []string{}
	if len(a.tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	if a.source != "" {
		actions = append(actions, "sts:SetSourceIdentity")
	}
	return actions
}

// text is what the attributes add to the packed size.
func (a *attributes) text() string {
	var out strings.Builder
	for _, tag := range a.tags {
		out.WriteString(tag.Key + tag.Value)
	}
	return out.String()
}

// claimed reads the claims of a verified token by which an issuer sets tags and
// source identity (STS: "Pass session tags", with web identity).
func claimed(raw string) (attributes, bool) {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return attributes{}, false
	}
	plain, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return attributes{}, false
	}
	var claims struct {
		Tags struct {
			Principal  map[string][]string `json:"principal_tags"`
			Transitive []string            `json:"transitive_tag_keys"`
		} `json:"https://aws.amazon.com/tags"`
		Source string `json:"https://aws.amazon.com/source_identity"`
	}
	if json.Unmarshal(plain, &claims) != nil {
		return attributes{}, false
	}
	found := attributes{transitive: claims.Tags.Transitive, source: claims.Source}
	for _, key := range slices.Sorted(maps.Keys(claims.Tags.Principal)) {
		values := claims.Tags.Principal[key]
		if len(values) != 1 {
			return attributes{}, false
		}
		found.tags = append(found.tags, query.Tag{Key: key, Value: values[0]})
	}
	sourceIsGood := found.source == "" || len(found.source) >= 2 && len(found.source) <= 64 && sessionPattern.MatchString(found.source)
	return found, len(found.tags) <= maxTags && sourceIsGood
}
