package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// roleID is the unique ID of the cluster's role, which is another one once the role is made anew; empty
// without a role.
func (s *story) roleID(t *testing.T) string {
	t.Helper()
	out, err := s.aws.IAM(hubAccount).GetRole(t.Context(), &iam.GetRoleInput{RoleName: new("ocm-hub-" + suffixA)})
	if err != nil {
		if !strings.Contains(err.Error(), "NoSuchEntity") {
			t.Error(err)
		}
		return ""
	}
	return *out.Role.RoleId
}

// awaitNone waits until an object is gone.
func (s *story) awaitNone(object client.Object) {
	s.Helper()
	s.Await(func() error {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			return fmt.Errorf("of %s the hub answers %s, want NotFound", object.GetName(), fmt.Sprint(err))
		}
		return nil
	})
}

// wantNoCall says that nothing of AWS was called since the journal was cleared but by the agents,
// which become the cluster's role, and for the hub, which asks whose a token is.
func (s *story) wantNoCall(t *testing.T) {
	t.Helper()
	for _, call := range s.aws.Admin().Journal() {
		if call.Operation != "AssumeRole" && call.Operation != "GetCallerIdentity" || call.AccessKeyID == s.key {
			t.Errorf("%s was called by %s", call.Operation, call.Caller)
		}
	}
}

// TestOCMTabardGivesADeniedClusterItsAccessAnew has a cluster that is denied and accepted again. Its
// role and its entry are made anew, and its agents go on without joining anew, which they could not:
// who has not joined is not let in any more.
//
// Then managed IAM is switched off. The role, its entry and the agents' access stay, and are there after
// the ManagedCluster is deleted, without a call to AWS. Last, Tabard's controller runs where there is
// nothing of AWS at all.
func TestOCMTabardGivesADeniedClusterItsAccessAnew(t *testing.T) {
	s := startStory(t)
	s.join(t)
	first, last := s.roleID(t), s.mint(t)
	must.Do(t, readCluster(s.Cluster, last, "cluster1"))
	s.Remove(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ocm.OperatorNamespace, Name: "agent-registration-bootstrap"}})

	deny(t, s.Cluster, "cluster1")
	s.awaitNoEntry()
	s.awaitNone(&v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}})
	if id := s.roleID(t); id != "" {
		t.Errorf("the role of the denied cluster is there: %s", id)
	}
	awaitUnauthorized(t, s.Cluster, func() string { return last })
	awaitCondition(s.Hub, "cluster1", "HubAcceptedManagedCluster", "False")

	starts := s.spoke.Starts("klusterlet-registration-agent")
	s.join(t)
	second := s.roleID(t)
	if entries := s.entries(); second == "" || second == first || len(entries) != 1 || entries[0].PrincipalID != second || entries[0].Stale {
		t.Errorf("the role is %s, was %s, and the entries are %+v", second, first, entries)
	}
	wantArrives(t, s.Cluster, s.spoke.Cluster, "cluster1")
	awaitCondition(s.Hub, "cluster1", "ManagedClusterConditionAvailable", "True")
	if got := s.spoke.Starts("klusterlet-registration-agent"); got != starts {
		t.Errorf("the registration agent was started %d times, and %d times before it was accepted again", got, starts)
	}
	s.switchOff(t, second)
}

// switchOff is the second part of the story.
func (s *story) switchOff(t *testing.T, role string) {
	t.Helper()
	s.stop()
	s.aws.Admin().ClearJournal()
	s.run(t, corehub.Off)
	awaitAccess(t, s.Cluster, "Unknown", core.ReasonManagedIAMDisabled)
	must.Do(t, readCluster(s.Cluster, s.mint(t), "cluster1"))
	cluster := ocm.New(ocm.ManagedCluster, "", "cluster1")
	s.Remove(cluster)
	s.awaitNone(cluster)
	s.awaitNone(ocm.New(ocm.ManifestWork, "cluster1", "greeting"))
	s.wantNoCall(t)
	if entries := s.entries(); s.roleID(t) != role || len(entries) != 1 || entries[0].PrincipalID != role {
		t.Errorf("the role is %s, was %s, and the entries are %+v", s.roleID(t), role, entries)
	}

	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	s.run(t, corehub.Off)
	access := &v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	s.Remove(access)
	s.awaitNone(access) // the controller lets it go
	if entries := s.entries(); s.roleID(t) != role || len(entries) != 1 {
		t.Errorf("the role is %s, was %s, and the entries are %+v", s.roleID(t), role, entries)
	}
}
