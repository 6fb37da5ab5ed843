package docs

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/roleselector"
)

// bySelector are worlds in which one IAMRoleSelector selects the object.
func bySelector() map[string]capacity.World {
	index := roleselector.NewIndex(roleselector.Options{})
	index.MarkSynced(roleselector.Everything)
	index.Set(roleselector.Compile(&services.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: "team-a"},
		Spec: &services.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::111122223333:role/team-a", ResourceTypeSelector: []services.ResourceType{{Group: "machine.openshift.io"}},
		},
	}))
	selected := capacity.Selected{
		Decision: index.Decide(roleselector.Query{Namespace: "machines", NamespaceKnown: true, Group: "machine.openshift.io", Version: "v1beta1", Kind: "MachineSet"}),
		Subject:  roleselector.Subject{Service: "capacity"},
	}
	_, ambiguous := capacity.Identify(identity.Environment{},
		identity.Wish{For: "machineSet workers", Secret: identity.SecretRef{Namespace: "machines", Name: "keys"}}, selected)
	_, assumed := capacity.Identify(identity.Environment{RoleARN: "arn:aws:iam::111122223333:role/own", TokenFile: "/token"}, identity.Wish{}, selected)
	_, alone := capacity.Identify(identity.Environment{}, identity.Wish{}, selected)
	selected.Settings.AllowedRoles = []string{"arn:aws:iam::111122223333:role/ack/*"}
	_, forbidden := capacity.Identify(identity.Environment{RoleARN: "arn:aws:iam::111122223333:role/own", TokenFile: "/token"}, identity.Wish{}, selected)
	denied := failed(refused("STS", "AssumeRole", "AccessDenied", http.StatusForbidden))
	denied.Credentials = assumed
	return map[string]capacity.World{
		"a selector beside a Secret":       machineAPI(func(w *capacity.World) { w.Credentials = ambiguous }),
		"a selector without web identity":  machineAPI(func(w *capacity.World) { w.Credentials = alone }),
		"a selector's role is not assumed": denied,
		"a selector's role is forbidden":   machineAPI(func(w *capacity.World) { w.Credentials = forbidden }),
	}
}
