package hubjoin

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/core/ocmhook"
)

const (
	hubARN   = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	spokeARN = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	suffixA  = "141fc72f17164e5a28c2b4e384694bae"
	suffixB  = "347a66776893e40615516d2e0491e696"
	// noARN is what the admission hook writes for a cluster without an ARN.
	noARN = "arn:aws:eks:us-west-2:000000000000:cluster/no-arn-12345678"
)

var (
	now   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	there = Read{Exists: true}
)

func state(kind, status, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message}
}

func alive() []metav1.Condition {
	return []metav1.Condition{
		state("HubAcceptedManagedCluster", "True", "HubClusterAdminAccepted", "Accepted by hub cluster admin"),
		state("ManagedClusterJoined", "True", "ManagedClusterJoined", "Managed cluster joined"),
		state("ManagedClusterConditionAvailable", "True", "ManagedClusterAvailable", "Managed cluster is available"),
	}
}

// onprem is a cluster outside EKS that works, whose role people made.
func onprem() Evidence {
	e := Evidence{
		Cluster: "onprem-1", Now: now,
		Manager:    Manager{Read: there, Name: "cluster-manager", Seen: hub.ClusterManager{Drivers: []hub.Driver{{AuthType: "csr"}}}},
		Controller: Controller{Name: "tabard-system/tabard-hub"},
		Managed:    ManagedCluster{Read: there, Annotations: map[string]string{hub.SuffixAnnotation: suffixB}, Accepted: true, Conditions: alive()},
		Lease:      Lease{Read: there, Renewed: now.Add(-20 * time.Second)},
		Works:      Works{Read: there, Total: 3, Applied: 3},
	}
	e.HubARN, _ = hub.ParseARN(hubARN)
	return e
}

// cluster1 is one in EKS that works, whose role Tabard made.
func cluster1() Evidence {
	e := onprem()
	e.Cluster = "cluster1"
	e.Managed.Annotations = map[string]string{hub.SuffixAnnotation: suffixA, hub.ARNAnnotation: spokeARN}
	e.Manager.Seen.HasField = true
	e.Controller = Controller{Read: there, Name: "tabard-system/tabard-hub", HubARN: hubARN}
	e.Record = Record{Read: there, Conditions: []metav1.Condition{state("Ready", "True", "AccessGiven", "the role may be assumed")}}
	return e
}

// looked adds what the session of a person sees where all is as it shall be.
func looked(e Evidence) Evidence {
	arn, role, _ := Target(e)
	claim := hub.Classify(e.Managed.Annotations)
	trust := hub.Trust(arn, claim.Spoke, strings.TrimPrefix(role, hub.RoleName("")))
	e.AWS = &AWS{
		Account: "111111111111", Role: Role{Exists: true, ID: "AROA2", Trust: trust},
		Entry: Entry{Exists: true, Username: e.Cluster, Groups: []string{hub.Group(e.Cluster)}, Type: hubaccess.Standard},
	}
	return e
}

// withSpoke adds what the joining cluster shows where all is as it shall be.
func withSpoke(e Evidence) Evidence {
	arn := spokeARN
	secret := Secret{}
	config := ""
	if hub.Classify(e.Managed.Annotations).Class != hub.Managed {
		arn, config, secret = noARN, "iam-config", Secret{Read: there, Keys: []string{"config", "credentials"}}
	}
	e.Spoke = &Spoke{
		Klusterlet: Klusterlet{Read: there, Klusterlet: ocmhook.Klusterlet{
			Name: "klusterlet", Namespace: "open-cluster-management-agent", ClusterName: e.Cluster, AuthType: hub.DriverAWS,
			HubARN: hubARN, ManagedARN: arn, IAMConfigSecret: config,
		}},
		Namespace: there, Labelled: true, Secret: secret, Pods: there,
		PodsSeen: []Pod{
			{Name: "reg-1", App: registrationApp, Phase: "Running", Ready: true, Identity: true},
			{Name: "work-1", App: workApp, Phase: "Running", Ready: true},
		},
	}
	return e
}

// notIn is of a cluster whose agents have not come in.
func notIn(e Evidence) Evidence {
	e.Managed.Conditions = alive()[:1]
	e.Lease, e.Works = Lease{}, Works{Read: there}
	return e
}

func TestAllLinksHold(t *testing.T) {
	certificate := onprem()
	certificate.Managed.Annotations = nil
	unnamed := onprem()
	unnamed.HubARN = hub.ARN{}
	for name, e := range map[string]Evidence{
		"outside EKS":                 onprem(),
		"in EKS":                      cluster1(),
		"looked at in AWS":            looked(onprem()),
		"in EKS, from both sides":     withSpoke(cluster1()),
		"outside EKS, from all sides": withSpoke(looked(onprem())),
		"with a certificate":          certificate,
		"the hub's ARN is not known, and the agents report": unnamed,
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range Walk(e) {
				if f.State != Holds || f.Text == "" || len(f.Mend) > 0 {
					t.Errorf("%+v", f)
				}
			}
			if _, is := First(Walk(e)); is || !AllHold(Walk(e)) {
				t.Error("a link is said to be broken")
			}
		})
	}
}
