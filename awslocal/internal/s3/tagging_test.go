package s3

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

const blue = "<Tagging><TagSet><Tag><Key>team</Key><Value>blue</Value></Tag></TagSet></Tagging>"

func TestObjectTags(t *testing.T) {
	tagged := func(value string) ask { return ask{header: map[string]string{"x-amz-tagging": value}} }
	many := "<Tagging><TagSet>" + strings.Repeat("<Tag><Key>k</Key><Value/></Tag>", 11) + "</TagSet></Tagging>"
	check(t, map[string]row{
		"an object without tags has an empty set": {line: "GET /docs/a.txt?tagging", status: 200, body: "<TagSet></TagSet>"},
		"tags are put":                            {line: "PUT /docs/a.txt?tagging", ask: ask{body: blue}, status: 200},
		"tags are deleted":                        {line: "DELETE /docs/a.txt?tagging", status: 204},
		"tags of no object":                       {line: "GET /docs/none?tagging", status: 404, code: "NoSuchKey"},
		"tags for no object":                      {line: "PUT /docs/none?tagging", ask: ask{body: blue}, status: 404, code: "NoSuchKey"},
		"tags of no object without s3:ListBucket": {line: "DELETE /docs/none?tagging", ask: ask{decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:ListBucket")}, status: 403, code: "AccessDenied"},
		"eleven tags are refused":                 {line: "PUT /docs/a.txt?tagging", ask: ask{body: many}, status: 400, code: "BadRequest", message: "Object tags cannot be greater than 10"},
		"a document that is no XML is refused":    {line: "PUT /docs/a.txt?tagging", ask: ask{body: "<Tagging"}, status: 400, code: "MalformedXML"},
		"tags come with the object":               {line: "PUT /docs/new", ask: tagged("team=blue&x=%20"), status: 200},
		"a tag twice in the header":               {line: "PUT /docs/new", ask: tagged("team=blue&team=red"), status: 400, code: "InvalidArgument"},
		"a header that is not encoded well":       {line: "PUT /docs/new", ask: tagged("team=%zz"), status: 400, code: "InvalidArgument"},
		"eleven tags in the header":               {line: "PUT /docs/new", ask: tagged("a&b&c&d&e&f&g&h&i&j&k"), status: 400, code: "BadRequest"},
		"tags with the object are an action more": {line: "PUT /docs/new", ask: ask{header: tagged("a=b").header, decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:PutObjectTagging")}, status: 403, code: "AccessDenied"},
	})
}

func TestTagsStayWithTheObject(t *testing.T) {
	s := stocked(t)
	must(t, s, "PUT /docs/x", ask{body: "v1", header: map[string]string{"x-amz-tagging": "team=blue&empty", "x-amz-meta-a": "1"}})
	before := must(t, s, "HEAD /docs/x", ask{}).Header()
	if got := must(t, s, "GET /docs/x?tagging", ask{}).text(); !strings.Contains(got, "<Tag><Key>team</Key><Value>blue</Value></Tag><Tag><Key>empty</Key><Value></Value></Tag>") {
		t.Errorf("tags %s", got)
	}
	if got := before.Get("x-amz-tagging-count"); got != "2" {
		t.Errorf("x-amz-tagging-count is %q, want 2", got)
	}
	unseen := must(t, s, "HEAD /docs/x", ask{decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:GetObjectTagging")})
	if got := unseen.Header().Get("x-amz-tagging-count"); got != "" {
		t.Errorf("a caller who may not read tags is told their number, %q", got)
	}
	must(t, s, "PUT /docs/x?tagging", ask{body: blue, now: noon.Add(1e12)})
	after := must(t, s, "HEAD /docs/x", ask{}).Header()
	for _, name := range []string{"Last-Modified", "Etag", "x-amz-meta-a"} {
		// The name of metadata is written as it was sent.
		if was, is := before[name], after[name]; len(is) != 1 || len(was) != 1 || is[0] != was[0] {
			t.Errorf("tagging changed %s from %q to %q", name, was, is)
		}
	}
	must(t, s, "PUT /docs/x", ask{body: "v2"})
	if got := must(t, s, "GET /docs/x?tagging", ask{}).text(); !strings.Contains(got, "<TagSet></TagSet>") {
		t.Errorf("an overwritten object keeps its tags: %s", got)
	}
}

func TestTagsOfObjectsAreConditionKeys(t *testing.T) {
	s := stocked(t)
	must(t, s, "PUT /docs/a.txt?tagging", ask{body: blue})
	red := strings.ReplaceAll(blue, "blue", "red")
	for line, tt := range map[string]struct {
		ask  ask
		want map[string]string
	}{
		"GET /docs/a.txt":            {ask{}, map[string]string{"s3:ExistingObjectTag/team": "blue"}},
		"HEAD /docs/a.txt":           {ask{}, map[string]string{"s3:ExistingObjectTag/team": "blue"}},
		"GET /docs/a.txt?tagging":    {ask{}, map[string]string{"s3:ExistingObjectTag/team": "blue"}},
		"PUT /docs/a.txt?tagging":    {ask{body: red}, map[string]string{"s3:ExistingObjectTag/team": "blue", "s3:RequestObjectTag/team": "red", "s3:RequestObjectTagKeys": "team"}},
		"DELETE /docs/a.txt?tagging": {ask{}, map[string]string{"s3:ExistingObjectTag/team": "blue"}},
		"PUT /docs/a.txt":            {ask{header: map[string]string{"x-amz-tagging": "team=red"}}, map[string]string{"s3:ExistingObjectTag/team": "", "s3:RequestObjectTag/team": "red"}},
		"DELETE /docs/a.txt":         {ask{}, map[string]string{"s3:ExistingObjectTag/team": ""}},
	} {
		t.Run(line, func(t *testing.T) {
			asked := false
			tt.ask.decide = func(_, _ string, _ call.Side, extra iampolicy.Context) iampolicy.Decision {
				if !asked {
					for key, want := range tt.want {
						values, _ := extra.Get(key)
						if got := strings.Join(values, ","); got != want {
							t.Errorf("%s is %q, want %q", key, got, want)
						}
					}
				}
				asked = true
				return iampolicy.Decision{Effect: iampolicy.ImplicitDeny}
			}
			if got := do(t, s, line, tt.ask); got.Code != 403 || !asked {
				t.Errorf("status %d, asked %t", got.Code, asked)
			}
		})
	}
}
