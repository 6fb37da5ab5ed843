package hub

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// TestOCMAClusterFromAnywhereJoinsWithoutAKey has a cluster outside AWS whose issuer is published and
// registered in the hub's account. No key of AWS is stored anywhere. It joins by "tabard hub join".
func TestOCMAClusterFromAnywhereJoinsWithoutAKey(t *testing.T) {
	joinsWithoutAKey(t, "", func(a *anywhere) { a.asksByCommand(t, "--hub-role", "web-identity") })
}

// TestOCMAClusterOfAKSJoinsWithoutAKey has one whose issuer ends with a slash, as all of AKS do. Its
// Klusterlet is the page's.
func TestOCMAClusterOfAKSJoinsWithoutAKey(t *testing.T) {
	joinsWithoutAKey(t, "/tenant/cluster/", func(a *anywhere) { a.asks(t, "web-identity") })
}

func joinsWithoutAKey(t *testing.T, path string, ask func(*anywhere)) {
	t.Helper()
	a := startAnywhere(t, path)
	trust := a.registered(t)
	ask(a)
	a.joinsByHand(t, trust)
	wantNoRoles(t, a.spoke.Cluster)
	wantDeploymentsAsRendered(t, a.spoke.Cluster)
	wantNoKey(t, a)
	var callers []string
	for _, call := range a.aws.Admin().Journal() {
		if call.Operation == "AssumeRoleWithWebIdentity" {
			callers = append(callers, call.Caller)
		}
		if call.Operation == "AssumeRole" {
			t.Errorf("%s has become a role without a token", call.Caller)
		}
	}
	if len(callers) == 0 {
		t.Error("nobody has become the role with a token")
	}
	registersAddOns(a.spoke.Cluster)
	wantAddOn(t, a.Hub.Cluster, a.spoke.Cluster, a.name)
}

// asksWithoutAKey makes the cluster ask to join with the tokens of its agents. It returns the trust policy
// of the cluster's role.
func (a *anywhere) asksWithoutAKey(t *testing.T) (trust string) {
	t.Helper()
	trust = a.registered(t)
	a.asks(t, "web-identity")
	return trust
}

// registered has the cluster's issuer registered in the hub's account. It returns the trust policy of the
// cluster's role.
func (a *anywhere) registered(t *testing.T) (trust string) {
	t.Helper()
	spoke := corehub.Spoke{Cluster: a.name, Issuer: a.spoke.Issuer(), Agents: corehub.Agents{Namespace: ocm.AgentNamespace, Klusterlet: "klusterlet"}}
	_, trust, err := spoke.HubRole(must.Get(corehub.ParseARN(hubARN))(t))
	must.Do(t, err)
	a.aws.Provider(hubAccount, a.spoke.Issuer(), "sts.amazonaws.com")
	return trust
}

// wantNoKey says that no Secret of the cluster has a key of AWS.
func wantNoKey(t *testing.T, a *anywhere) {
	t.Helper()
	var list corev1.SecretList
	must.Do(t, a.spoke.List(t.Context(), &list))
	for _, secret := range list.Items {
		for key, value := range secret.Data {
			if strings.Contains(string(value), "aws_secret_access_key") || strings.Contains(string(value), "AKIA") {
				t.Errorf("the Secret %s/%s has a key of AWS in %s", secret.Namespace, secret.Name, key)
			}
		}
	}
	if len(list.Items) == 0 {
		t.Error("the cluster has no Secrets")
	}
}
