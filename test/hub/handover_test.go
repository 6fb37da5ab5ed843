package hub

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// arnB is a second cluster in EKS.
const arnB = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-2"

// suffixOf is the suffix of a cluster's role on the hub.
func suffixOf(t *testing.T, arn, name string) string {
	t.Helper()
	return must.Get(corehub.Suffix(must.Get(corehub.ParseARN(hubARN))(t), must.Get(corehub.ParseARN(arn))(t), name))(t)
}

// awsDriver is the driver awsirsa of a ClusterManager.
func awsDriver() map[string]any {
	return map[string]any{"authType": "awsirsa", "awsirsa": map[string]any{"hubClusterArn": hubARN}}
}

// TestOCMARunningHubIsHandedOver has a hub whose own driver awsirsa gave a cluster its access. While a
// pod with that driver runs, Tabard's controller calls nobody. When the driver is taken out of the
// ClusterManager, it takes over and leaves what it finds as it is. The cluster's agents have access all
// the while. Clusters that come later get theirs by Tabard. One whose access the driver made keeps it
// in AWS when it leaves: administrators remove what Tabard did not make.
func TestOCMARunningHubIsHandedOver(t *testing.T) {
	aws := startEKS(t)
	s := prepareStory(t, aws, hubSession(aws), map[string]any{"authType": "csr"}, awsDriver())
	s.Accept("cluster1")
	awaitCondition(s.Hub, "cluster1", "ManagedClusterJoined", "True")
	wantArrives(t, s.Cluster, s.spoke.Cluster, "cluster1")
	before, starts := s.inAWS(t), s.starts()
	if entries := before.Entries; before.Role == "" || len(entries) != 1 || entries[0].PrincipalARN != s.role || entries[0].Stale {
		t.Fatalf("their driver has made the role %q and the entries %+v", before.Role, entries)
	}

	s.standsBack(t)
	s.Merge(ocm.New(ocm.ClusterManager, "", "cluster-manager"), `{"spec": {"registrationConfiguration": {"registrationDrivers": [{"authType": "csr"}]}}}`)
	s.awaitWithAccess(t, func() error { return hasAccess(s.Cluster, "cluster1", "True", core.ReasonMadeByHand) })
	if activities := s.activities(t); !slices.Equal(activities, []corehub.Activity{corehub.Idle}) {
		t.Errorf("the pods of the hub controller are %v", activities)
	}
	if changes := s.changesBy(s.key); len(changes) > 0 {
		t.Errorf("Tabard's controller has called %q", changes)
	}
	aws.Admin().ClearJournal()
	wantWorkArrives(t, s.Cluster, s.spoke.Cluster, "cluster1", "later")
	awaitCondition(s.Hub, "cluster1", "ManagedClusterConditionAvailable", "True")
	if diff := cmp.Diff(before, s.inAWS(t)); diff != "" {
		t.Errorf("the hand-over has changed what is in AWS (-before +after):\n%s", diff)
	}
	if now := s.starts(); now != starts {
		t.Errorf("the agents were started %d times, and %d times before the hand-over", now, starts)
	}
	s.givesLater(t)
	s.leaves(t, before)
}

// inAWS is what a hand-over must not change.
type inAWS struct {
	// Role is the unique ID of the cluster's role, Trust its trust policy, and Tags are its tags and
	// those of its entry.
	Role, Trust string
	Tags        []string
	Entries     []awslocal.AccessEntry
}

func (s *story) inAWS(t *testing.T) inAWS {
	t.Helper()
	role := must.Get(s.aws.IAM(hubAccount).GetRole(t.Context(), &iam.GetRoleInput{RoleName: new("ocm-hub-" + suffixA)}))(t).Role
	entry := must.Get(s.eks().DescribeAccessEntry(t.Context(), &eks.DescribeAccessEntryInput{ClusterName: new("eks-hub"), PrincipalArn: &s.role}))(t).AccessEntry
	out := inAWS{Role: *role.RoleId, Trust: *role.AssumeRolePolicyDocument}
	for _, tag := range role.Tags {
		out.Tags = append(out.Tags, "role "+*tag.Key+"="+*tag.Value)
	}
	for key, value := range entry.Tags {
		out.Tags = append(out.Tags, "entry "+key+"="+value)
	}
	slices.Sort(out.Tags)
	for _, each := range s.entries() {
		if each.PrincipalARN == s.role {
			out.Entries = append(out.Entries, each)
		}
	}
	return out
}

// eks is that of the hub's account, as its administrator sees it.
func (s *story) eks() *eks.Client {
	return eks.NewFromConfig(s.aws.As(s.aws.Administrator(hubAccount)))
}

// starts is how often the agents were started.
func (s *story) starts() int {
	return s.spoke.Starts("klusterlet-registration-agent") + s.spoke.Starts("klusterlet-work-agent")
}

