package credentials_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestOneServiceAccountIsOneRequests: the second request is told, and has it when the
// first is gone.
func TestOneServiceAccountIsOneRequests(t *testing.T) {
	f := newFixture(t)
	first, second := f.request("first", "app"), f.request("second", "app")
	f.Make(first, second)
	f.until(first, isReady)
	f.until(second, has(core.TypeDelivered, metav1.ConditionFalse, string(core.ReasonTargetOfAnother)))
	f.drain()
	f.Remove(first)
	f.until(first, isGone)
	f.awaitWake(second)
	grant := f.until(second, isReady)
	if got := f.account("app").Annotations[core.RoleAnnotation]; got != grant.Status.Role.ARN {
		t.Errorf("the ServiceAccount has the role %q, want %s", got, grant.Status.Role.ARN)
	}
}

// TestANamespaceThatComesWakesItsRequests: it is said what is missing, and nobody has to
// touch the request.
func TestANamespaceThatComesWakesItsRequests(t *testing.T) {
	f := newFixture(t)
	later := f.namespace + "-later"
	request := f.request("wants-later", "app")
	request.Namespace, request.Spec.Storage.ServiceAccount.Namespace = ownNamespace, later
	f.Make(&v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DefaultBoundary}, Spec: v1alpha1.CredentialsBoundarySpec{
		AWS: &v1alpha1.AWSBoundary{PermissionsBoundary: testPolicyARN, Ceiling: document("s3:*", "*")},
	}})
	f.Make(request)
	f.until(request, has(core.TypeDelivered, metav1.ConditionFalse, string(core.ReasonTargetNamespaceMissing)))
	f.drain()
	f.MakeNamespaces(later)
	f.awaitWake(request)
	grant := f.until(request, isReady)
	if want := infra + "-wants-later"; grant.Status.Role.Name != want {
		t.Errorf("the role of a request of Tabard's own namespace is %s, want %s", grant.Status.Role.Name, want)
	}
}

// TestAForeignRoleIsLeftAlone: one that has the name of the request's is somebody else's.
func TestAForeignRoleIsLeftAlone(t *testing.T) {
	f := newFixture(t)
	name := core.RoleName(core.Settings{}, infra, f.namespace, "taken")
	f.aws.Role(testAccount, name, awstest.Trust("arn:aws:iam::"+testAccount+":oidc-provider/issuer.example.com", "system:serviceaccount:x:y", "sts.amazonaws.com"), document("s3:*", "*"))
	before := *f.role(name).Role.AssumeRolePolicyDocument
	request := f.request("taken", "app")
	f.Make(request)
	f.until(request, has(core.TypeRolePresent, metav1.ConditionFalse, string(core.ReasonRoleNotOurs)))
	f.Remove(request)
	f.until(request, isGone)
	if after := f.role(name); after == nil || *after.Role.AssumeRolePolicyDocument != before {
		t.Errorf("the foreign role is %v now", after)
	}
	if f.account("app") != nil {
		t.Error("a ServiceAccount was made for a role that is not the request's")
	}
}

// TestAGrantIsEnoughToTakeBack what was made, also when the request went without its
// finalizer.
func TestAGrantIsEnoughToTakeBack(t *testing.T) {
	f := newFixture(t)
	request := f.request("orphan", "app")
	f.Make(request)
	grant := f.until(request, isReady)
	f.Merge(request, `{"metadata":{"finalizers":null}}`)
	f.drain()
	f.Cluster.Remove(request)
	f.awaitWake(request)
	f.until(request, isGone)
	if f.role(grant.Status.Role.Name) != nil || f.account("app") != nil {
		t.Error("the role or the ServiceAccount that Tabard made is still there")
	}
}

// TestOnARequestOfTheCloudCredentialOperatorNothingIsWritten: neither on it nor beside it.
func TestOnARequestOfTheCloudCredentialOperatorNothingIsWritten(t *testing.T) {
	f := newFixture(t)
	f.platform.facts = platform.Facts{OpenShift: true, Cloud: platform.AWS, Infrastructure: infra, Mode: platform.Mint, Operator: platform.Operator{Live: true, Why: "its Deployment wants a replica"}}
	secret := f.request("secret", "app")
	secret.Spec.Storage, secret.Spec.SecretRef = nil, &cloudv1.ObjectReference{Namespace: f.namespace, Name: "creds"}
	account := f.request("account", "app")
	f.Make(secret, account)
	for _, request := range []*cloudv1.CredentialsRequest{secret, account} {
		var before cloudv1.CredentialsRequest
		must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(request), &before))
		for range 3 {
			f.until(request, isGone)
		}
		var after cloudv1.CredentialsRequest
		must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(request), &after))
		if before.ResourceVersion != after.ResourceVersion {
			t.Errorf("%s was written: %+v", request.Name, after)
		}
	}
	if err := f.Get(t.Context(), client.ObjectKey{Namespace: f.namespace, Name: "creds"}, &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Secret was made: %v", err)
	}
	if told := f.heard(); strings.Count(told, string(core.ReasonCCOWouldMint)) != 1 {
		t.Errorf("told %q, want once that the operator would mint", told)
	}
}

// TestARestartMakesNoWrite: what is fulfilled is seen to be so from one reading of all roles.
func TestARestartMakesNoWrite(t *testing.T) {
	f := newFixture(t)
	request := f.request("calm", "app")
	f.Make(request)
	f.until(request, isReady)
	f.until(request, isReady)
	before := f.versions(request)
	f.aws.Admin().ClearJournal()
	f.start(t)
	for range 3 {
		f.until(request, isReady)
	}
	if after := f.versions(request); after != before {
		t.Errorf("versions of request, grant and ServiceAccount were %s, and are %s", before, after)
	}
	if made := len(f.aws.Admin().Journal()); made > 6 {
		t.Errorf("a restart made %d calls of AWS, want those for the caller and the provider, and two each for the permissions boundary and all roles", made)
	}
}
