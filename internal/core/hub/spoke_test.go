package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const spokeIssuer = "https://onprem-oidc.s3.us-west-2.amazonaws.com"

var (
	theHub    = ARN{Partition: "aws", Region: "us-west-2", Account: "111111111111", Name: "eks-hub"}
	theSpoke  = ARN{Partition: "aws", Region: "us-east-1", Account: "222222222222", Name: "spoke-1"}
	theAgents = Agents{Namespace: "open-cluster-management-agent", Klusterlet: "klusterlet"}
)

func TestWhatAPersonSaysOfASpokeIsChecked(t *testing.T) {
	const role, user = "arn:aws:iam::444444444444:role/onprem/broker", "arn:aws:iam::444444444444:user/broker"
	outside := func(change func(*Spoke)) Spoke {
		s := Spoke{Cluster: "onprem-1", Agents: theAgents}
		change(&s)
		return s
	}
	principal := func(arn string) Spoke { return outside(func(s *Spoke) { s.Principals = []string{arn} }) }
	cases := map[string]struct {
		spoke Spoke
		says  string
	}{
		"in EKS":                         {Spoke{Cluster: "cluster1", ARN: theSpoke, Agents: theAgents}, ""},
		"in EKS, with its issuer":        {Spoke{Cluster: "cluster1", ARN: theSpoke, Issuer: "https://oidc.eks.us-east-1.amazonaws.com/id/ABC", Agents: theAgents}, ""},
		"a role's credentials":           {principal(role), ""},
		"a user's keys":                  {principal(user), ""},
		"an issuer":                      {outside(func(s *Spoke) { s.Issuer = spokeIssuer }), ""},
		"neither issuer nor credentials": {outside(func(*Spoke) {}), "needs either"},
		"an issuer of AKS":               {outside(func(s *Spoke) { s.Issuer = "https://eastus.oic.prod-aks.azure.com/T/C/" }), ""},
		"both":                           {outside(func(s *Spoke) { s.Issuer, s.Principals = spokeIssuer, []string{role} }), "needs either"},
		"in EKS, with principals":        {Spoke{Cluster: "cluster1", ARN: theSpoke, Principals: []string{role}, Agents: theAgents}, "leave the principals out"},
		"in another partition":           {Spoke{Cluster: "cluster1", ARN: ARN{"aws-cn", "cn-north-1", "222222222222", "spoke-1"}, Agents: theAgents}, "partition"},
		"a principal of another":         {principal("arn:aws-cn:iam::444444444444:role/broker"), "partition"},
		"an account":                     {principal("arn:aws:iam::444444444444:root"), "one IAM role or user"},
		"twelve digits":                  {principal("444444444444"), "one IAM role or user"},
		"everybody":                      {principal("*"), "one IAM role or user"},
		"a wildcard":                     {principal("arn:aws:iam::444444444444:role/*"), "one IAM role or user"},
		"a session of a role":            {principal("arn:aws:sts::444444444444:assumed-role/broker/me"), "one IAM role or user"},
		"an issuer without https":        {outside(func(s *Spoke) { s.Issuer = "http://onprem.example.com" }), "https"},
		"no name":                        {outside(func(s *Spoke) { s.Issuer, s.Cluster = spokeIssuer, "" }), "not the name of a ManagedCluster"},
		"a name with a hash sign":        {outside(func(s *Spoke) { s.Issuer, s.Cluster = spokeIssuer, "a#b" }), "not the name of a ManagedCluster"},
		"a namespace with a colon":       {outside(func(s *Spoke) { s.Issuer, s.Agents.Namespace = spokeIssuer, "a:b" }), "the agents' namespace"},
		"a Klusterlet with an asterisk":  {outside(func(s *Spoke) { s.Issuer, s.Agents.Klusterlet = spokeIssuer, "*" }), "the agents' namespace"},
	}
	for name, c := range cases {
		err := c.spoke.Check(theHub)
		if (err != nil) != (c.says != "") || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, expected %q", name, err, c.says)
		}
	}
}

func TestExactlyTheAgentsBecomeTheRole(t *testing.T) {
	spoke := Spoke{Cluster: "onprem-1", Issuer: spokeIssuer, Agents: theAgents}
	name, trust, err := spoke.HubRole(theHub)
	must.Do(t, err)
	if name != "ocm-hub-347a66776893e40615516d2e0491e696" {
		t.Errorf("the role is %s", name)
	}
	const provider = "arn:aws:iam::111111111111:oidc-provider/onprem-oidc.s3.us-west-2.amazonaws.com"
	policy := must.Get(iampolicy.Parse([]byte(trust)))(t)
	if err := policy.Lint(iampolicy.TrustPolicy, iampolicy.LintOptions{RoleARN: theHub.RoleARN(name)}); err != nil {
		t.Errorf("the linter says %v", err)
	}
	for _, subject := range []string{"system:serviceaccount:open-cluster-management-agent:klusterlet-registration-sa", "system:serviceaccount:open-cluster-management-agent:klusterlet-work-sa"} {
		if !strings.Contains(trust, `"`+subject+`"`) {
			t.Errorf("the trust has no %s:\n%s", subject, trust)
		}
	}
	if strings.Count(trust, "system:serviceaccount") != 2 || !strings.Contains(trust, provider) || !strings.Contains(trust, `"sts.amazonaws.com"`) {
		t.Errorf("the trust is\n%s", trust)
	}
	spoke.Agents.Singleton = true
	_, trust, err = spoke.HubRole(theHub)
	if must.Do(t, err); strings.Count(trust, "system:serviceaccount") != 1 || !strings.Contains(trust, "klusterlet-work-sa") {
		t.Errorf("the trust of a singleton is\n%s", trust)
	}
}

func TestTheRolesOfASpokeInEKSFitEachOther(t *testing.T) {
	spoke := Spoke{Cluster: "cluster1", ARN: theSpoke, Agents: theAgents}
	if _, err := spoke.OwnRole(theHub); err == nil || !strings.Contains(err.Error(), "describe-cluster") {
		t.Errorf("without an issuer: %v", err)
	}
	spoke.Issuer = "https://oidc.eks.us-east-1.amazonaws.com/id/ABC"
	own, err := spoke.OwnRole(theHub)
	must.Do(t, err)
	name, trust, err := spoke.HubRole(theHub)
	must.Do(t, err)
	if own.Name != "ocm-managed-cluster-141fc72f17164e5a28c2b4e384694bae" || !strings.Contains(trust, "arn:aws:iam::222222222222:role/"+own.Name) || !strings.Contains(own.Policy, "arn:aws:iam::111111111111:role/"+name) {
		t.Errorf("%+v\n%s", own, trust)
	}
	for key, value := range own.Tags {
		if !strings.Contains(trust, fmt.Sprintf("%q: %q", "aws:PrincipalTag/"+key, value)) {
			t.Errorf("the trust does not ask for the tag %s=%s:\n%s", key, value, trust)
		}
	}
	want := map[string]string{"hub_cluster_account_id": "111111111111", "hub_cluster_name": "eks-hub", "managed_cluster_account_id": "222222222222", "managed_cluster_name": "spoke-1"}
	if diff := cmp.Diff(want, own.Tags); diff != "" || own.Provider != "arn:aws:iam::222222222222:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABC" {
		t.Errorf("%s (-want +got):\n%s", own.Provider, diff)
	}
}
