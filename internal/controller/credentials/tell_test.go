package credentials_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// TestAWarningIsForWhatSomebodyHasToSee: a request that is made, changed and deleted warns of
// nothing, and what others did to its role is told once. What stands in its way is a warning.
func TestAWarningIsForWhatSomebodyHasToSee(t *testing.T) {
	f := newFixture(t)
	request := f.request("quiet", "app")
	f.Make(request)
	role := f.until(request, isReady).Status.Role
	if told := f.heard(); strings.Contains(told, corev1.EventTypeWarning) || strings.Count(told, "Normal Ready ") != 1 {
		t.Errorf("a new request tells %q, want that it is ready and no warning", told)
	}

	f.Merge(request, `{"spec":{"providerSpec":{"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::team/b/*"}]}}}`)
	f.until(request, func(g *v1alpha1.CredentialsGrant) error {
		if g.Status.ObservedGeneration != request.Generation {
			return errors.New("the change is not yet looked at")
		}
		return isReady(g)
	})
	if told := f.heard(); strings.Contains(told, corev1.EventTypeWarning) {
		t.Errorf("a change tells %q, want no warning", told)
	}

	f.aws.Must(f.iam.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: &role.Name, PolicyName: &role.PolicyName}))
	if _, err := f.controller.ReadRoles(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.until(request, isReady)
	if told := f.heard(); strings.Count(told, corev1.EventTypeWarning) != 1 || !strings.Contains(told, "Warning RoleDrift ") {
		t.Errorf("a policy that is gone tells %q, want one warning, RoleDrift", told)
	}

	f.Remove(request)
	f.until(request, isGone)
	if told := f.heard(); strings.Contains(told, corev1.EventTypeWarning) {
		t.Errorf("a deletion tells %q, want no warning", told)
	}
}

// TestWhatStandsInTheWayIsTheWarning, and the role is not made before it is gone.
func TestWhatStandsInTheWayIsTheWarning(t *testing.T) {
	f := newFixture(t)
	theirs := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "app", Annotations: map[string]string{core.RoleAnnotation: "arn:aws:iam::" + testAccount + ":role/theirs"}}}
	f.Make(theirs)
	request := f.request("blocked", "app")
	f.Make(request)
	f.until(request, has(core.TypeReady, metav1.ConditionFalse, string(core.ReasonServiceAccountHasRole)))
	if told := f.heard(); strings.Count(told, corev1.EventTypeWarning) != 1 || !strings.Contains(told, "Warning ServiceAccountHasRole ") {
		t.Errorf("told %q, want one warning, ServiceAccountHasRole", told)
	}
	name := core.RoleName(core.Settings{}, infra, f.namespace, "blocked")
	if role := f.role(name); role != nil {
		t.Errorf("there is the role %s, which no workload could find", *role.Role.Arn)
	}
	f.drain()
	f.Merge(theirs, `{"metadata":{"annotations":{"`+core.RoleAnnotation+`":null}}}`)
	f.awaitWake(request)
	grant := f.until(request, isReady)
	if grant.Status.Role.Name != name || f.role(name) == nil {
		t.Errorf("the grant remembers the role %s, want %s", grant.Status.Role.Name, name)
	}
}
