package hub_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const agentOf1 = "system:open-cluster-management:cluster1:agent1"

// asking is a certificate signing request for a user and its groups.
func asking(t *testing.T, name, user string, groups ...string) hub.SigningRequest {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	request := must.Get(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: user, Organization: groups}}, key))(t)
	return hub.SigningRequest{
		Name: name, Username: "system:serviceaccount:open-cluster-management:agent-registration-bootstrap", Signer: "kubernetes.io/kube-apiserver-client",
		PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}),
	}
}

func TestWhichCertificateRequestsAreApproved(t *testing.T) {
	groups := []string{"system:open-cluster-management:cluster1", "system:open-cluster-management:managed-clusters"}
	good := asking(t, "good", agentOf1, groups...)
	with := func(change func(*hub.SigningRequest)) hub.SigningRequest {
		out := good
		change(&out)
		return out
	}
	for name, test := range map[string]struct {
		requests   []hub.SigningRequest
		requesters []string
		unchecked  bool
		approve    []string
		done       bool
		says       string
	}{
		"none":                      {nil, nil, false, nil, false, ""},
		"the agent's":               {[]hub.SigningRequest{good}, nil, false, []string{"good"}, false, ""},
		"two of one agent":          {[]hub.SigningRequest{good, with(func(r *hub.SigningRequest) { r.Name = "again" })}, nil, false, []string{"good", "again"}, false, ""},
		"by a bootstrap token":      {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Username = "system:bootstrap:abcdef" })}, nil, false, []string{"good"}, false, ""},
		"approved before":           {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Approved = true })}, nil, false, nil, true, ""},
		"denied before":             {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Denied = true })}, nil, false, nil, false, "was denied"},
		"by somebody else":          {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Username = "mallory" })}, nil, false, nil, false, "no bootstrap identity"},
		"by anybody, unchecked":     {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Username = "somebody" })}, nil, true, []string{"good"}, false, ""},
		"like the bootstrap user":   {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Username += "-2" })}, nil, false, nil, false, "no bootstrap identity"},
		"for another cluster":       {[]hub.SigningRequest{asking(t, "a", "system:open-cluster-management:cluster2:agent1", groups...)}, nil, true, nil, false, "expected system:open-cluster-management:cluster1:AGENT"},
		"for a name that begins so": {[]hub.SigningRequest{asking(t, "a", "system:open-cluster-management:cluster1-b:agent1")}, nil, true, nil, false, "expected"},
		"for an add-on":             {[]hub.SigningRequest{asking(t, "a", "system:open-cluster-management:cluster:cluster1:addon:a:agent:b")}, nil, true, nil, false, "expected"},
		"for an agent of an add-on": {[]hub.SigningRequest{asking(t, "a", agentOf1+":more")}, nil, true, nil, false, "expected"},
		"for no agent":              {[]hub.SigningRequest{asking(t, "a", "system:open-cluster-management:cluster1:")}, nil, true, nil, false, "expected"},
		"for another group":         {[]hub.SigningRequest{asking(t, "a", agentOf1, "system:masters")}, nil, true, nil, false, `the group "system:masters"`},
		"for another cluster's group": {
			[]hub.SigningRequest{asking(t, "a", agentOf1, "system:open-cluster-management:cluster2")}, nil, true, nil, false, "expected system:open-cluster-management:cluster1 alone",
		},
		"by another signer": {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Signer = "kubernetes.io/kubelet-serving" })}, nil, true, nil, false, "its signer"},
		"what is none":      {[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.PEM = []byte("a") })}, nil, false, nil, false, "in PEM"},
		"a broken one": {
			[]hub.SigningRequest{with(func(r *hub.SigningRequest) {
				r.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte("a")})
			})}, nil, false, nil, false, "cannot be read",
		},
		"two agents": {
			[]hub.SigningRequest{good, asking(t, "other", "system:open-cluster-management:cluster1:agent2", groups...)}, nil, false, nil, false, "name it with --requesters",
		},
		"another agent, after one was approved": {
			[]hub.SigningRequest{with(func(r *hub.SigningRequest) { r.Approved = true }), asking(t, "other", "system:open-cluster-management:cluster1:agent2", groups...)}, nil, false, nil, true, "name it with --requesters",
		},
		"one of two agents": {
			[]hub.SigningRequest{good, asking(t, "other", "system:open-cluster-management:cluster1:agent2", groups...)}, []string{agentOf1}, false, []string{"good"}, false, "which --requesters does not name",
		},
	} {
		got := hub.Approvals("cluster1", test.requests, test.requesters, test.unchecked)
		if diff := cmp.Diff(test.approve, got.Approve); diff != "" || got.Done != test.done {
			t.Errorf("%s: done %t, approve (-want +got):\n%s", name, got.Done, diff)
		}
		if said := strings.Join(got.Notes, "\n"); !strings.Contains(said, test.says) || (said == "") != (test.says == "") {
			t.Errorf("%s: it says %q, want %q", name, said, test.says)
		}
	}
}

func TestWhatIsWaitedFor(t *testing.T) {
	condition := func(kind, status string, observed int64) any {
		return map[string]any{"type": kind, "status": status, "reason": "Because", "message": "of this", "observedGeneration": observed}
	}
	in := func(conditions ...any) map[string]any {
		return map[string]any{"metadata": map[string]any{"generation": int64(2)}, "status": map[string]any{"conditions": conditions}}
	}
	for name, test := range map[string]struct {
		waits []string
		want  []string
	}{
		"a new ClusterManager": {hub.ManagerWaits(in()), []string{"the operator has not applied the ClusterManager yet", "the hub controller does not run yet"}},
		"one that is applied, and not run": {
			hub.ManagerWaits(in(condition("Applied", "True", 2), condition("HubRegistrationDegraded", "True", 2))),
			[]string{"the hub controller does not run: HubRegistrationDegraded is True (Because: of this)"},
		},
		"one whose conditions are of before": {hub.ManagerWaits(in(condition("Applied", "True", 1), condition("HubRegistrationDegraded", "False", 2))), []string{"the operator has not applied the ClusterManager yet"}},
		"a hub":                              {hub.ManagerWaits(in(condition("Applied", "True", 2), condition("HubRegistrationDegraded", "False", 0))), nil},
		"agents": {
			hub.KlusterletWaits(in(condition("Applied", "True", 2), condition("RegistrationDesiredDegraded", "False", 2), condition("WorkDesiredDegraded", "False", 2))), nil,
		},
		"no work agent": {hub.KlusterletWaits(in(condition("Applied", "True", 2), condition("RegistrationDesiredDegraded", "False", 2))), []string{"the work agent does not run yet"}},
		"a joined cluster": {
			hub.ClusterWaits(in(condition(hub.ClusterAccepted, "True", 0), condition(hub.ClusterJoined, "True", 0), condition(hub.ClusterAvailable, "True", 0))), nil,
		},
		"one that does not report": {
			hub.ClusterWaits(in(condition(hub.ClusterAccepted, "True", 0), condition(hub.ClusterJoined, "True", 0), condition(hub.ClusterAvailable, "Unknown", 0))),
			[]string{"its agent does not report: ManagedClusterConditionAvailable is Unknown (Because: of this)"},
		},
	} {
		if diff := cmp.Diff(test.want, test.waits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
