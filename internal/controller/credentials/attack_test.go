package credentials_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestARoleThatWaitsForItsDeletionTrustsNobody: somebody attached a policy to it, and the
// controller only reports that. Until a person takes the policy off, the role stays, and a
// token of its ServiceAccount opens it no more.
func TestARoleThatWaitsForItsDeletionTrustsNobody(t *testing.T) {
	issuer := awstest.StartIssuer(t)
	f := newFixtureBy(t, issuer.Issuer(), issuer.Roots())
	f.options = func(o *credentials.Options) { o.Settings.Drift = core.DriftReport }
	f.start(t)
	request := f.request("leaves", "app")
	f.Make(request)
	role := f.until(request, isReady).Status.Role
	policy := *must.Get(f.iam.CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("theirs"), PolicyDocument: aws.String(document("s3:*", "*"))}))(t).Policy.Arn
	f.aws.Must(f.iam.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &role.Name, PolicyArn: &policy}))
	become := func() string {
		token := issuer.Sign(t, 0, issuer.Claims("system:serviceaccount:"+f.namespace+":app", "sts.amazonaws.com"))
		return awstest.Refusal(sts.NewFromConfig(f.aws.As(aws.Credentials{})).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: &role.ARN, RoleSessionName: aws.String("app"), WebIdentityToken: &token,
		}))
	}
	if refused := become(); refused != "" {
		t.Fatalf("the ServiceAccount's token is refused before the deletion (%s): this test shows nothing", refused)
	}
	f.Remove(request)
	f.until(request, has(core.TypeDeletionBlocked, metav1.ConditionTrue, string(core.ReasonForeignPolicies)))
	if f.role(role.Name) == nil {
		t.Fatal("the role is gone, with the policy that somebody attached")
	}
	if refused := become(); !strings.Contains(refused, "AccessDenied") {
		t.Errorf("a token of the ServiceAccount gets %q, want AccessDenied", refused)
	}
	f.aws.Must(f.iam.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: &role.Name, PolicyArn: &policy}))
	f.until(request, isGone)
	if f.role(role.Name) != nil {
		t.Error("the role is still there")
	}
}

// ours are the names of the roles of the cluster, sorted.
func (f *fixture) ours() (names []string) {
	f.Helper()
	for _, role := range must.Get(f.iam.ListRoles(f.Context(), &iam.ListRolesInput{PathPrefix: aws.String("/tabard/")}))(f).Roles {
		names = append(names, *role.RoleName)
	}
	slices.Sort(names)
	return names
}

// TestARequestThatComesAndGoesFiftyTimes leaves one role while it is there, and none when
// it is not; some of them go without their finalizer.
func TestARequestThatComesAndGoesFiftyTimes(t *testing.T) {
	f := newFixture(t)
	var request *cloudv1.CredentialsRequest
	for i := range 50 {
		request = f.request("flaps", fmt.Sprintf("app-%d", i%3))
		f.Make(request)
		for range i % 4 {
			_, _ = f.controller.Reconcile(t.Context(), keyOf(request))
		}
		if i == 49 {
			break
		}
		must.Do(t, f.Delete(t.Context(), request))
		f.Await(func() error {
			if i%2 == 0 {
				_ = f.Patch(t.Context(), request.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
			} else {
				_, _ = f.controller.Reconcile(t.Context(), keyOf(request))
			}
			if err := f.Get(t.Context(), client.ObjectKeyFromObject(request), &cloudv1.CredentialsRequest{}); client.IgnoreNotFound(err) != nil || err == nil {
				return fmt.Errorf("the request is still there: %w", err)
			}
			return nil
		})
	}
	f.until(request, func(g *v1alpha1.CredentialsGrant) error {
		if g != nil && g.Spec.Request.UID != request.UID {
			return errors.New("the grant is a predecessor's")
		}
		return isReady(g)
	})
	if names := f.ours(); len(names) != 1 {
		t.Errorf("there are the roles %q, want one", names)
	}
	if f.account("app-1") == nil || f.account("app-0") != nil || f.account("app-2") != nil {
		t.Error("a predecessor's ServiceAccount is still there, or the last one's is not")
	}
	f.Remove(request)
	f.until(request, isGone)
	if names := f.ours(); len(names) != 0 || f.account("app-1") != nil {
		t.Errorf("there are the roles %q, or the ServiceAccount, want none", names)
	}
}

// TestNamesThatAreAlikeWhereTheyAreCut lead to two roles.
func TestNamesThatAreAlikeWhereTheyAreCut(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("n", 150)
	first, second := f.request(long+"-a", "first"), f.request(long+"-b", "second")
	f.Make(first, second)
	a, b := f.until(first, isReady), f.until(second, isReady)
	if a.Status.Role.Name == b.Status.Role.Name || a.Name == b.Name || len(f.ours()) != 2 {
		t.Errorf("the roles are %s and %s, in AWS %q", a.Status.Role.Name, b.Status.Role.Name, f.ours())
	}
	f.Remove(first)
	f.until(first, isGone)
	f.until(second, isReady)
	if f.role(b.Status.Role.Name) == nil || f.account("second") == nil || f.account("first") != nil {
		t.Error("the deletion of one took from the other, or left its own")
	}
}

// TestAnAnnotationReachesNoOtherNamespace than the boundary lets the field reach.
func TestAnAnnotationReachesNoOtherNamespace(t *testing.T) {
	f := newFixture(t)
	theirs := f.NewNamespace()
	victim := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: theirs, Name: "app"}}
	f.Make(victim)
	request := f.request("reaches", "app")
	request.Spec.Storage, request.Spec.SecretRef = nil, &cloudv1.ObjectReference{Namespace: f.namespace, Name: "creds"}
	request.Annotations = map[string]string{core.ServiceAccountAnnotation: theirs + "/app"}
	f.Make(request)
	f.until(request, has(core.TypeAccepted, metav1.ConditionFalse, string(core.ReasonTargetNotAllowed)))
	var after corev1.ServiceAccount
	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(victim), &after))
	if after.ResourceVersion != victim.ResourceVersion || len(f.ours()) != 0 || f.secret("creds") != nil {
		t.Errorf("the ServiceAccount is %+v, the roles are %q, or a Secret was made", after, f.ours())
	}
}

