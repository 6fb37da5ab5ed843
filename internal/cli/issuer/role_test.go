package issuer

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const boundary = "arn:aws:iam::123456789012:policy/platform"

func TestTheRolesFlagsAreChecked(t *testing.T) {
	cases := map[string]struct {
		wish RoleWish
		says string
	}{
		"nothing":                        {RoleWish{}, ""},
		"all":                            {RoleWish{Name: "publisher", Path: "/platform/", Boundary: boundary}, ""},
		"a name with a slash":            {RoleWish{Name: "platform/publisher"}, "--role-name"},
		"a name of 65 characters":        {RoleWish{Name: strings.Repeat("a", 65)}, "--role-name"},
		"a path without a slash":         {RoleWish{Path: "platform"}, "--role-path"},
		"a path with a wildcard":         {RoleWish{Path: "/*/"}, "--role-path"},
		"the path of CredentialsRequest": {RoleWish{Path: "/tabard/"}, "CredentialsRequests"},
		"a path below that":              {RoleWish{Path: "/tabard/issuer/"}, "CredentialsRequests"},
		"a boundary that is a role":      {RoleWish{Boundary: "arn:aws:iam::123456789012:role/platform"}, "--permissions-boundary"},
	}
	for name, c := range cases {
		err := c.wish.Check()
		if (err != nil) != (c.says != "") || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, expected %q", name, err, c.says)
		}
	}
}

// asked keeps the role that a bootstrap wants.
type asked struct {
	*still
	role Role
}

func (a *asked) EnsureRole(_ context.Context, role Role) (string, error) {
	a.role = role
	return "arn:aws:iam::123456789012:role/platform/publisher", nil
}

func TestTheRoleIsMadeAsAskedAndTheResultSaysIt(t *testing.T) {
	wish := RoleWish{Name: "publisher", Path: "/platform/", Boundary: boundary, Tags: map[string]string{"team": "platform"}}
	world := &asked{still: &still{providers: []core.ProviderState{{Want: &wanted().Spec.Providers[0], ARN: "arn:provider", AccountID: "123456789012"}}}}
	var out bytes.Buffer
	b := Bootstrap{World: world, Operator: operator, Role: wish, Out: &out}
	if goOn, err := b.prepare(t.Context(), wanted()); err != nil || !goOn {
		t.Fatalf("%t, %v", goOn, err)
	}
	seen := must.Get(world.Observe(t.Context(), wanted()))(t)
	must.Do(t, b.operatorRole(t.Context(), seen))
	b.tellUndo(wanted())
	if diff := cmp.Diff(wish, world.role.RoleWish); diff != "" {
		t.Errorf("the role (-want +got):\n%s", diff)
	}
	for _, text := range []string{"role publisher at the path /platform/ with the permissions boundary " + boundary + " with the tags team", "aws iam delete-role --role-name publisher"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("it does not say %q:\n%s", text, &out)
		}
	}
	r := b.Result
	if r.Kind != "IssuerBootstrap" || r.RoleARN != "arn:aws:iam::123456789012:role/platform/publisher" || len(r.Plan) != 4 || len(r.Undo) != 5 || r.Account != "123456789012" {
		t.Errorf("the result is %+v", r)
	}
	role := Handoff(wanted(), "123456789012", operator, wish).Roles[0]
	if role.Name != "publisher" || role.Path != "/platform/" || role.Boundary != boundary || !cmp.Equal(role.Tags, []handoff.Tag{{Key: "team", Value: "platform"}}) {
		t.Errorf("the hand-off has %+v", role)
	}
}
