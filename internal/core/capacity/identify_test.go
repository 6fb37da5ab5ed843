package capacity_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/roleselector"
)

const (
	ownRole = "arn:aws:iam::111111111111:role/capacity"
	teamA   = "arn:aws:iam::222222222222:role/team-a"
)

// selected is what selectors say about a MachineSet of the namespace machines.
func selected(synced bool, selectors ...*services.IAMRoleSelector) core.Selected {
	index := roleselector.NewIndex(roleselector.Options{})
	for _, s := range selectors {
		index.Set(roleselector.Compile(s))
	}
	if synced {
		index.MarkSynced(roleselector.Everything)
	}
	return core.Selected{
		Decision: index.Decide(roleselector.Query{
			Namespace: "machines", NamespaceKnown: true, Group: "machine.openshift.io", Version: "v1beta1", Kind: "MachineSet",
		}),
		Subject: roleselector.Subject{ClusterID: "c1", Service: "capacity", Kind: "MachineSet", Namespace: "machines", Name: "workers"},
	}
}

func selectorOf(name string, change func(*services.IAMRoleSelectorSpec)) *services.IAMRoleSelector {
	s := &services.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: &services.IAMRoleSelectorSpec{
		ARN: teamA, ResourceTypeSelector: []services.ResourceType{{Group: "machine.openshift.io"}},
		AssumeRole: &services.AssumeRole{SessionName: &services.Text{Value: "machines"}},
	}}
	if change != nil {
		change(s.Spec)
	}
	return s
}

func TestARoleSelectorsRoleIsAssumedFromAWebIdentityAlone(t *testing.T) {
	irsa := identity.Environment{RoleARN: ownRole, TokenFile: "/token"}
	base := identity.Identity{Base: identity.WebIdentity}
	asTeamA := base.Via(identity.Role{ARN: teamA, SessionName: "machines", Duration: 15 * time.Minute})
	keys := identity.SecretRef{Namespace: "machines", Name: "keys"}
	inSecret := identity.Identity{Base: identity.Secret, Secret: keys}
	one := selectorOf("a", nil)
	for name, c := range map[string]struct {
		env      identity.Environment
		wish     identity.Wish
		selected core.Selected
		want     identity.Identity
		method   string
		problem  string // its beginning
	}{
		"nobody is asked":                 {env: irsa, want: base, method: "IRSA with role " + ownRole},
		"no selector applies":             {env: irsa, selected: selected(true), want: base, method: "IRSA with role " + ownRole},
		"no selector applies to a Secret": {wish: identity.Wish{Secret: keys}, selected: selected(true), want: inSecret, method: "Secret machines/keys"},
		"a catch-all does not apply": {
			env: irsa, selected: selected(true, selectorOf("a", func(s *services.IAMRoleSelectorSpec) { s.ResourceTypeSelector = nil })),
			want: base, method: "IRSA with role " + ownRole,
		},
		"a selector applies":            {env: irsa, selected: selected(true, one), want: asTeamA, method: "role " + teamA + " of the IAMRoleSelector a"},
		"a web identity hides a Secret": {env: irsa, wish: identity.Wish{Secret: keys}, selected: selected(true, one), want: asTeamA, method: "role " + teamA + " of the IAMRoleSelector a"},
		"a selector and a Secret": {
			wish: identity.Wish{For: "machineSet workers", Secret: keys}, selected: selected(true, one),
			problem: "IdentityAmbiguous: machineSet workers names the Secret machines/keys and the IAMRoleSelector a selects it",
		},
		"a selector and nothing": {selected: selected(true, one), problem: "the role " + teamA + " of the IAMRoleSelector a is assumed from a web identity alone"},
		"a selector and an agent": {
			env: identity.Environment{Container: true}, wish: identity.Wish{AllowContainer: true, AllowDefaultChain: true}, selected: selected(true, one),
			problem: "the role " + teamA + " of the IAMRoleSelector a is assumed from a web identity alone",
		},
		"half a web identity": {
			env: identity.Environment{RoleARN: ownRole}, selected: selected(true, one),
			problem: "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing",
		},
		"two selectors": {
			env: irsa, selected: selected(true, one, selectorOf("b", nil)),
			problem: "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [a, b]",
		},
		"one that denies": {
			env: irsa, selected: selected(true, one, selectorOf("no", func(s *services.IAMRoleSelectorSpec) {
				s.Effect, s.ARN, s.AssumeRole = services.Deny, "", nil
			})),
			problem: "No role may be used for this resource. IAMRoleSelectors: [no].",
		},
		"one that denies what a Secret is for": {
			wish: identity.Wish{Secret: keys}, selected: selected(true, selectorOf("no", func(s *services.IAMRoleSelectorSpec) {
				s.Effect, s.ARN, s.AssumeRole = services.Deny, "", nil
			})),
			problem: "No role may be used for this resource. IAMRoleSelectors: [no].",
		},
		"one that cannot be evaluated": {
			env: irsa, selected: selected(true, selectorOf("bad", func(s *services.IAMRoleSelectorSpec) { s.ARN = "foo" })),
			problem: "An IAMRoleSelector that is meant for this resource cannot be evaluated. IAMRoleSelectors: [bad].",
		},
		"one whose template has no value": {
			env: irsa, selected: selected(true, selectorOf("a", func(s *services.IAMRoleSelectorSpec) {
				s.AssumeRole.ExternalID = &services.Text{Template: "x/%CONTROLLER_NAMESPACE%"}
			})),
			problem: "the role of the IAMRoleSelector a cannot be assumed: spec.assumeRole.externalID",
		},
		"nothing is read yet": {
			env: irsa, selected: selected(false, one),
			problem: "The IAMRoleSelectors, IAMRoleChoices and namespaces have not all been read yet.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, says := core.Identify(c.env, c.wish, c.selected)
			if got != c.want || says.Method != c.method {
				t.Errorf("identity %+v by %q, want %+v by %q", got, says.Method, c.want, c.method)
			}
			if !strings.HasPrefix(says.Problem, c.problem) || (says.Problem == "") != (c.problem == "") {
				t.Errorf("problem %q, want it to begin with %q", says.Problem, c.problem)
			}
		})
	}
}

