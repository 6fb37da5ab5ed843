package bucket

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

const (
	hub   = "111111111111"
	teamA = "222222222222"
	teamB = "333333333333"
	home  = "eu-west-1"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// self is the controller in the hub's account.
func self() Self {
	return Self{Identity: identity.Identity{Base: identity.WebIdentity}, RoleARN: "arn:aws:iam::" + hub + ":role/controller"}
}

// selector gives the namespace team a role of an account.
func selector(name, account string, change ...func(*v1alpha1.IAMRoleSelector)) *v1alpha1.IAMRoleSelector {
	s := &v1alpha1.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), Generation: 1, ResourceVersion: "7"},
		Spec: &v1alpha1.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::" + account + ":role/" + name, NamespaceSelector: &v1alpha1.NamespaceSelector{Names: []string{"team"}},
		},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// indexOf is an index that has read the selectors.
func indexOf(selectors ...*v1alpha1.IAMRoleSelector) *roleselector.Index {
	index := roleselector.NewIndex(roleselector.Options{})
	for _, s := range selectors {
		index.Set(roleselector.Compile(s))
	}
	index.MarkSynced(roleselector.Everything)
	return index
}

func query(b *Bucket) roleselector.Query {
	return roleselector.Query{
		Namespace: b.Namespace, NamespaceKnown: true, Group: Kind.Group, Version: Kind.Version, Kind: Kind.Kind, Labels: b.Labels,
	}
}

// newBucket is a Bucket as somebody has just made it.
func newBucket(change ...func(*Bucket)) *Bucket {
	b := &Bucket{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "data", UID: "bucket-uid", Generation: 1},
		Spec:       Spec{Name: "team-data", Tagging: &Tagging{TagSet: []Tag{{Key: "cost", Value: "42"}}}},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func held(b *Bucket) { b.Finalizers = []string{Finalizer} }

func deleting(b *Bucket) { b.DeletionTimestamp = &metav1.Time{Time: now} }

// recorded is a Bucket whose status says that it is in an account, with a selector
// unless that is empty.
func recorded(account, selector, arn string) func(*Bucket) {
	return func(b *Bucket) {
		b.Status.ACKResourceMetadata = &ResourceMetadata{ARN: arn, OwnerAccountID: account, Region: home, Partition: "aws"}
		if selector != "" {
			b.Status.ACKResourceMetadata.IAMRoleSelector = &UsedSelector{
				SelectorName: selector, UID: types.UID(selector + "-uid"), Generation: 1, ResourceVersion: "7",
				RoleARN: "arn:aws:iam::" + account + ":role/" + selector, DecidedBy: "Unique",
			}
		}
	}
}

const made = "arn:aws:s3:::team-data"

// observed is what the shell would hand to Decide.
func observed(b *Bucket, index *roleselector.Index, region string, sight Sight, retain bool) Observed {
	return observedAt(now, b, index, region, sight, retain)
}

func observedAt(now time.Time, b *Bucket, index *roleselector.Index, region string, sight Sight, retain bool) Observed {
	situation := roleselector.Situation{
		Decision: index.Decide(query(b)), Recorded: b.Recorded(), Region: region, Retain: retain,
		Deleting: !b.DeletionTimestamp.IsZero(), Announced: kube.Announced(b.Status.Conditions, now, time.Hour),
	}
	if r := b.Recorded(); r.Selector != "" {
		situation.LastUsed = index.LastUsed(query(b), r)
	}
	subject := roleselector.Subject{ClusterID: "cluster", Service: Service, Kind: Kind.Kind, Namespace: b.Namespace, Name: b.Name}
	return Observed{
		Bucket: b, Standing: self().BySelectors(situation, subject, roleselector.Settings{}), Retain: retain, Sight: sight, Now: now,
	}
}

// conditionsText are conditions a line each, without their messages.
func conditionsText(conditions []metav1.Condition) (lines []string) {
	for _, c := range conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return lines
}

func conditionOf(t *testing.T, s Status, kind string) metav1.Condition {
	t.Helper()
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	t.Fatalf("there is no condition %s in %q", kind, conditionsText(s.Conditions))
	return metav1.Condition{}
}
