package credentials_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	coreplatform "github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/platform"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestANamespaceGoesWithItsRequests: deleted as a whole, by the cluster's own controller.
func TestANamespaceGoesWithItsRequests(t *testing.T) {
	f := newFixture(t)
	f.StartControllerManager(t)
	request := f.request("goes", "app")
	f.Make(request)
	grant := f.until(request, isReady)
	f.drain()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}
	f.Remove(namespace)
	f.awaitWake(request)
	f.until(request, isGone)
	if f.role(grant.Status.Role.Name) != nil {
		t.Error("the role is still there")
	}
	f.Await(func() error {
		err := f.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace)
		if err == nil {
			return errors.New("the namespace is still there")
		}
		return client.IgnoreNotFound(err)
	})
}

// looking is the platform as it is at the moment of a pass.
type looking struct{ *platform.Reader }

func (l looking) Facts(ctx context.Context) (coreplatform.Facts, error) { return l.Look(ctx) }

// openshift makes the cluster one of OpenShift on AWS, as far as the platform goes by,
// until the test ends.
func openshift(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.object("config.openshift.io/v1", "Infrastructure", map[string]any{}, map[string]any{
		"infrastructureName": infra, "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "HighlyAvailable",
		"platformStatus": map[string]any{"type": "AWS", "aws": map[string]any{"region": "us-west-2"}},
	})
	f.object("config.openshift.io/v1", "Authentication", map[string]any{"serviceAccountIssuer": testIssuer}, nil)
	f.object("operator.openshift.io/v1", "CloudCredential", map[string]any{"credentialsMode": "Manual"}, nil)
	config := rest.CopyConfig(f.Config)
	reader := must.Get(platform.New(config, must.Get(rest.HTTPClientFor(config))(t), coreplatform.Override{}))(t)
	f.options = func(o *credentials.Options) { o.Platform = looking{reader} }
	f.start(t)
	return f
}

// object makes the one object of a kind of OpenShift's.
func (f *fixture) object(version, kind string, spec, status map[string]any) {
	f.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "cluster"}, "spec": spec}}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	f.Make(o)
	f.Cleanup(func() { must.Do(f, f.Delete(context.WithoutCancel(f.Context()), o)) })
	if status != nil {
		o.Object["status"] = status
		must.Do(f, f.Status().Update(f.Context(), o))
	}
}

// operator is the Deployment of a Cloud Credential Operator.
func operator() *appsv1.Deployment {
	labels := map[string]string{"app": "cco"}
	replicas := int32(1)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-cloud-credential-operator", Name: "cloud-credential-operator"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "cco", Image: "cco"}}},
			},
		},
	}
}

// untouched makes passes that must write nothing.
func (f *fixture) untouched(request *cloudv1.CredentialsRequest) {
	f.Helper()
	var before, after cloudv1.CredentialsRequest
	must.Do(f, f.Get(f.Context(), client.ObjectKeyFromObject(request), &before))
	for range 3 {
		f.until(request, isGone)
	}
	must.Do(f, f.Get(f.Context(), client.ObjectKeyFromObject(request), &after))
	if before.ResourceVersion != after.ResourceVersion {
		f.Errorf("%s was written: %+v", request.Name, after)
	}
}

// TestWhoActsFollowsTheCluster through the life of a Cloud Credential Operator: its
// Deployment wants a replica and its mode is Manual, then Mint, then it is gone.
func TestWhoActsFollowsTheCluster(t *testing.T) {
	f := openshift(t)
	cco := operator()
	f.MakeNamespaces(cco.Namespace)
	f.Make(cco)
	account := f.request("account", "app")
	secret := f.forSecret("secret", "creds", "AWSProviderSpec", `"stsIAMRoleARN":"`+givenRole+`"`)
	azure := f.forSecret("azure", "azure", "AzureProviderSpec", `"azureClientID":"c"`)
	f.Make(account, secret, azure)

	grant := f.until(account, isReady)
	var beside cloudv1.CredentialsRequest
	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(account), &beside))
	if beside.Status.Provisioned || len(beside.Status.Conditions) > 0 || beside.Status.ProviderStatus != nil {
		t.Errorf("beside a live operator the request's status was written: %+v", beside.Status)
	}
	f.untouched(secret)
	f.untouched(azure)

	mode := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "cluster"}}}
	mode.SetGroupVersionKind(schema.GroupVersionKind{Group: "operator.openshift.io", Version: "v1", Kind: "CloudCredential"})
	f.Merge(mode, `{"spec":{"credentialsMode":"Mint"}}`)
	later := f.request("later", "later")
	f.Make(later)
	f.heard()
	f.untouched(later)
	if told := f.heard(); strings.Count(told, string(core.ReasonCCOWouldMint)) != 1 {
		t.Errorf("told %q, want once that the operator would mint", told)
	}
	f.until(account, has(core.TypeAccepted, metav1.ConditionFalse, string(core.ReasonCCOWouldMint)))
	if f.role(grant.Status.Role.Name) == nil || f.account("app").Annotations[core.RoleAnnotation] == "" {
		t.Error("a change of the mode took away what workloads use")
	}

	f.Merge(cco, `{"spec":{"replicas":0}}`)
	f.Remove(cco)
	for _, request := range []*cloudv1.CredentialsRequest{account, secret, later} {
		f.until(request, isReady)
	}
	f.Await(func() error {
		_, err := f.controller.Reconcile(t.Context(), keyOf(azure))
		return err
	})
	must.Do(t, f.Get(t.Context(), client.ObjectKeyFromObject(azure), azure))
	if c := azure.Status.Conditions; len(c) != 1 || c[0].Type != cloudv1.Ignored || azure.Status.Provisioned || f.secret("azure") != nil {
		t.Errorf("the request for another cloud has %+v, want it to be ignored", azure.Status)
	}
	f.grants(t, "account", "later", "secret")
}

// grants wants grants for these requests and no others.
func (f *fixture) grants(t *testing.T, names ...string) {
	t.Helper()
	var list v1alpha1.CredentialsGrantList
	must.Do(t, f.List(t.Context(), &list))
	var have []string
	for _, g := range list.Items {
		have = append(have, g.Spec.Request.Name)
	}
	if strings.Join(have, " ") != strings.Join(names, " ") {
		t.Errorf("there are grants for %q, want %q", have, names)
	}
}
