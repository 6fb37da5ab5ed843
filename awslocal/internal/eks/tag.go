package eks

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/restjson"
	"github.com/tabard-dev/tabard/iampolicy"
)

const maxTags = 50

var (
	tagPattern = pattern.New(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)
	arnPattern = pattern.New(`^arn:(aws[a-z-]*):eks:([a-z0-9-]+):(\d{12}):(cluster|access-entry|podidentityassociation)/([^/]+)(/.*)?$`)
)

// checkTags checks tags that a call writes. TagResource has an error of its own,
// so the error is the caller's choice.
func checkTags(given tags, refuse func(string, ...any) *call.Fault) *call.Fault {
	if len(given) > maxTags {
		return refuse(textTagCount, maxTags)
	}
	for key, value := range given {
		switch {
		case key == "" || len([]rune(key)) > 128 || !tagPattern.MatchString(key):
			return refuse(textTagKey)
		case len([]rune(value)) > 256 || !tagPattern.MatchString(value):
			return refuse(textTagValue, key)
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return refuse(textTagReserved)
		}
	}
	return nil
}

// tagged authorises the caller for the resource that the path names, then finds
// its tags.
func (r *request) tagged(extra iampolicy.Context) (*tags, *call.Fault) {
	arn := r.path["resourceArn"]
	m := arnPattern.FindStringSubmatch(arn)
	if m == nil || m[1] != string(r.partition) || m[2] != r.region {
		return nil, badTagRequest(textTagARN, arn, r.region)
	}
	found := r.findTags(r.Service.home(m[3], m[2]), m[4], m[5], arn)
	context := iampolicy.Context{}
	if found != nil {
		context = found.context()
	}
	r.call.Entry.Resource = arn
	action := "eks:" + r.operation
	decision := r.call.Authorize(action, arn, call.Side{AccountID: m[3]}, merge(context, extra))
	if !decision.Allowed() {
		return nil, restjson.Denied(r.call.Caller.Principal.ARN, action, arn, decision, http.StatusForbidden)
	}
	if found == nil {
		return nil, noTagged(arn)
	}
	return found, nil
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

func (r *request) listTags() (any, *call.Fault) {
	found, fault := r.tagged(nil)
	if fault != nil {
		return nil, fault
	}
	return tagsAnswer{*found}, nil
}

func (r *request) tagResource() (any, *call.Fault) {
	var in struct {
		Tags map[string]string `json:"tags"`
	}
	if fault := r.read(&in); fault != nil {
		return nil, fault
	}
	if len(in.Tags) == 0 {
		return nil, badTagRequest(textTagNone)
	}
	if fault := checkTags(in.Tags, badTagRequest); fault != nil {
		return nil, fault
	}
	found, fault := r.tagged(tags(in.Tags).request())
	if fault != nil {
		return nil, fault
	}
	all := tags{}
	for _, some := range []tags{*found, in.Tags} {
		for key, value := range some {
			all[key] = value
		}
	}
	if len(all) > maxTags {
		return nil, badTagRequest(textTagCount, maxTags)
	}
	*found = all
	return empty{}, nil
}

func (r *request) untagResource() (any, *call.Fault) {
	keys := r.query["tagKeys"]
	if len(keys) == 0 {
		return nil, badTagRequest(textTagNone)
	}
	extra := iampolicy.Context{}
	extra.Set("aws:TagKeys", keys...)
	found, fault := r.tagged(extra)
	if fault != nil {
		return nil, fault
	}
	left := tags{}
	for key, value := range *found {
		if !slices.Contains(keys, key) {
			left[key] = value
		}
	}
	*found = left
	return empty{}, nil
}
