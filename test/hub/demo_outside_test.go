package hub

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// joinsWithAKey has a cluster outside EKS with the key of a user in a Secret.
func (a *tale) joinsWithAKey() {
	spoke := startOutside(a.t, a.Hub, a.aws, "onprem-1", "")
	spoke.asksWithAKey(a.t)
	a.sayKlusterlet(spoke)
	a.joins(spoke, trustBroker)
}

// joinsWithAToken has one whose agents become the role with the tokens of their own ServiceAccounts.
func (a *tale) joinsWithAToken() {
	spoke := startOutside(a.t, a.Hub, a.aws, "onprem-2", "/tenant/cluster/")
	trust := spoke.asksWithoutAKey(a.t)
	a.say("its issuer is public, and an OIDC provider of the hub's account: %s", spoke.spoke.Issuer())
	a.sayKlusterlet(spoke)
	a.joins(spoke, trust)
	wantNoKey(a.t, spoke)
	a.say("no Secret of the cluster has a key of AWS")
}

// sayKlusterlet tells what the webhook has made of the Klusterlet and of an agent's pod.
func (a *tale) sayKlusterlet(spoke *anywhere) {
	made := ocm.New(ocm.Klusterlet, "", "klusterlet")
	must.Do(a.t, spoke.spoke.Get(a.t.Context(), client.ObjectKeyFromObject(made), made))
	arn, _, _ := unstructured.NestedString(made.Object, "spec", "registrationConfiguration", "registrationDriver", "awsIrsa", "managedClusterArn")
	a.say("its Klusterlet has no ARN, and the placeholder of Tabard's webhook: %s", arn)
	for _, pod := range podsIn(spoke.spoke.Cluster, ocm.AgentNamespace) {
		a.say("the pod %s has %s", pod.Name, identityOf(&pod))
	}
}

// identityOf says where an agent's pod has its identity from.
func identityOf(pod *corev1.Pod) string {
	for _, variable := range pod.Spec.Containers[0].Env {
		switch variable.Name {
		case "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE":
			return variable.Name + "=" + variable.Value
		}
	}
	return "no identity of AWS"
}

// joins makes the cluster's role by hand and accepts the cluster, whose work arrives.
func (a *tale) joins(spoke *anywhere, trust string) {
	a.aws.Admin().ClearJournal()
	spoke.join(a.t, trust)
	a.say("the administrator made %s and its access entry by hand, and accepted %s", spoke.role, spoke.name)
	a.called()
	a.say("a ManifestWork arrived on %s", spoke.name)
}