// activities are those of the pods in the namespace of the hub controller that are hub controllers.
func (s *story) activities(t *testing.T) (out []corehub.Activity) {
	t.Helper()
	for _, pod := range podsIn(s.Cluster, ocm.HubNamespace) {
		if activity := activityOf(pod.Labels, &pod.Spec); activity != corehub.NoController {
			out = append(out, activity)
		}
	}
	return out
}

// changesBy are the operations but those that read which an access key has called.
func (s *story) changesBy(key string) (operations []string) {
	for _, call := range s.aws.Admin().Journal() {
		reads := slices.ContainsFunc([]string{"Get", "List", "Describe"}, func(verb string) bool { return strings.HasPrefix(call.Operation, verb) })
		if call.AccessKeyID == key && !reads {
			operations = append(operations, call.Operation)
		}
	}
	return operations
}

// awaitWithAccess waits, and asks the hub for the cluster with a fresh token at each look.
func (s *story) awaitWithAccess(t *testing.T, what func() error) {
	t.Helper()
	s.Await(func() error {
		if err := readCluster(s.Cluster, s.mint(t), "cluster1"); err != nil {
			t.Errorf("during the hand-over, the hub answers the cluster: %v", err)
		}
		return what()
	})
}

// standsBack starts Tabard's controller beside a pod with their driver. It lets a cluster go that it
// held before, which shows that it has looked, and does nothing else.
func (s *story) standsBack(t *testing.T) {
	t.Helper()
	if activities := s.activities(t); !slices.Equal(activities, []corehub.Activity{corehub.Acting}) {
		t.Errorf("the pods of the hub controller are %v", activities)
	}
	cluster := ocm.New(ocm.ManagedCluster, "", "cluster1")
	must.Do(t, s.Patch(t.Context(), cluster, client.RawPatch("application/json-patch+json", []byte(`[{"op": "add", "path": "/metadata/finalizers/-", "value": "`+core.Finalizer+`"}]`))))
	s.aws.Admin().ClearJournal()
	s.run(t, corehub.On)
	s.awaitWithAccess(t, func() error {
		must.Do(t, s.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
		if slices.Contains(cluster.GetFinalizers(), core.Finalizer) {
			return fmt.Errorf("the ManagedCluster has the finalizers %q", cluster.GetFinalizers())
		}
		return nil
	})
	var records v1alpha1.HubAccessList
	must.Do(t, s.List(t.Context(), &records))
	if len(records.Items) > 0 {
		t.Errorf("beside their driver, there are records: %+v", records.Items)
	}
	for _, call := range s.aws.Admin().Journal() {
		if call.AccessKeyID == s.key {
			t.Errorf("beside their driver, %s was called by %s", call.Operation, call.Caller)
		}
	}
}

// givesLater has a cluster that comes after the hand-over. Nobody but Tabard changes anything in AWS.
func (s *story) givesLater(t *testing.T) {
	t.Helper()
	suffix := suffixOf(t, arnB, "cluster2")
	s.aws.Role(spokeAccount, corehub.SpokeRoleName(suffix), trustAnyone, "")
	s.aws.Admin().ClearJournal()
	later := ocm.New(ocm.ManagedCluster, "", "cluster2")
	later.SetAnnotations(map[string]string{arnAnnotation: arnB, suffixAnnotation: suffix})
	s.Make(later)
	s.Accept("cluster2")
	s.awaitWithAccess(t, func() error { return hasAccess(s.Cluster, "cluster2", "True", core.ReasonAccessGiven) })
	awaitCondition(s.Hub, "cluster2", "HubAcceptedManagedCluster", "True")
	if changes := s.changesBy(s.key); !slices.Equal(changes, []string{"CreateRole", "CreateAccessEntry"}) {
		t.Errorf("for the later cluster, Tabard has called %q", changes)
	}
	for _, call := range s.aws.Admin().Journal() {
		if call.AccessKeyID != s.key && call.Operation != "AssumeRole" && call.Operation != "GetCallerIdentity" {
			t.Errorf("after the hand-over, %s was called by %s", call.Operation, call.Caller)
		}
	}
}

// leaves has the cluster leave whose access is not Tabard's. Its works go first: else Tabard looks for
// them again in half a minute.
func (s *story) leaves(t *testing.T, before inAWS) {
	t.Helper()
	for _, name := range []string{"greeting", "later"} {
		work := ocm.New(ocm.ManifestWork, "cluster1", name)
		s.Remove(work)
		s.awaitNone(work)
	}
	s.aws.Admin().ClearJournal()
	cluster := ocm.New(ocm.ManagedCluster, "", "cluster1")
	s.Remove(cluster)
	s.awaitNone(cluster)
	if changes := s.changesBy(s.key); len(changes) > 0 {
		t.Errorf("for a cluster that leaves, Tabard has called %q", changes)
	}
	if diff := cmp.Diff(before, s.inAWS(t)); diff != "" {
		t.Errorf("what is in AWS after the cluster has left (-before +after):\n%s", diff)
	}
}
