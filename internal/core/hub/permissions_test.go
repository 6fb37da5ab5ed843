package hub_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	entries  = "arn:aws:eks:us-west-2:111111111111:access-entry/eks-hub/"
	ownEntry = entries + "role/111111111111/ocm-hub-" + suffixA + "/1"
)

// keys are condition keys of a request; nil takes one away.
type keys map[string][]string

// change is a request of keys with others in their place.
func (k keys) change(other keys) iampolicy.Context {
	all, context := maps.Clone(k), iampolicy.NewContext()
	maps.Copy(all, other)
	for key, values := range all {
		if values != nil {
			context.Set(key, values...)
		}
	}
	return context
}

// made and altered are what the controller sends: see internal/cloud/accessentry.
var (
	made = keys{
		"aws:RequestTag/" + hub.HubTag: {hubARN}, "aws:TagKeys": {hub.HubTag}, "eks:accessEntryType": {"STANDARD"},
		"eks:kubernetesGroups": {"open-cluster-management:cluster-1.eu"}, "eks:username": {"cluster-1.eu"},
		"eks:principalArn": {"arn:aws:iam::111111111111:role/ocm-hub-" + suffixA},
	}
	altered = keys{
		"aws:ResourceTag/" + hub.HubTag: {hubARN}, "eks:clusterName": {"eks-hub"}, "eks:kubernetesGroups": {"open-cluster-management:cluster-1.eu"},
		"eks:username": {"cluster-1.eu"}, "eks:principalArn": {"arn:aws:iam::111111111111:role/ocm-hub-" + suffixA},
	}
)

func may(t *testing.T, action, resource string, context iampolicy.Context) bool {
	t.Helper()
	policy := must.Get(iampolicy.Parse([]byte(hub.Permissions(arn(t, hubARN)).String())))(t)
	return iampolicy.Evaluate(&iampolicy.Request{
		Principal: iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::111111111111:assumed-role/tabard-hub/s", AccountID: "111111111111"},
		Action:    action, Resource: resource, ResourceAccountID: "111111111111", Context: context,
	}, &iampolicy.Policies{Identity: []*iampolicy.Policy{policy}}).Allowed()
}

// notOfAgents are names and groups that no agent of Open Cluster Management has, for a new
// entry and for one that is there.
var notOfAgents = map[string]keys{
	"no username":               {"eks:username": nil},
	"an empty username":         {"eks:username": {""}},
	"a user of Kubernetes":      {"eks:username": {"system:admin"}},
	"a person":                  {"eks:username": {"alice@example.com"}},
	"a user by its ARN":         {"eks:username": {"arn:aws:iam::111111111111:user/alice"}},
	"a user of a path":          {"eks:username": {"team/alice"}},
	"a user of another issuer":  {"eks:username": {"oidc:alice"}},
	"a username of the session": {"eks:username": {"x{{SessionName}}"}},
	"a name with an underscore": {"eks:username": {"cluster_admin"}},
	"no groups":                 {"eks:kubernetesGroups": nil},
	"an empty list of groups":   {"eks:kubernetesGroups": {}},
	"system:masters":            {"eks:kubernetesGroups": {"system:masters"}},
	"system:masters beside one": {"eks:kubernetesGroups": {"open-cluster-management:cluster-1", "system:masters"}},
	"a group of people":         {"eks:kubernetesGroups": {"admins"}},
}

// TestAThiefMakesNoEntryButOfAnAgent: the policy allows what the controller does, and of what a
// thief of its account would want nothing else.
func TestAThiefMakesNoEntryButOfAnAgent(t *testing.T) {
	const create, update = "eks:CreateAccessEntry", "eks:UpdateAccessEntry"
	if !may(t, create, hubARN, made.change(nil)) || !may(t, update, ownEntry, altered.change(nil)) {
		t.Fatal("the controller may not make or change its entries")
	}
	for name, other := range notOfAgents {
		if may(t, create, hubARN, made.change(other)) {
			t.Errorf("%s: an entry can be made", name)
		}
		if may(t, update, ownEntry, altered.change(other)) {
			t.Errorf("%s: an entry can be changed", name)
		}
	}
	for name, other := range map[string]keys{
		"no type":                         {"eks:accessEntryType": nil},
		"nodes":                           {"eks:accessEntryType": {"EC2_LINUX"}},
		"nodes, without names and groups": {"eks:accessEntryType": {"EC2_LINUX"}, "eks:kubernetesGroups": nil, "eks:username": nil},
		"nodes of Fargate":                {"eks:accessEntryType": {"FARGATE_LINUX"}, "eks:kubernetesGroups": nil, "eks:username": nil},
		"no type, names and groups":       {"eks:accessEntryType": nil, "eks:kubernetesGroups": nil, "eks:username": nil},
		"no tags":                         {"aws:RequestTag/" + hub.HubTag: nil, "aws:TagKeys": nil},
		"the tag of another hub":          {"aws:RequestTag/" + hub.HubTag: {spokeARN}},
		"another role":                    {"eks:principalArn": {"arn:aws:iam::111111111111:role/admin"}},
		"a role in a path":                {"eks:principalArn": {"arn:aws:iam::111111111111:role/x/ocm-hub-" + suffixA}},
		"a user":                          {"eks:principalArn": {"arn:aws:iam::111111111111:user/ocm-hub-" + suffixA}},
		"no principal":                    {"eks:principalArn": nil},
	} {
		if may(t, create, hubARN, made.change(other)) {
			t.Errorf("%s: an entry can be made", name)
		}
	}
	if may(t, create, spokeARN, made.change(nil)) {
		t.Error("an entry of another cluster can be made")
	}
}

// TestAThiefChangesNoEntryOfOthers, nor one that it has given the hub's tag before.
func TestAThiefChangesNoEntryOfOthers(t *testing.T) {
	carried := "aws:ResourceTag/" + hub.HubTag
	for name, c := range map[string]struct {
		resource string
		other    keys
		want     bool
	}{
		"its own":                       {ownEntry, nil, true},
		"one without tags":              {ownEntry, keys{carried: nil}, false},
		"one of another hub":            {ownEntry, keys{carried: {spokeARN}}, false},
		"an administrator's":            {entries + "role/111111111111/admin/2", keys{carried: nil}, false},
		"an administrator's, tagged":    {entries + "role/111111111111/admin/2", nil, false},
		"a user's, tagged":              {entries + "user/111111111111/ocm-hub-" + suffixA + "/3", nil, false},
		"one of another account's role": {entries + "role/222222222222/ocm-hub-" + suffixA + "/4", nil, false},
		"one of another cluster":        {strings.Replace(ownEntry, "eks-hub", "other", 1), nil, false},
	} {
		for _, action := range []string{"eks:UpdateAccessEntry", "eks:DeleteAccessEntry"} {
			if got := may(t, action, c.resource, altered.change(c.other)); got != c.want {
				t.Errorf("%s of %s is allowed: %t", action, name, got)
			}
		}
	}
}
