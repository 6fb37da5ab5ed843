package iam

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const maxTags = 50

// tags are sorted by nothing: IAM shows them as they were written.
type tags []query.Tag

var tagPattern = pattern.New(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

func (t tags) index(key string) int {
	return slices.IndexFunc(t, func(tag query.Tag) bool { return strings.EqualFold(tag.Key, key) })
}

// with returns the tags with others added or replaced.
func (t tags) with(others []query.Tag) tags {
	out := slices.Clone(t)
	for _, tag := range others {
		if i := out.index(tag.Key); i >= 0 {
			out[i] = tag
			continue
		}
		out = append(out, tag)
	}
	if len(out) > maxTags {
		call.Refuse(tooManyTags())
	}
	return out
}

func (t tags) without(keys []string) tags {
	return slices.DeleteFunc(slices.Clone(t), func(tag query.Tag) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, tag.Key) })
	})
}

// context has the tags as condition keys of the resource.
func (t tags) context() iampolicy.Context {
	context := iampolicy.Context{}
	for _, tag := range t {
		context.Set("aws:ResourceTag/"+tag.Key, tag.Value)
		context.Set("iam:ResourceTag/"+tag.Key, tag.Value)
	}
	return context
}

// readTags reads and checks the tags of a call.
func (r *request) readTags() []query.Tag {
	given := r.form.Tags("Tags")
	var v query.Validation
	v.Count("Tags", len(given), maxTags)
	call.Check(v.Fault())
	for i, tag := range given {
		checkTag(tag)
		if tags(given[:i]).index(tag.Key) >= 0 {
			call.Refuse(duplicateTag())
		}
	}
	return given
}

func checkTag(tag query.Tag) {
	switch {
	case tag.Key == "" || len([]rune(tag.Key)) > 128 || !tagPattern.MatchString(tag.Key):
		call.Refuse(invalid("A tag key must have 1 to 128 letters, digits, spaces or _.:/=+-@ characters."))
	case len([]rune(tag.Value)) > 256 || !tagPattern.MatchString(tag.Value):
		call.Refuse(invalid("The value of tag " + tag.Key + " must have at most 256 letters, digits, spaces or _.:/=+-@ characters."))
	case strings.HasPrefix(strings.ToLower(tag.Key), "aws:"):
		call.Refuse(badInput("Tag keys must not begin with the reserved prefix aws:."))
	}
}

// withRequestTags adds the condition keys of tags that a call writes.
func withRequestTags(context iampolicy.Context, given []query.Tag) iampolicy.Context {
	if len(given) == 0 {
		return context
	}
	keys := []string{}
	for _, tag := range given {
		context.Set("aws:RequestTag/"+tag.Key, tag.Value)
		keys = append(keys, tag.Key)
	}
	context.Set("aws:TagKeys", keys...)
	return context
}

func withTagKeys(context iampolicy.Context, keys []string) iampolicy.Context {
	context.Set("aws:TagKeys", keys...)
	return context
}

// contextOf adds the condition keys of a request to those of the resource.
type contextOf func(iampolicy.Context) iampolicy.Context

// finder finds what carries tags, once the policies allow the operation on it.
type finder func(*request, contextOf) *tags

func tagsOfProvider(r *request, context contextOf) *tags { return &r.provider(context).tags }

func (find finder) tag(r *request) any {
	var v query.Validation
	v.Required(r.form, "Tags")
	call.Check(v.Fault())
	given := r.readTags()
	found := find(r, func(c iampolicy.Context) iampolicy.Context { return withRequestTags(c, given) })
	*found = found.with(given)
	return nil
}

func (find finder) untag(r *request) any {
	keys := r.form.List("TagKeys")
	var v query.Validation
	v.Required(r.form, "TagKeys")
	v.Count("TagKeys", len(keys), maxTags)
	call.Check(v.Fault())
	found := find(r, func(c iampolicy.Context) iampolicy.Context { return withTagKeys(c, keys) })
	*found = found.without(keys)
	return nil
}

func (find finder) list(r *request) any {
	shown, end := page(r, slices.Clone(*find(r, nil)), func(tag query.Tag) string { return tag.Key }, itself)
	return tagsResult{shown, end}
}
