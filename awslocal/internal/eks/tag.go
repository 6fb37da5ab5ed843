package eks

import (
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

const maxTags = 50

var (
	tagPattern = pattern.New(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)
	arnPattern = pattern.New(`^arn:(aws[a-z-]*):eks:([a-z0-9-]+):(\d{12}):(cluster|access-entry|podidentityassociation)/([^/]+)(/.*)?$`)
)

// checkTags checks tags that a call writes. TagResource has an error of its own,
// so the error is the caller's choice.
func checkTags(given tags, refuse func(string, ...any) *call.Fault) {
	if len(given) > maxTags {
		call.Refuse(refuse(textTagCount, maxTags))
	}
	for key, value := range given {
		switch {
		case key == "" || len([]rune(key)) > 128 || !tagPattern.MatchString(key):
			call.Refuse(refuse(textTagKey))
		case len([]rune(value)) > 256 || !tagPattern.MatchString(value):
			call.Refuse(refuse(textTagValue, key))
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			call.Refuse(refuse(textTagReserved))
		}
	}
}

// tagged authorises the caller for the resource that the path names, then finds
// its tags.
func (r *request) tagged(extra iampolicy.Context) *tags {
	arn := r.path["resourceArn"]
	m := arnPattern.FindStringSubmatch(arn)
	if m == nil || m[1] != string(r.partition) || m[2] != r.region {
		call.Refuse(badTagRequest(textTagARN, arn, r.region))
	}
	found := r.findTags(r.Service.home(m[3], m[2]), m[4], m[5], arn)
	context := iampolicy.Context{}
	if found != nil {
		context = found.context()
	}
	r.call.Entry.Resource = arn
	r.authorizeIn(m[3], "eks:"+r.operation, arn, merge(context, extra))
	if found == nil {
		call.Refuse(noTagged(arn))
	}
	return found
}

// findTags looks for the resource of an ARN, nil for none.
func (s *Service) findTags(where home, kind, name, arn string) *tags {
	found := s.clusters[where][name]
	if found == nil {
		return nil
	}
	switch kind {
	case "cluster":
		if found.arn() == arn {
			return &found.tags
		}
	case "access-entry":
		for _, one := range found.entries {
			if one.arn == arn {
				return &one.tags
			}
		}
	default:
		for _, one := range found.associations {
			if one.arn == arn {
				return &one.tags
			}
		}
	}
	return nil
}

func (r *request) listTags() any {
	return tagsAnswer{*r.tagged(nil)}
}

func (r *request) tagResource() any {
	in := input[struct {
		Tags map[string]string `json:"tags"`
	}](r)
	if len(in.Tags) == 0 {
		call.Refuse(badTagRequest(textTagNone))
	}
	checkTags(in.Tags, badTagRequest)
	found := r.tagged(tags(in.Tags).request())
	all := newTags(*found)
	maps.Copy(all, in.Tags)
	if len(all) > maxTags {
		call.Refuse(badTagRequest(textTagCount, maxTags))
	}
	*found = all
	return empty{}
}

func (r *request) untagResource() any {
	keys := r.query["tagKeys"]
	if len(keys) == 0 {
		call.Refuse(badTagRequest(textTagNone))
	}
	extra := iampolicy.Context{}
	extra.Set("aws:TagKeys", keys...)
	found := r.tagged(extra)
	left := tags{}
	for key, value := range *found {
		if !slices.Contains(keys, key) {
			left[key] = value
		}
	}
	*found = left
	return empty{}
}
