package issuer

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const boundary = "arn:aws:iam::123456789012:policy/platform"

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
	wish := ownrole.Wish{Name: "publisher", Path: "/platform/", Boundary: boundary, Tags: map[string]string{"team": "platform"}}
	world := &asked{still: &still{providers: []core.ProviderState{{Want: &wanted().Spec.Providers[0], ARN: "arn:provider", AccountID: "123456789012"}}}}
	var out bytes.Buffer
	b := Bootstrap{World: world, Operator: operator, Role: wish, Out: &out}
	if goOn, err := b.prepare(t.Context(), wanted()); err != nil || !goOn {
		t.Fatalf("%t, %v", goOn, err)
	}
	seen := must.Get(world.Observe(t.Context(), wanted()))(t)
	must.Do(t, b.operatorRole(t.Context(), seen))
	b.tellUndo(wanted())
	if diff := cmp.Diff(wish, world.role.Wish); diff != "" {
		t.Errorf("the role (-want +got):\n%s", diff)
	}
	for _, text := range []string{"role publisher at the path /platform/ with the permissions boundary " + boundary + " with the tags team", "aws iam delete-role --role-name publisher"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("it does not say %q:\n%s", text, &out)
		}
	}
	r := b.Result
	if r.Kind != "IssuerBootstrap" || r.RoleARN != "arn:aws:iam::123456789012:role/platform/publisher" || len(r.Plan) != 4 || len(r.Undo) != 6 || r.Account != "123456789012" {
		t.Errorf("the result is %+v", r)
	}
	role := Handoff(wanted(), "123456789012", operator, wish).Roles[0]
	if role.Name != "publisher" || role.Path != "/platform/" || role.Boundary != boundary || !cmp.Equal(role.Tags, []handoff.Tag{{Key: "team", Value: "platform"}}) {
		t.Errorf("the hand-off has %+v", role)
	}
}

func TestTheUndoTakesBackWhatWasMade(t *testing.T) {
	const patch, remove = `kubectl patch oidcissuer main --type=merge -p '{"spec":{"deletionPolicy":"Delete"}}'`, "kubectl delete oidcissuer main --timeout=10m"
	elsewhere := core.Subject{Namespace: "identity", ServiceAccount: "publisher"}
	for name, c := range map[string]struct {
		policy v1alpha1.DeletionPolicy
		role   string
		b      Bootstrap
		want   []string
	}{
		"the role gets the right to delete": {v1alpha1.DeletionPolicyRetain, "arn", Bootstrap{Operator: elsewhere, Role: ownrole.Wish{Name: "own"}, Consent: Consent{OtherIssuer: true}}, []string{
			patch, "kubectl get oidcissuer main -o yaml | tabard issuer bootstrap --yes --role-name own --namespace identity --service-account publisher --allow-other-issuer -f -", remove,
			"aws iam delete-role-policy --role-name own --policy-name publish-issuer", "aws iam delete-role --role-name own", "kubectl delete configmap publisher --namespace identity",
		}},
		"no role was made":                      {v1alpha1.DeletionPolicyRetain, "", Bootstrap{Operator: operator}, []string{patch, remove}},
		"no role was made, and all goes anyway": {v1alpha1.DeletionPolicyDelete, "", Bootstrap{Operator: operator}, []string{remove}},
	} {
		t.Run(name, func(t *testing.T) {
			issuer := wanted()
			issuer.Spec.DeletionPolicy, c.b.Result.RoleARN = c.policy, c.role
			if diff := cmp.Diff(c.want, c.b.undo(issuer)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
