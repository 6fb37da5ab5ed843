package console

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
)

// Each page shows that it is being read, that it could not be read, and how old it is.
func TestBrowserShowsEachPageInEachState(t *testing.T) {
	const installed, workloads = "states-operator", "states-shop"
	w := begin(t, installed)
	w.operates(installed, "object-keeper")
	w.subscribed(installed, w.role("states", installed, "object-keeper", "s3:GetObject"))
	shop(w.Cluster, workloads)
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("states", map[string]string{"installed": installed, "shop": workloads})
}

// A person who may see an install, and not what it hangs on, sees which right is missing for the next stage.
func TestBrowserSaysWhichRightAStageNeeds(t *testing.T) {
	const namespace = "subscriber"
	w := begin(t, namespace)
	w.subscribed(namespace, w.role("subscriber", namespace, "object-keeper", "s3:GetObject"))
	w.Make(serviceAccount(namespace, "reader", ""))
	w.GrantIn(namespace, "system:serviceaccount:"+namespace+":reader", rbacv1.PolicyRule{
		APIGroups: []string{"operators.coreos.com"}, Resources: []string{"subscriptions"}, Verbs: []string{"get", "list"},
	})
	start(t, "--kubeconfig", w.Kubeconfig(w.Account(namespace, "reader"))).plays("subscriber", map[string]string{"installed": namespace})
}

// What others write in a stage can read like a refusal of the API server. No Role is offered by it: a person would ask
// an administrator for a right that only its writer wants.
func TestBrowserOffersNoRoleByTheWordsOfOthers(t *testing.T) {
	const namespace = "others"
	w := begin(t, namespace)
	w.olm.Fail("object-keeper.v1.0.0", fakeolm.Fault{
		How: fakeolm.Unsatisfiable, Message: `secrets is forbidden: User "x" cannot list resource "secrets" in API group "" in the namespace "kube-system"`,
	})
	w.subscribed(namespace, w.role("others", namespace, "object-keeper", "s3:GetObject"))
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("others", map[string]string{"installed": namespace})
}
