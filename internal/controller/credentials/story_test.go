package credentials_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// TestAServiceAccountGetsItsRole goes through the life of a request: the role is made as
// it should be and the ServiceAccount finds it, what others change is put back, and after
// the deletion nothing is left but what others have made.
func TestAServiceAccountGetsItsRole(t *testing.T) {
	f := newFixture(t)
	f.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "app", Annotations: map[string]string{"team": "yes"}}})
	request := f.request("bucket", "app")
	f.Make(request)
	f.awaitWake(request)
	grant := f.until(request, isReady)

	name := grant.Status.Role.Name
	if !strings.HasPrefix(name, infra+"-bucket-") {
		t.Errorf("the role is called %s, want %s-bucket- and a hash", name, infra)
	}
	role := f.role(name).Role
	if account := f.account("app"); account.Annotations[core.RoleAnnotation] != *role.Arn || account.Annotations["team"] != "yes" {
		t.Errorf("the ServiceAccount has the annotations %v, want the role %s beside what it had", account.Annotations, *role.Arn)
	}
	trust, _ := url.PathUnescape(*role.AssumeRolePolicyDocument)
	for _, want := range []string{"system:serviceaccount:" + f.namespace + ":app", "sts.amazonaws.com", ":sub", ":aud"} {
		if !strings.Contains(trust, want) {
			t.Errorf("the trust policy lacks %s: %s", want, trust)
		}
	}
	if *role.Path != "/tabard/" || role.PermissionsBoundary == nil || *role.PermissionsBoundary.PermissionsBoundaryArn != testPolicyARN {
		t.Errorf("path %s and boundary %v, want /tabard/ and %s", *role.Path, role.PermissionsBoundary, testPolicyARN)
	}
	tags := map[string]string{}
	for _, tag := range role.Tags {
		tags[*tag.Key] = *tag.Value
	}
	if want := f.namespace + "/bucket/" + string(request.UID); tags[core.OwnerTag] != want || tags[core.ClusterTag] != infra {
		t.Errorf("tags %v, want owner %s and cluster %s", tags, want, infra)
	}

	t.Run("an annotation that is taken away is back", func(t *testing.T) {
		f.drain()
		f.Merge(f.account("app"), `{"metadata":{"annotations":{"eks.amazonaws.com/role-arn":null}}}`)
		f.awaitWake(request)
		f.until(request, isReady)
		if got := f.account("app").Annotations[core.RoleAnnotation]; got != *role.Arn {
			t.Errorf("the annotation is %q, want %s", got, *role.Arn)
		}
	})
	t.Run("a role that is widened by hand is put back, and an event says what was changed", func(t *testing.T) {
		f.heard()
		f.aws.RolePolicy(testAccount, name, document("*", "*"))
		f.aws.Must(f.iam.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: &name, PolicyName: &grant.Status.Role.PolicyName, PolicyDocument: aws.String(document("*", "*"))}))
		woken, err := f.controller.ReadRoles(t.Context())
		if err != nil || len(woken) != 1 || woken[0] != keyOf(request) {
			t.Fatalf("reading all roles wakes %v (%v), want %v", woken, err, keyOf(request))
		}
		f.until(request, isReady)
		policies, err := f.iam.ListRolePolicies(t.Context(), &iam.ListRolePoliciesInput{RoleName: &name})
		if err != nil || len(policies.PolicyNames) != 1 {
			t.Errorf("the role has the policies %v (%v), want its own", policies.PolicyNames, err)
		}
		policy, err := f.iam.GetRolePolicy(t.Context(), &iam.GetRolePolicyInput{RoleName: &name, PolicyName: &grant.Status.Role.PolicyName})
		if text, _ := url.PathUnescape(*policy.PolicyDocument); err != nil || !strings.Contains(text, "s3:GetObject") {
			t.Errorf("the policy is %s (%v)", text, err)
		}
		if told := f.heard(); !strings.Contains(told, "RoleDrift") || !strings.Contains(told, grant.Status.Role.PolicyName) {
			t.Errorf("told %q, want a RoleDrift with the policy", told)
		}
	})
	t.Run("a deletion removes all and nothing else", func(t *testing.T) {
		f.aws.Role(testAccount, infra+"-other", awstest.Trust("arn:aws:iam::"+testAccount+":oidc-provider/issuer.example.com", "system:serviceaccount:x:y", "sts.amazonaws.com"), document("s3:*", "*"))
		f.Remove(request)
		f.until(request, isGone)
		if f.role(name) != nil || f.role(infra+"-other") == nil {
			t.Error("the request's role is still there, or another one is gone")
		}
		account := f.account("app")
		if account == nil || len(account.Annotations) != 1 || account.Annotations["team"] != "yes" || len(account.Labels) != 0 {
			t.Errorf("the ServiceAccount is %+v, want it as it was", account)
		}
	})
}
