package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Rights is the ClusterRole of a controller, as it is generated in config/rbac.
func Rights(t testing.TB, controller string) *rbacv1.ClusterRole {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(Root(), "config", "rbac", controller+".yaml")))(t)
	role := &rbacv1.ClusterRole{}
	must.Do(t, yaml.UnmarshalStrict(text, role))
	return role
}

// Grant gives a user a role's rights in all of the cluster, and waits until the API
// server knows. A ServiceAccount's user is system:serviceaccount:NAMESPACE:NAME.
func Grant(t testing.TB, config *rest.Config, user string, role *rbacv1.ClusterRole) {
	t.Helper()
	cluster := must.Get(client.New(config, client.Options{}))(t)
	Create(t, cluster, role, Binding(user, role.Name))
	AwaitRights(t, config, user, "", role.Rules...)
}

// GrantIn gives a user rights in one namespace, and waits until the API server knows.
func GrantIn(t testing.TB, config *rest.Config, namespace, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := metav1.ObjectMeta{Namespace: namespace, Name: user + "-here"}
	Create(t, must.Get(client.New(config, client.Options{}))(t), &rbacv1.Role{ObjectMeta: name, Rules: rules}, &rbacv1.RoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
	AwaitRights(t, config, user, namespace, rules...)
}

// AwaitRights waits until the API server knows that a user has the rights of rules, in
// a namespace or, with none, in all of the cluster. It learns of roles and bindings by
// watches of its own: for a while it refuses what the rule that was just made permits.
func AwaitRights(t testing.TB, config *rest.Config, user, namespace string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	clients := must.Get(kubernetes.NewForConfig(config))(t)
	for _, rule := range rules {
		review := &authorizationv1.SubjectAccessReview{Spec: reviewOf(rule, namespace)}
		review.Spec.User = user
		Await(t, func() error {
			answer, err := clients.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			if err == nil && !answer.Status.Allowed {
				err = fmt.Errorf("%s may not do what this permits: %+v", user, rule)
			}
			return err
		})
	}
}

// reviewOf asks for the first thing that a rule permits.
func reviewOf(rule rbacv1.PolicyRule, namespace string) authorizationv1.SubjectAccessReviewSpec {
	if len(rule.NonResourceURLs) > 0 {
		return authorizationv1.SubjectAccessReviewSpec{
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: rule.Verbs[0], Path: rule.NonResourceURLs[0]},
		}
	}
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	what := &authorizationv1.ResourceAttributes{
		Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Namespace: namespace,
	}
	if len(rule.ResourceNames) > 0 {
		what.Name = rule.ResourceNames[0]
	}
	return authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: what}
}

// Binding gives a user the rights of a ClusterRole.
func Binding(user, role string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user + "-is-" + role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
}
