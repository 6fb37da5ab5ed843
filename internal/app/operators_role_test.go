package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// oneRole is an account with one role.
type oneRole struct {
	role   cloud.Role
	err    error
	denied string
}

func (o oneRole) Get(context.Context, identity.Identity, string) (cloud.Role, error) {
	return o.role, o.err
}

func (o oneRole) Policy(_ context.Context, _ identity.Identity, arn string) (string, bool, error) {
	if arn == o.denied {
		return "", false, fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "GetPolicy", Code: "AccessDenied"}
	}
	return "policy " + arn, !strings.HasSuffix(arn, "gone"), nil
}

func TestRoleDocuments(t *testing.T) {
	const arn = "arn:aws:iam::111122223333:role/o/r"
	there := cloud.Role{Exists: true, ARN: arn, Trust: "trust", Policies: map[string]string{"b": "B", "a": "A"}, Attached: []string{"p/m", "p/gone"}, Boundary: "p/b"}
	d, err := roleDocuments(t.Context(), oneRole{role: there}, identity.Identity{}, arn)
	if err != nil || d.ARN != arn || d.Trust.Text != "trust" || len(d.Policies) != 4 || d.Policies[0].Text != "A" || d.Policies[2].Text != "policy p/m" || d.Policies[3].Unread != "it is gone" || d.Boundary.Text != "policy p/b" {
		t.Errorf("%v %+v", err, d)
	}
	if d, err = roleDocuments(t.Context(), oneRole{role: there, denied: "p/b"}, identity.Identity{}, arn); err != nil || !strings.Contains(d.Boundary.Unread, "AccessDenied") {
		t.Errorf("%v %+v", err, d)
	}
	// A role that may not be read is unknown, and not one without policies.
	if d, err = roleDocuments(t.Context(), oneRole{err: fault.Fault{Class: fault.Denied, Operation: "GetRole"}}, identity.Identity{}, arn); err != nil || d.Trust.Unread == "" || d.Unlisted == "" {
		t.Errorf("%v %+v", err, d)
	}
	for name, c := range map[string]struct {
		account oneRole
		says    string
	}{
		"no role":                    {oneRole{}, "there is no role r"},
		"of another account":         {oneRole{role: cloud.Role{Exists: true, ARN: "arn:aws:iam::444455556666:role/o/r"}}, "444455556666"},
		"at another path":            {oneRole{role: cloud.Role{Exists: true, ARN: "arn:aws:iam::111122223333:role/r"}}, "the role's whole path"},
		"an account without answers": {oneRole{err: errors.New("no route")}, "no route"},
	} {
		if _, err := roleDocuments(t.Context(), c.account, identity.Identity{}, arn); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
