package hubjoin

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// TestWhatCannotBeReadIsNotBroken: it says which right it needs, or what stood in the way.
func TestWhatCannotBeReadIsNotBroken(t *testing.T) {
	refused := Read{Trouble: "forbidden", Right: "get things"}
	both := func() Evidence { return withSpoke(onprem()) }
	lookedAt := func() Evidence { return looked(onprem()) }
	for name, c := range map[string]struct {
		of         func() Evidence
		change     func(*Evidence)
		link, says string
	}{
		"the ClusterManager":           {onprem, func(e *Evidence) { e.Manager = Manager{Read: refused} }, LinkHub, "needs the right to get things"},
		"its definition":               {onprem, func(e *Evidence) { e.Manager.Seen = hub.ClusterManager{Trouble: "no crd"} }, LinkHub, "no crd"},
		"the hub controller's pods":    {cluster1, func(e *Evidence) { e.Manager.Seen.PodTrouble = "no pods" }, LinkHub, "no pods"},
		"the pods, where people make":  {theirDriver, func(e *Evidence) { e.Manager.Seen.Pods, e.Manager.Seen.PodTrouble = nil, "no pods" }, LinkHub, "no pods"},
		"Tabard's controller":          {onprem, func(e *Evidence) { e.Controller.Read = refused }, LinkHub, "whether Tabard's controller tabard-system/tabard-hub is there could not be read: it needs the right to get things"},
		"the ManagedCluster":           {onprem, func(e *Evidence) { e.Managed = ManagedCluster{Read: Read{Trouble: "timeout"}} }, LinkAsked, "could not be read: timeout"},
		"the hub's ARN":                {onprem, func(e *Evidence) { e.HubARN = hub.ARN{}; e.Lease = Lease{} }, LinkAsked, "add --hub-cluster-arn"},
		"the HubAccess":                {cluster1, func(e *Evidence) { e.Record = Record{Read: refused} }, LinkAccess, "needs the right to get things"},
		"AWS is not looked at":         {onprem, func(e *Evidence) { e.Lease = Lease{Read: refused} }, LinkAccess, "add --aws"},
		"no session":                   {lookedAt, func(e *Evidence) { e.AWS = &AWS{Trouble: "no session"} }, LinkAccess, "no session"},
		"a session of another account": {lookedAt, func(e *Evidence) { e.AWS.Account = "222222222222" }, LinkAccess, "sign in there"},
		"AWS, without the hub's ARN":   {lookedAt, func(e *Evidence) { e.HubARN = hub.ARN{} }, LinkAccess, "add --hub-cluster-arn"},
		"the role":                     {lookedAt, func(e *Evidence) { e.AWS.Role = Role{Trouble: "AccessDenied"} }, LinkAccess, "iam:GetRole"},
		"the access entry":             {lookedAt, func(e *Evidence) { e.AWS.Entry = Entry{Trouble: "AccessDenied"} }, LinkAccess, "eks:DescribeAccessEntry"},
		"the works":                    {onprem, func(e *Evidence) { e.Works = Works{Read: refused} }, LinkWorks, "needs the right to get things"},
		"the Klusterlet":               {both, func(e *Evidence) { e.Spoke.Klusterlet.Read = refused }, LinkKlusterlet, "needs the right to get things"},
		"the namespace of the agents":  {both, func(e *Evidence) { e.Spoke.Namespace = refused }, LinkKlusterlet, "needs the right to get things"},
		"the Secret":                   {both, func(e *Evidence) { e.Spoke.Secret = Secret{Read: refused} }, LinkIdentity, "needs the right to get things"},
		"the pods of the agents":       {both, func(e *Evidence) { e.Spoke.Pods, e.Spoke.PodsSeen = refused, nil }, LinkAgents, "needs the right to get things"},
	} {
		t.Run(name, func(t *testing.T) {
			e := c.of()
			c.change(&e)
			findings := Walk(e)
			at := slices.IndexFunc(findings, func(f Finding) bool { return f.Link == c.link })
			if f := findings[at]; f.State != Unknown || !strings.Contains(f.Text, c.says) || len(f.Mend) > 0 {
				t.Errorf("%+v, want %q", f, c.says)
			}
			if first, is := First(findings); is || AllHold(findings) {
				t.Errorf("broken is %+v", first)
			}
		})
	}
}

// TestALeaseThatCannotBeReadIsSaid: the condition counts without it.
func TestALeaseThatCannotBeReadIsSaid(t *testing.T) {
	e := cluster1()
	e.Lease = Lease{Read: Read{Trouble: "forbidden", Right: "get leases"}}
	findings := Walk(e)
	if f := findings[len(findings)-2]; f.State != Holds || !strings.Contains(f.Text, "its lease could not be read: it needs the right to get leases") || !AllHold(findings) {
		t.Errorf("%+v", f)
	}
}
