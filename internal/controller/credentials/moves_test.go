package credentials_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// remembers wants the targets of a grant that is ready.
func remembers(names ...string) func(*v1alpha1.CredentialsGrant) error {
	return func(g *v1alpha1.CredentialsGrant) error {
		if err := isReady(g); err != nil {
			return err
		}
		var have []string
		for _, target := range g.Status.Targets {
			have = append(have, target.Kind+" "+target.Name)
		}
		if !slices.Equal(have, names) {
			return fmt.Errorf("the grant remembers %q, want %q", have, names)
		}
		return nil
	}
}

// TestARequestThatMovesIsServedAllTheTime: from one ServiceAccount to another, from there
// to a Secret and back. The former goes once the new one works.
func TestARequestThatMovesIsServedAllTheTime(t *testing.T) {
	f := newFixture(t)
	request := f.request("moves", "first")
	f.Make(request)
	role := f.until(request, isReady).Status.Role

	f.Merge(request, `{"spec":{"storage":{"serviceAccount":{"name":"second"}}}}`)
	f.until(request, func(g *v1alpha1.CredentialsGrant) error {
		if f.account("first") == nil && (f.account("second") == nil || f.account("second").Annotations[core.RoleAnnotation] != role.ARN) {
			t.Error("the former ServiceAccount is gone before the new one works")
		}
		return remembers("ServiceAccount second")(g)
	})
	if f.account("first") != nil {
		t.Error("the former ServiceAccount, which Tabard made, is still there")
	}
	if trust, _ := url.PathUnescape(*f.role(role.Name).Role.AssumeRolePolicyDocument); strings.Contains(trust, ":first") || !strings.Contains(trust, ":second") {
		t.Errorf("the role trusts %s, want the new ServiceAccount alone", trust)
	}

	f.Merge(request, `{"spec":{"storage":{"serviceAccount":null,"secret":{"namespace":"`+f.namespace+`","name":"creds"}},"serviceAccountNames":["web"]}}`)
	f.until(request, remembers("Secret creds"))
	if f.account("second") != nil || f.secret("creds") == nil {
		t.Error("the ServiceAccount is still there, or the Secret is not")
	}
	f.Merge(request, `{"spec":{"storage":{"secret":null,"serviceAccount":{"namespace":"`+f.namespace+`","name":"third"}}}}`)
	grant := f.until(request, remembers("ServiceAccount third"))
	if f.secret("creds") != nil || f.account("third") == nil || grant.Status.Role.ARN != role.ARN {
		t.Errorf("the Secret is still there, the ServiceAccount is not, or the role is %s and was %s", grant.Status.Role.ARN, role.ARN)
	}
}

// TestAResyncLooksAtTheRole that no reading of all roles has seen change.
func TestAResyncLooksAtTheRole(t *testing.T) {
	f := newFixture(t)
	request := f.request("resync", "app")
	f.Make(request)
	grant := f.until(request, isReady)
	f.until(request, isReady)
	name := grant.Status.Role.Name
	f.aws.Must(f.iam.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: &grant.Status.Role.PolicyName}))
	for range 3 {
		f.until(request, isReady)
	}
	policies := func() []string {
		return must.Get(f.iam.ListRolePolicies(t.Context(), &iam.ListRolePoliciesInput{RoleName: &name}))(t).PolicyNames
	}
	if len(policies()) != 0 {
		t.Fatal("the role was looked at without being asked: this test shows nothing")
	}
	f.drain()
	ask := func() {
		f.Merge(grant, `{"metadata":{"annotations":{"`+core.ResyncAnnotation+`":"`+time.Now().UTC().Format(time.RFC3339)+`"}}}`)
	}
	ask()
	f.awaitWake(request)
	f.until(request, func(g *v1alpha1.CredentialsGrant) error {
		if len(policies()) != 1 {
			return errors.New("the policy is not back")
		}
		return isReady(g)
	})
	f.until(request, isReady)
	f.aws.Admin().ClearJournal()
	for range 3 {
		f.until(request, isReady)
	}
	if made := f.calls(); len(made) > 0 {
		t.Errorf("one question is answered by %v again and again", made)
	}
}

// TestARequestMadeAnewIsAnotherRequest: what its predecessor of the same name had goes
// first.
func TestARequestMadeAnewIsAnotherRequest(t *testing.T) {
	f := newFixture(t)
	first := f.request("again", "first")
	f.Make(first)
	before := f.until(first, isReady)
	f.Merge(first, `{"metadata":{"finalizers":null}}`)
	f.Remove(first)
	second := f.request("again", "second")
	f.Make(second)
	grant := f.until(second, func(g *v1alpha1.CredentialsGrant) error {
		if g != nil && g.Spec.Request.UID != second.UID {
			return errors.New("the grant is still the predecessor's")
		}
		return isReady(g)
	})
	if f.account("first") != nil || f.account("second") == nil {
		t.Error("the predecessor's ServiceAccount is still there, or the new one's is not")
	}
	var owner string
	for _, tag := range f.role(grant.Status.Role.Name).Role.Tags {
		if *tag.Key == core.OwnerTag {
			owner = *tag.Value
		}
	}
	if want := core.Owner(grant.Spec.Request); owner != want || before.UID == grant.UID {
		t.Errorf("the role is tagged %s, want %s, and the grant is a new one", owner, want)
	}
}

