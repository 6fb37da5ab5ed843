package kube_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	typed "github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

func rolesWith(t *testing.T, settings roleselector.Settings, change ...func(*v1alpha1.IAMRoleSelectorSpec)) *kube.Roles {
	t.Helper()
	roles := kube.NewRolesAlone(kube.RolesOptions{
		Options:  kube.Options{Roles: roleselector.Options{NoSelector: roleselector.PolicyDeny}, Kinds: []schema.GroupVersionKind{bucketKind}},
		Settings: settings, Base: identity.Identity{Base: identity.WebIdentity, Region: "eu-central-1"}, Account: own, ClusterID: "c7",
	})
	made := selector("team", "111111111111", change...)
	made.UID, made.Generation = "u", 3
	roles.Index().Set(roleselector.Compile(made))
	roles.Index().MarkSynced(roleselector.Everything)
	roles.Objects().PutNamespace("prod", nil)
	return roles
}

// A status is kept by objects that are typed and by those that are not.
func TestARoleIsRecordedOnAnyObject(t *testing.T) {
	for name, object := range map[string]client.Object{
		"unstructured": bucket("prod", "logs"),
		"typed":        &typed.Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "logs"}},
	} {
		t.Run(name, func(t *testing.T) {
			roles := rolesWith(t, roleselector.Settings{})
			of := func(wish kube.Wish) kube.Role {
				t.Helper()
				role, err := roles.Of(bucketKind, object, wish)
				if err != nil {
					t.Fatal(err)
				}
				return role
			}
			role := of(kube.Wish{})
			if !role.MayCall() || role.IsRecorded() || role.Event == nil || role.Identity.RoleARN() != "arn:aws:iam::111111111111:role/team" {
				t.Fatalf("a new object: %+v", role)
			}
			if err := role.Report(object); err != nil {
				t.Fatal(err)
			}
			if err := role.Record(object); err != nil {
				t.Fatal(err)
			}
			if role = of(kube.Wish{}); !role.IsRecorded() || role.Event != nil || !role.Course.TrustNotFound {
				t.Errorf("once it is recorded: %+v", role)
			}
			if role = of(kube.Wish{Region: "eu-west-1"}); role.MayCall() || role.Course.Reason != roleselector.ReasonRegionMismatch {
				t.Errorf("wanted in another region: %+v", role.Course)
			}
			if err := role.Forsake(object); err != nil {
				t.Fatal(err)
			}
			if role = of(kube.Wish{Region: "eu-west-1"}); !role.MayCall() || role.IsRecorded() || role.Identity.Region != "eu-west-1" {
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
			object := bucket("prod", "logs")
			role, err := rolesWith(t, c.settings, c.change).Of(bucketKind, object, kube.Wish{})
			if err != nil || role.MayCall() || role.Identity != (identity.Identity{}) || !strings.Contains(role.Course.Message, c.want) {
				t.Errorf("got %+v, %v", role, err)
			}
			if err := role.Report(object); err != nil || len(conditionsOf(object)) != 4 {
				t.Errorf("the conditions are %v, %v", conditionsOf(object), err)
			}
		})
	}
	if _, err := kube.NewRoles(nil, kube.RolesOptions{Settings: roleselector.Settings{SessionLimit: -1}}); err == nil {
		t.Error("settings that do not go together are taken")
	}
}
