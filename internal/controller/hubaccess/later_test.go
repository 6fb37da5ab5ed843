package hubaccess_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// claiming is a patch that writes the annotations of a spoke, as an agent may do on its own
// cluster.
func (f *fixture) claiming(spoke string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{%q:%q,%q:%q}}}`, hub.ARNAnnotation, spoke, hub.SuffixAnnotation, f.suffix(spoke))
}

// TestAnnotationsThatComeAfterTheAcceptanceGiveNothing, across a restart, and keep nothing
// from the spoke that they name; after a denial they are looked at anew.
func TestAnnotationsThatComeAfterTheAcceptanceGiveNothing(t *testing.T) {
	f := newFixture(t)
	f.run(t, managed)
	mean := object("ManagedCluster", "", "mean", map[string]any{"hubAcceptsClient": true})
	f.Make(mean)
	f.says("mean", "True NoAnnotations")
	f.stop()
	f.stop = nil
	f.spokeRole(spokeARN("spoke-1"))
	f.aws.Admin().ClearJournal()
	f.Merge(mean, f.claiming(spokeARN("spoke-1")))
	f.run(t, managed)
	f.says("mean", "False AnnotationsChanged: the cluster had no AWS annotations when it was accepted")
	if calls := f.calls(); len(calls) != 0 {
		t.Errorf("AWS was called: %v", calls)
	}
	f.wantNone(spokeARN("spoke-1"))

	f.join("spoke", spokeARN("spoke-1"))
	f.says("spoke", "True AccessGiven")
	if _, entry := f.access(spokeARN("spoke-1")); entry == nil || *entry.AccessEntry.Username != "spoke" {
		t.Errorf("the entry is %+v", entry)
	}

	f.Merge(mean, `{"spec":{"hubAcceptsClient":false}}`)
	f.says("mean", "none")
	f.Merge(mean, `{"spec":{"hubAcceptsClient":true}}`)
	f.says("mean", "False SuffixInUse: the ManagedCluster spoke has the suffix")
	f.Merge(mean, f.claiming(spokeARN("spoke-2")))
	f.says("mean", "False AnnotationsChanged: the cluster had other AWS annotations than now")
	f.wantNone(spokeARN("spoke-2"))
	f.Remove(mean)
	f.isGone(mean)
	f.says("mean", "none")
}

// TestACompletedRecordStaysTheSame: a cluster whose suffix becomes free gets access without
// waiting for a timer, in the record that knows what it was accepted with.
func TestACompletedRecordStaysTheSame(t *testing.T) {
	f := newFixture(t)
	f.run(t, managed)
	first := f.join("first", spokeARN("spoke-1"))
	f.says("first", "True AccessGiven")
	f.join("second", strings.Replace(spokeARN("spoke-1"), "us-east-1", "eu-west-1", 1))
	waiting := f.says("second", "False SuffixInUse")
	f.Remove(first)
	record := f.says("second", "True AccessGiven")
	if record.UID != waiting.UID || record.Spec.AcceptedAnnotations != waiting.Spec.AcceptedAnnotations || !strings.HasPrefix(record.Spec.AcceptedAnnotations, "sha256:") || record.Spec.Access == nil {
		t.Errorf("the record was %s with %+v and is %s with %+v", waiting.UID, waiting.Spec, record.UID, record.Spec)
	}
	if _, entry := f.access(spokeARN("spoke-1")); *entry.AccessEntry.Username != "second" {
		t.Errorf("the entry is of %s", *entry.AccessEntry.Username)
	}
}

// TestTheKindTakesWhatARecordLacksAndNoMore by its rules in the API server.
func TestTheKindTakesWhatARecordLacksAndNoMore(t *testing.T) {
	f := newFixture(t)
	record := &v1alpha1.HubAccess{Spec: v1alpha1.HubAccessSpec{ClusterUID: "uid"}}
	record.Name = "cluster1"
	f.Make(record)
	refused := func(what string, change func(*v1alpha1.HubAccessSpec)) {
		t.Helper()
		wrong := record.DeepCopy()
		if change(&wrong.Spec); !apierrors.IsInvalid(f.Update(t.Context(), wrong)) {
			t.Errorf("%s is taken", what)
		}
	}
	taken := func(change func(*v1alpha1.HubAccessSpec)) {
		t.Helper()
		change(&record.Spec)
		must.Do(t, f.Update(t.Context(), record))
	}
	refused("what is no digest", func(s *v1alpha1.HubAccessSpec) { s.AcceptedAnnotations = "none" })
	refused("another cluster", func(s *v1alpha1.HubAccessSpec) { s.ClusterUID = "other" })
	taken(func(s *v1alpha1.HubAccessSpec) { s.AcceptedAnnotations = "None" })
	refused("another memory", func(s *v1alpha1.HubAccessSpec) { s.AcceptedAnnotations = "sha256:" + strings.Repeat("0", 64) })
	refused("a loss of memory", func(s *v1alpha1.HubAccessSpec) { s.AcceptedAnnotations = "" })
	taken(func(s *v1alpha1.HubAccessSpec) {
		suffix := f.suffix(spokeARN("spoke-1"))
		s.Access = &v1alpha1.ClusterAccess{HubARN: hubARN, ManagedClusterARN: spokeARN("spoke-1"), Suffix: suffix, RoleARN: "arn:aws:iam::111111111111:role/ocm-hub-" + suffix, Username: "cluster1"}
	})
	refused("another access", func(s *v1alpha1.HubAccessSpec) { s.Access.ManagedClusterARN = spokeARN("spoke-2") })
	refused("no access", func(s *v1alpha1.HubAccessSpec) { s.Access = nil })
	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(record), record))
	if record.Spec.ClusterUID != "uid" || record.Spec.AcceptedAnnotations != "None" || record.Spec.Access == nil {
		t.Errorf("the spec is %+v", record.Spec)
	}
}