// TestAProviderThatComesIsSeen without a touch of the request.
func TestAProviderThatComesIsSeen(t *testing.T) {
	f := newFixture(t)
	providers := must.Get(f.iam.ListOpenIDConnectProviders(t.Context(), &iam.ListOpenIDConnectProvidersInput{}))(t)
	arn := *providers.OpenIDConnectProviderList[0].Arn
	f.aws.Must(f.iam.DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn}))
	request := f.request("early", "app")
	f.Make(request)
	f.until(request, has(core.TypeAccepted, metav1.ConditionFalse, string(core.ReasonIssuerNotRegistered)))
	f.drain()
	f.aws.Provider(testAccount, testIssuer, "sts.amazonaws.com")
	issuer := &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	f.MergeStatus(issuer, `{"status":{"providers":[{"accountID":"`+testAccount+`","arn":"`+arn+`"}]}}`) // as its controller does
	f.awaitWake(request)
	f.until(request, isReady)
}

// TestTroubleWithAWSIsAConditionAndPasses: what an administrator has to mend is asked for
// rarely, what passes by itself is tried again.
func TestTroubleWithAWSIsAConditionAndPasses(t *testing.T) {
	for name, tt := range map[string]struct {
		operation, code string
		status          metav1.ConditionStatus
		reason          core.Reason
		fails           bool
	}{
		"the minter may not look":   {"GetRole", "AccessDenied", metav1.ConditionFalse, core.ReasonAccessDenied, false},
		"the minter may not create": {"CreateRole", "AccessDenied", metav1.ConditionFalse, core.ReasonAccessDenied, false},
		"AWS asks for fewer looks":  {"GetRole", "Throttling", metav1.ConditionUnknown, core.ReasonAWSUnavailable, false},
		"AWS asks for fewer writes": {"CreateRole", "Throttling", metav1.ConditionUnknown, core.ReasonAWSUnavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: tt.operation, Code: tt.code})
			request := f.request("troubled", "app")
			f.Make(request)
			f.Await(func() error {
				result, err := f.controller.Reconcile(t.Context(), keyOf(request))
				if got := err != nil; got != tt.fails {
					return fmt.Errorf("the pass fails: %v, wanted %v", got, tt.fails)
				}
				if !tt.fails && result.RequeueAfter < 15*time.Second {
					return fmt.Errorf("the next look is after %s", result.RequeueAfter)
				}
				grant := &v1alpha1.CredentialsGrant{}
				if err := f.Get(t.Context(), client.ObjectKey{Name: core.GrantName(f.namespace, "troubled")}, grant); err != nil {
					return client.IgnoreNotFound(err)
				}
				return has(core.TypeRolePresent, tt.status, string(tt.reason))(grant)
			})
			if f.account("app") != nil {
				t.Error("the ServiceAccount was made before its role")
			}
			f.aws.Admin().ClearFaults()
			f.until(request, isReady)
		})
	}
}

// TestARequestFromBeforeTheKindWasStrict: what is stored without a providerSpec is a
// condition, and can be deleted.
func TestARequestFromBeforeTheKindWasStrict(t *testing.T) {
	f := newFixture(t)
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	must.Do(t, f.Get(t.Context(), client.ObjectKey{Name: "credentialsrequests.cloudcredential.openshift.io"}, kind))
	strict := kind.DeepCopy()
	versions, _, _ := unstructured.NestedSlice(kind.Object, "spec", "versions")
	version, _ := versions[0].(map[string]any)
	unstructured.RemoveNestedField(version, "schema", "openAPIV3Schema", "properties", "spec", "x-kubernetes-validations")
	must.Do(t, unstructured.SetNestedSlice(kind.Object, versions, "spec", "versions"))
	must.Do(t, f.Update(t.Context(), kind))
	bare := func() *cloudv1.CredentialsRequest {
		request := f.request("bare", "app")
		request.Spec.ProviderSpec = nil
		return request
	}
	request := bare()
	f.Await(func() error { return f.Create(t.Context(), request) })
	f.Await(func() error {
		current := strict.DeepCopy()
		must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(strict), kind))
		current.SetResourceVersion(kind.GetResourceVersion())
		return f.Update(t.Context(), current)
	})
	f.Await(func() error {
		if err := f.Create(t.Context(), bare(), client.DryRunAll); !apierrors.IsInvalid(err) {
			return fmt.Errorf("the kind is not strict again: %w", err)
		}
		return nil
	})
	f.until(request, has(core.TypeAccepted, metav1.ConditionFalse, string(core.ReasonProviderSpecMissing)))
	f.Remove(request)
	f.until(request, isGone)
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(request), request); !apierrors.IsNotFound(err) {
		t.Errorf("the request is still there: %v", err)
	}
}