// TestTheAdministratorSaysHowASelectorsRoleIsAssumed by settings, over which a selector
// goes unless they are locked.
func TestTheAdministratorSaysHowASelectorsRoleIsAssumed(t *testing.T) {
	irsa := identity.Environment{RoleARN: ownRole, TokenFile: "/token"}
	plain := func(s *services.IAMRoleSelectorSpec) { s.AssumeRole = nil }
	tag := func(key, template string) services.SessionTag {
		return services.SessionTag{Key: key, Text: services.Text{Template: template}}
	}
	for name, c := range map[string]struct {
		change   func(*services.IAMRoleSelectorSpec)
		settings roleselector.Settings
		want     identity.Role // of team A for a quarter of an hour
		problem  string        // its beginning, behind the selector's name
	}{
		"templates": {
			change: plain,
			settings: roleselector.Settings{
				ExternalID: "ack/%CLUSTER_ID%", SessionName: "%SERVICE%-%K8S_NAMESPACE%-%RESOURCE_NAME%",
				SessionTags: []services.SessionTag{tag("ack-kind", "%KIND%")},
			},
			want: identity.Role{ExternalID: "ack/c1", SessionName: "capacity-machines-workers", Tags: map[string]string{"ack-kind": "MachineSet"}},
		},
		"the selector goes before": {settings: roleselector.Settings{SessionName: "flag"}, want: identity.Role{SessionName: "machines"}},
		"unless it is locked": {
			settings: roleselector.Settings{Locked: []roleselector.Field{roleselector.SessionNameField}},
			problem:  "spec.assumeRole.sessionName: the administrator has locked the session-name",
		},
		"an allowed role":         {settings: roleselector.Settings{AllowedRoles: []string{"arn:aws:iam::222222222222:role/*"}}, want: identity.Role{SessionName: "machines"}},
		"a role that is not":      {settings: roleselector.Settings{AllowedRoles: []string{"arn:aws:iam::333333333333:role/*"}}, problem: "spec.arn: the administrator of the controller does not let it assume this role"},
		"settings that are wrong": {settings: roleselector.Settings{ExternalID: "%KIND%"}, problem: "--assume-role-external-id: the variable %KIND% is not allowed here"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := selected(true, selectorOf("a", c.change))
			asked.Settings = c.settings
			got, says := core.Identify(irsa, identity.Wish{}, asked)
			if c.problem != "" {
				if want := "the role of the IAMRoleSelector a cannot be assumed: " + c.problem; !strings.HasPrefix(says.Problem, want) || got != (identity.Identity{}) || says.Assumed {
					t.Errorf("identity %+v with the problem %q, want none and %q", got, says.Problem, want)
				}
				return
			}
			c.want.ARN, c.want.Duration = teamA, 15*time.Minute
			if want := (identity.Identity{Base: identity.WebIdentity}).Via(c.want); got != want || !says.Assumed {
				t.Errorf("identity %+v (%s), want %+v", got, says.Problem, want)
			}
		})
	}
}