// TestWhatSaysThatItIsTheRequestsIsNot: whoever may write a ServiceAccount or a Secret may
// write the annotation and the label by which Tabard knows its own. Nothing goes by them
// that Tabard did not make.
func TestWhatSaysThatItIsTheRequestsIsNot(t *testing.T) {
	f := newFixture(t)
	claims := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: f.namespace, Name: name, Labels: map[string]string{core.ManagedLabel: "true"},
			Annotations: map[string]string{core.RequestAnnotation: f.namespace + "/owner", core.RoleAnnotation: "arn:aws:iam::" + testAccount + ":role/theirs"},
		}
	}
	bystander, secret := &corev1.ServiceAccount{ObjectMeta: claims("bystander")}, &corev1.Secret{ObjectMeta: claims("bystander"), Data: map[string][]byte{"password": []byte("x")}}
	f.Make(&corev1.ServiceAccount{ObjectMeta: claims("app")}, bystander, secret)
	request := f.request("owner", "app")
	f.Make(request)
	grant := f.until(request, isReady)
	if got := f.account("app").Annotations[core.RoleAnnotation]; got != grant.Status.Role.ARN {
		t.Errorf("the ServiceAccount has the role %s, want %s", got, grant.Status.Role.ARN)
	}
	f.Remove(request)
	f.until(request, isGone)
	if f.account("app") == nil {
		t.Error("a ServiceAccount that Tabard did not make was deleted for its annotation")
	}
	if f.account("bystander").ResourceVersion != bystander.ResourceVersion || f.secret("bystander").ResourceVersion != secret.ResourceVersion {
		t.Error("an object that the request never named was written for its annotation")
	}
}

// TestWhatIsDeletedByHandComesBackOrGoesWhole: a grant, and the finalizer of a request that
// is being deleted.
func TestWhatIsDeletedByHandComesBackOrGoesWhole(t *testing.T) {
	f := newFixture(t)
	request := f.request("hand", "app")
	f.Make(request)
	before := f.until(request, isReady)
	must.Do(t, f.Delete(t.Context(), before.DeepCopy()))
	f.until(request, func(g *v1alpha1.CredentialsGrant) error {
		if g != nil && g.UID == before.UID {
			return errors.New("the grant is the one that was deleted")
		}
		return isReady(g)
	})
	if names := f.ours(); len(names) != 1 || f.account("app").Annotations[core.RoleAnnotation] == "" {
		t.Errorf("after the grant was deleted there are the roles %q, or the ServiceAccount has none", names)
	}
	must.Do(t, f.Delete(t.Context(), request))
	f.Merge(request, `{"metadata":{"finalizers":null}}`)
	f.until(request, isGone)
	if names := f.ours(); len(names) != 0 || f.account("app") != nil {
		t.Errorf("the roles %q or the ServiceAccount are still there", names)
	}
}

// writes are the calls of AWS that change a role, by their names.
func (f *fixture) writes() map[string]int {
	out := map[string]int{}
	for _, operation := range f.calls() {
		if !strings.HasPrefix(operation, "Get") && !strings.HasPrefix(operation, "List") {
			out[operation]++
		}
	}
	return out
}

// TestOneWhoEditsAllTheTimeCostsABoundedNumberOfCalls: none for what changes nothing, one
// for each change of a statement.
func TestOneWhoEditsAllTheTimeCostsABoundedNumberOfCalls(t *testing.T) {
	const edits = 40
	f := newFixture(t)
	request := f.request("edited", "app")
	f.Make(request)
	f.until(request, isReady)
	f.until(request, isReady)
	edit := func(change func(i int) string) {
		f.aws.Admin().ClearJournal()
		for i := range edits {
			f.Merge(request, change(i))
			_, _ = f.controller.Reconcile(t.Context(), keyOf(request))
		}
	}
	edit(func(i int) string { return fmt.Sprintf(`{"metadata":{"labels":{"beat":"%d"}}}`, i) })
	if made := f.calls(); len(made) > 0 {
		t.Errorf("edits that change nothing cost the calls %q", made)
	}
	edit(func(i int) string {
		return fmt.Sprintf(`{"spec":{"providerSpec":{"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::team/%d/*"}]}}}`, i)
	})
	f.until(request, isReady)
	made := f.writes()
	if made["PutRolePolicy"] == 0 || made["PutRolePolicy"] > edits || len(made) != 1 {
		t.Errorf("%d edits cost %v, want up to as many PutRolePolicy", edits, made)
	}
}
