package awslocal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// manyTags are so many tags of different keys.
func manyTags(n int) []types.Tag {
	var all []types.Tag
	for i := range n {
		all = append(all, types.Tag{Key: aws.String(fmt.Sprint("k", i)), Value: aws.String("v")})
	}
	return all
}

// padded is a JSON document with white space to a length, which quotas do not count.
func padded(document string, length int) string {
	return document + strings.Repeat(" ", length-len(document))
}

func TestRolesAreHeldToAWSsLimits(t *testing.T) {
	l := newLab(t)
	trust := trusting("arn:aws:iam::"+account+":root", "")
	create := func(change func(*iam.CreateRoleInput)) string {
		in := &iam.CreateRoleInput{RoleName: aws.String("app"), AssumeRolePolicyDocument: &trust}
		change(in)
		_, err := l.iam().CreateRole(t.Context(), in)
		if err == nil {
			_, err = l.iam().DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: in.RoleName})
		}
		return awstest.Refusal(nil, err)
	}
	session := func(seconds int32) func(*iam.CreateRoleInput) {
		return func(in *iam.CreateRoleInput) { in.MaxSessionDuration = &seconds }
	}
	path := func(path string) func(*iam.CreateRoleInput) {
		return func(in *iam.CreateRoleInput) { in.Path = &path }
	}
	badPath := "ValidationError: The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters."
	invalid := "ValidationError: 1 validation error detected: Value"
	cases := map[string]refused{
		"50 tags":                        {create(func(in *iam.CreateRoleInput) { in.Tags = manyTags(50) }), ""},
		"51 tags":                        {create(func(in *iam.CreateRoleInput) { in.Tags = manyTags(51) }), invalid + " at 'tags' failed to satisfy constraint: Member must have length less than or equal to 50"},
		"a session of an hour":           {create(session(3600)), ""},
		"a session of twelve hours":      {create(session(43200)), ""},
		"a session that is too short":    {create(session(3599)), invalid + " '3599' at 'maxSessionDuration' failed to satisfy constraint: Member must have value greater than or equal to 3600"},
		"a session that is too long":     {create(session(43201)), invalid + " '43201' at 'maxSessionDuration' failed to satisfy constraint: Member must have value less than or equal to 43200"},
		"a path of two parts":            {create(path("/tabard/prod/")), ""},
		"a path of 512 characters":       {create(path("/" + strings.Repeat("a", 510) + "/")), ""},
		"a path that is longer":          {create(path("/" + strings.Repeat("a", 511) + "/")), invalid},
		"a path that does not end":       {create(path("/tabard")), badPath},
		"a path that does not begin":     {create(path("tabard/")), badPath},
		"a path of two slashes alone":    {create(path("//")), badPath},
		"a path with a space":            {create(path("/a b/")), badPath},
		"white space of a trust is free": {create(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = aws.String(padded(trust, 9000)) }), ""},
		"a boundary that is no policy": {create(func(in *iam.CreateRoleInput) {
			in.PermissionsBoundary = aws.String("arn:aws:iam::" + account + ":role/x")
		}), "InvalidInput: "},
		"a boundary of another account": {create(func(in *iam.CreateRoleInput) {
			in.PermissionsBoundary = aws.String("arn:aws:iam::" + stranger + ":policy/x")
		}), "NoSuchEntity: Scope ARN: arn:aws:iam::" + stranger + ":policy/x does not exist or is not attachable."},
		"a role whose limits are all met": {create(func(*iam.CreateRoleInput) {}), ""},
	}
	for name, c := range cases {
		if c.want == "" && c.got != "" {
			t.Errorf("%s is answered %s", name, c.got)
		}
	}
	checkRefusals(t, cases)
}

// TestInlinePoliciesShareTheirRoom fills a role to the last character: white space does
// not count, a policy that is replaced counts once, and the sum of all is the limit.
func TestInlinePoliciesShareTheirRoom(t *testing.T) {
	l := newLab(t)
	l.role("app", trusting("arn:aws:iam::"+account+":root", ""))
	// sized is a policy of so many characters.
	sized := func(length int) string { return allowObject(length - len(allowObject(0))) }
	put := func(name, document string) string {
		_, err := l.iam().PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: aws.String("app"), PolicyName: &name, PolicyDocument: &document})
		return awstest.Refusal(nil, err)
	}
	steps := []struct {
		what, name, document string
		fits                 bool
	}{
		{"half of it", "a", sized(5120), true},
		{"the other half with white space", "b", padded(sized(5120), 20_000), true},
		{"one character more", "c", sized(200), false},
		{"the second again, one longer", "b", sized(5121), false},
		{"the second again", "b", sized(5120), true},
		{"the first, shorter", "a", sized(4920), true},
		{"what fits now", "c", sized(200), true},
	}
	for _, step := range steps {
		want := ""
		if !step.fits {
			want = "LimitExceeded: Maximum policy size of 10240 bytes exceeded for role app"
		}
		if got := put(step.name, step.document); got != want {
			t.Errorf("%s is answered %q, want %q", step.what, got, want)
		}
	}
}

// TestUpdateRoleKeepsWhatAWSKeeps holds UpdateRole to its reference: the description
// stays where none is given, the longest session goes back to an hour.
func TestUpdateRoleKeepsWhatAWSKeeps(t *testing.T) {
	l := newLab(t)
	trust := trusting("arn:aws:iam::"+account+":root", "")
	l.Must(l.iam().CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("app"), AssumeRolePolicyDocument: &trust, Description: aws.String("old")}))
	steps := []struct {
		what        string
		in          iam.UpdateRoleInput
		description string
		session     int32
	}{
		{"a session alone", iam.UpdateRoleInput{MaxSessionDuration: aws.Int32(7200)}, "old", 7200},
		{"a description alone", iam.UpdateRoleInput{Description: aws.String("new")}, "new", 3600},
		{"both", iam.UpdateRoleInput{Description: aws.String(""), MaxSessionDuration: aws.Int32(43200)}, "", 43200},
	}
	for _, step := range steps {
		step.in.RoleName = aws.String("app")
		l.Must(l.iam().UpdateRole(t.Context(), &step.in))
		got := must.Get(l.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")}))(t).Role
		if aws.ToString(got.Description) != step.description || *got.MaxSessionDuration != step.session {
			t.Errorf("after %s: %q, %d seconds; want %q, %d", step.what, aws.ToString(got.Description), *got.MaxSessionDuration, step.description, step.session)
		}
	}
}
