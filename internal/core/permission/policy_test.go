package permission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestRequestsBecomeOnePolicy(t *testing.T) {
	second := strings.Replace(request(accounts, entry("arn:aws:s3:::c/*", "s3:PutObject", "S3:getobject"), entry(objects, "s3:GetObject")), `"name":"p"`, `"name":"q"`, 1)
	set := declared("[" + request(accounts, entry(objects, "s3:GetObject"), entry(objects, "s3:PutObject")) + "," + second + "]")
	want := iampolicy.Document{{Actions: []string{"s3:GetObject", "s3:PutObject"}, Resources: []string{objects, "arn:aws:s3:::c/*"}}}
	got := set.Policy()
	if len(got.Documents) != 1 {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff(want.String(), got.Documents[0]); diff != "" {
		t.Error(diff)
	}
	if none := declared("[]").Policy(); len(none.Documents) != 0 || none.Note != "" {
		t.Errorf("%+v", none)
	}
}

// TestALongPolicyIsSplit: nothing is lost or added, and each part is short enough and accepted.
func TestALongPolicyIsSplit(t *testing.T) {
	var separate, actions []string
	for i := range 220 {
		separate = append(separate, entry(fmt.Sprintf("arn:aws:s3:::bucket-with-a-name-%d/*", i), fmt.Sprintf("s3:GetObject%d", i)))
		actions = append(actions, fmt.Sprintf("ec2:DescribeSomethingWithALongNameThatFillsThePolicy%d", i))
	}
	var places []string
	for i := range 150 {
		places = append(places, entry(fmt.Sprintf("arn:aws:s3:::%s-%d/*", strings.Repeat("x", 80), i), "s3:GetObject"))
	}
	for name, statements := range map[string][]string{"many statements": separate, "many actions": {entry("*", actions...)}, "many resources": places} {
		t.Run(name, func(t *testing.T) {
			set := declared("[" + request(accounts, statements...) + "]")
			got := set.Policy()
			if len(set.Findings) > 0 || len(got.Documents) < 2 || !strings.Contains(got.Note, "managed policy") {
				t.Fatalf("%d documents, %q, %v", len(got.Documents), got.Note, set.Findings)
			}
			var policies []*iampolicy.Policy
			for _, document := range got.Documents {
				accepted(t, document)
				if room, err := iampolicy.RoomIn(iampolicy.ManagedQuota, []byte(document)); err != nil || room.Left < 0 {
					t.Errorf("%+v, %v", room, err)
				}
				policies = append(policies, must.Get(iampolicy.Parse([]byte(document)))(t))
			}
			for _, atom := range set.Atoms() {
				if !slices.ContainsFunc(policies, func(p *iampolicy.Policy) bool {
					may, _ := iampolicy.MayAllow(p, atom.Action, atom.Resource)
					return may
				}) {
					t.Errorf("%+v is lost", atom)
				}
			}
		})
	}
}

func TestTheDigestIsOfWhatTheRoleNeeds(t *testing.T) {
	base := old().Digest()
	if !strings.HasPrefix(base, "sha256:") || len(base) != len("sha256:")+64 {
		t.Fatal(base)
	}
	of := func(spec string, statements ...string) string {
		return declared("[" + request(spec, statements...) + "]").Digest()
	}
	read := entry(objects, "s3:GetObject")
	for name, row := range map[string]struct {
		digest string
		isSame bool
	}{
		"an action in other case":   {of(accounts, entry(objects, "S3:GETOBJECT")), true},
		"an atom twice":             {of(accounts, read, read), true},
		"another path of the token": {of(accounts+`,"cloudTokenPath":"/t"`, read), true},
		"another ServiceAccount":    {of(`"serviceAccountNames":["agent"]`, read), false},
		"a resource in other case":  {of(accounts, entry("arn:aws:s3:::B/*", "s3:GetObject")), false},
		"another audience":          {audience("sts.amazonaws.com").Digest(), false},
		"nothing":                   {declared("[]").Digest(), false},
	} {
		if (row.digest == base) != row.isSame || row.digest == "" {
			t.Errorf("%s: %s, with %s it shall be the same: %v", name, row.digest, base, row.isSame)
		}
	}
}

func TestADifferenceOfTooManyPatternsSaysSo(t *testing.T) {
	var from, to []string
	for i := range 300 {
		from = append(from, entry(fmt.Sprintf("arn:aws:s3:::*%s%d", strings.Repeat("a*", 150), i), "s3:GetObject"))
		to = append(to, entry(fmt.Sprintf("arn:aws:s3:::*%s%db", strings.Repeat("*a", 150), i), "s3:GetObject"))
	}
	d := permission.Diff(declared("["+request(accounts, from...)+"]"), declared("["+request(accounts, to...)+"]"))
	if len(d.Findings) != 1 || d.Findings[0].Code != permission.CodeNotCompared {
		t.Errorf("%d changes, %+v", len(d.Changes), d.Findings)
	}
}
