package kube

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
)

// rolesWith are roles that follow no cluster, with a selector named team.
func rolesWith(settings roleselector.Settings, change func(*v1alpha1.IAMRoleSelectorSpec)) *Roles {
	quiet := func(string, ...any) {}
	options := RolesOptions{
		Options:  Options{Roles: roleselector.Options{NoSelector: roleselector.PolicyDeny}, Kinds: []schema.GroupVersionKind{bucketKind}},
		Settings: settings, Base: identity.Identity{Base: identity.WebIdentity, Region: "eu-central-1"}, Account: "999999999999", ClusterID: "c7",
	}
	roles := newRoles(newSelectors(options.Options, logs{quiet, quiet}), options)
	roles.Index().Set(everything("team", 3, change))
	roles.Index().MarkSynced(roleselector.Everything)
	roles.Objects().PutNamespace("prod", nil)
	return roles
}

func inNamespaces(names ...string) func(*v1alpha1.IAMRoleSelectorSpec) {
	return func(s *v1alpha1.IAMRoleSelectorSpec) { s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: names} }
}

// typedBucket is a kind whose status is like that of ACK's.
type typedBucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status status `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (b *typedBucket) DeepCopyObject() runtime.Object {
	twin := *b
	b.ObjectMeta.DeepCopyInto(&twin.ObjectMeta)
	twin.Status.Conditions = slices.Clone(b.Status.Conditions)
	return &twin
}

func untypedBucket() *unstructured.Unstructured {
	bucket := &unstructured.Unstructured{}
	bucket.SetNamespace("prod")
	bucket.SetName("logs")
	return bucket
}

// A status is kept by objects that are typed and by those that are not.
func TestARoleIsRecordedOnAnyObject(t *testing.T) {
	for name, object := range map[string]client.Object{
		"unstructured": untypedBucket(),
		"typed":        &typedBucket{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "logs"}},
	} {
		t.Run(name, func(t *testing.T) {
			roles := rolesWith(roleselector.Settings{}, nil)
			of := func(wish Wish) Role {
				t.Helper()
				role, err := roles.Of(bucketKind, object, wish)
				if err != nil {
					t.Fatal(err)
				}
				return role
			}
			role := of(Wish{})
			if !role.MayCall() || role.IsRecorded() || role.Event == nil || role.Identity.RoleARN() != "arn:aws:iam::111111111111:role/team" {
				t.Fatalf("a new object: %+v", role)
			}
			if err := role.Report(object); err != nil {
				t.Fatal(err)
			}
			if err := role.Record(object); err != nil {
				t.Fatal(err)
			}
			if role = of(Wish{}); !role.IsRecorded() || role.Event != nil || !role.Course.TrustNotFound {
				t.Errorf("once it is recorded: %+v", role)
			}
			if role = of(Wish{Region: "eu-west-1"}); role.MayCall() || role.Course.Reason != roleselector.ReasonRegionMismatch {
				t.Errorf("wanted in another region: %+v", role.Course)
			}
			if err := role.Forsake(object); err != nil {
				t.Fatal(err)
			}
			if role = of(Wish{Region: "eu-west-1"}); !role.MayCall() || role.IsRecorded() || role.Identity.Region != "eu-west-1" {
				t.Errorf("once it is forsaken: %+v", role)
			}
			if err := role.Guard(); err != nil {
				t.Errorf("nothing has changed, and the guard says %v", err)
			}
			if roles.Gone(bucketKind, client.ObjectKeyFromObject(object)); role.Guard() == nil {
				t.Error("the object is gone, and the guard lets calls through")
			}
		})
	}
}

// Whoever cannot be become may not be called as: the identity is nobody's then.
func TestARoleThatCannotBeMadeBlocks(t *testing.T) {
	tagged := func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.AssumeRole = &v1alpha1.AssumeRole{SessionName: &v1alpha1.Text{Template: "ack-%NAMESPACE_LABEL(team)%"}}
	}
	for name, c := range map[string]struct {
		settings roleselector.Settings
		change   func(*v1alpha1.IAMRoleSelectorSpec)
		want     string
	}{
		"a role that is not allowed":  {roleselector.Settings{AllowedRoles: []string{"arn:aws:iam::222222222222:role/*"}}, inNamespaces("prod"), "--allowed-role-arn-patterns"},
		"a label that anybody writes": {roleselector.Settings{}, tagged, "spec.assumeRole.sessionName"},
		"another namespace's role":    {roleselector.Settings{}, inNamespaces("test"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			object := untypedBucket()
			role, err := rolesWith(c.settings, c.change).Of(bucketKind, object, Wish{})
			if err != nil || role.MayCall() || role.Identity != (identity.Identity{}) || !strings.Contains(role.Course.Message, c.want) {
				t.Errorf("got %+v, %v", role, err)
			}
			if err := role.Report(object); err != nil {
				t.Fatal(err)
			}
			if now, err := statusOf(object); err != nil || len(now.Conditions) != 4 {
				t.Errorf("the conditions are %v, %v", now.Conditions, err)
			}
		})
	}
	if _, err := NewRoles(nil, RolesOptions{Settings: roleselector.Settings{SessionLimit: -1}}); err == nil {
		t.Error("settings that do not go together are taken")
	}
}

// Room in a selector's sessions is no change of a decision, and wakes who waits for it.
func TestWhoWaitsForRoomIsWoken(t *testing.T) {
	roles := rolesWith(roleselector.Settings{SessionLimit: 1}, func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.AssumeRole = &v1alpha1.AssumeRole{SessionName: &v1alpha1.Text{Template: "ack-%RESOURCE_NAME%"}}
	})
	woken := newLine()
	roles.sleepers.join(bucketKind, woken)
	of := func(name string) roleselector.Reason {
		t.Helper()
		object := untypedBucket()
		object.SetName(name)
		role, err := roles.Of(bucketKind, object, Wish{})
		if err != nil {
			t.Fatal(err)
		}
		return role.Course.Reason
	}
	of("first")
	if got := of("second"); got != roleselector.ReasonTooManySessions {
		t.Fatalf("the second has the reason %s, want %s", got, roleselector.ReasonTooManySessions)
	}
	if o, any := woken.next(); any {
		t.Fatalf("%s is woken, want nobody while there is no room", o.Name)
	}
	roles.Gone(bucketKind, client.ObjectKey{Namespace: "prod", Name: "first"})
	if o, _ := woken.next(); o.Name != "second" {
		t.Fatalf("%q is woken, want the second", o.Name)
	}
	if got := of("second"); got == roleselector.ReasonTooManySessions {
		t.Error("the second is refused again, want it to have the room")
	}
}
