// Package kube tests awsauth/kube at a real API server, which is no requirement of that
// module.
package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	coreV1  = schema.GroupVersion{Version: "v1"}
	secrets = coreV1.WithResource("secrets")
	maps    = coreV1.WithResource("configmaps")
	rbac    = schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

var shared = testkit.SharedCluster(testkit.ClusterOptions{Issuer: "https://issuer.example"})

// api writes objects as an administrator, those with a namespace into the test's own.
type api struct {
	t         *testing.T
	client    dynamic.Interface
	config    *rest.Config
	namespace string
}

func newAPI(t *testing.T) *api {
	t.Helper()
	c := shared(t)
	return &api{t: t, client: c.Dynamic, config: c.Config, namespace: c.NewNamespace()}
}

// ref is a Secret by its name.
func (a *api) ref(name string) identity.SecretRef {
	return identity.SecretRef{Namespace: a.namespace, Name: name}
}

func (a *api) apply(resource schema.GroupVersionResource, kind string, object metav1.Object) {
	a.t.Helper()
	content := must.Get(runtime.DefaultUnstructuredConverter.ToUnstructured(object))(a.t)
	made := &unstructured.Unstructured{Object: content}
	made.SetAPIVersion(resource.GroupVersion().String())
	made.SetKind(kind)
	must.Get(a.client.Resource(resource).Namespace(a.namespace).Apply(a.t.Context(), object.GetName(), made, metav1.ApplyOptions{FieldManager: "test", Force: true}))(a.t)
}

func (a *api) secret(name, value string) {
	a.t.Helper()
	a.apply(secrets, "Secret", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name}, Data: map[string][]byte{"credentials": []byte(value)},
	})
}

func (a *api) remove(resource schema.GroupVersionResource, name string) {
	a.t.Helper()
	must.Do(a.t, a.client.Resource(resource).Namespace(a.namespace).Delete(a.t.Context(), name, metav1.DeleteOptions{}))
}

// awaited is the next change, which must come.
func awaited(t *testing.T, changes <-chan kube.Reference) kube.Reference {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	select {
	case change := <-changes:
		return change
	case <-ctx.Done():
		t.Fatal("no change was told")
	}
	return kube.Reference{}
}

// reading is a Cluster whose changes are told in the channel.
func reading(t *testing.T, client dynamic.Interface) (*kube.Cluster, chan kube.Reference) {
	changes := make(chan kube.Reference, 100)
	return kube.New(t.Context(), kube.Options{Client: client, Changed: func(r kube.Reference) { changes <- r }}), changes
}

func TestChangesOfWhatWasAskedForAreTold(t *testing.T) {
	a := newAPI(t)
	c, changes := reading(t, a.client)
	value := func() string {
		t.Helper()
		got, err := c.Secret(t.Context(), a.ref("aws"))
		switch {
		case errors.Is(err, awsauth.ErrNotFound):
			return "absent"
		case err != nil:
			t.Fatal(err)
		}
		return string(got.Data["credentials"])
	}
	told := kube.Reference{Resource: "secrets", Namespace: a.namespace, Name: "aws"}
	step := func(want string) {
		t.Helper()
		if got := awaited(t, changes); got != told {
			t.Errorf("the change of %+v was told, want %+v", got, told)
		}
		if got := value(); got != want {
			t.Errorf("after the change it is %q, want %q", got, want)
		}
	}
	if got := value(); got != "absent" {
		t.Errorf("a Secret that does not exist is %q", got)
	}
	a.secret("aws", "one")
	step("one")
	before := must.Get(c.Secret(t.Context(), a.ref("aws")))(t)
	a.secret("other", "one")
	a.secret("aws", "two")
	step("two")
	after, err := c.Secret(t.Context(), a.ref("aws"))
	if err != nil || after.Version == before.Version {
		t.Errorf("the version is %q before and %q after: %v", before.Version, after.Version, err)
	}
	a.remove(secrets, "aws")
	step("absent")
	a.secret("aws", "two")
	step("two")
	again, err := c.Secret(t.Context(), a.ref("aws"))
	if err != nil || again.Version == after.Version {
		t.Errorf("a Secret made anew has the version %q: %v", again.Version, err)
	}
	if len(changes) > 0 {
		t.Errorf("one more change was told: %+v", <-changes)
	}
}

func TestBundleIsOneKeyOfAConfigMap(t *testing.T) {
	a := newAPI(t)
	c, changes := reading(t, a.client)
	bundle := identity.BundleRef{Namespace: a.namespace, Name: "ca", Key: "ca-bundle.pem"}
	if _, err := c.Bundle(t.Context(), bundle); !errors.Is(err, awsauth.ErrNotFound) {
		t.Errorf("without a ConfigMap: %v", err)
	}
	put := func(data map[string]string) {
		t.Helper()
		a.apply(maps, "ConfigMap", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: "ca"}, Data: data})
		awaited(t, changes)
	}
	put(map[string]string{"other": "x"})
	if _, err := c.Bundle(t.Context(), bundle); !errors.Is(err, awsauth.ErrNotFound) {
		t.Errorf("without the key: %v", err)
	}
	for _, content := range []string{"", "PEM"} {
		put(map[string]string{"ca-bundle.pem": content, "other": "x"})
		if got, err := c.Bundle(t.Context(), bundle); err != nil || string(got) != content {
			t.Errorf("the bundle %q is read as %q: %v", content, got, err)
		}
	}
}

// as is a client with the rights of a rule in the namespace.
func (a *api) as(name string, rule rbacv1.PolicyRule) dynamic.Interface {
	a.t.Helper()
	meta := metav1.ObjectMeta{Namespace: a.namespace, Name: name}
	a.apply(rbac.WithResource("roles"), "Role", &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{rule}})
	a.apply(rbac.WithResource("rolebindings"), "RoleBinding", &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbac.Group, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbac.Group, Name: name}},
	})
	config := rest.CopyConfig(a.config)
	config.Impersonate.UserName = name
	client := must.Get(dynamic.NewForConfig(config))(a.t)
	return client
}

func TestRightsToOneObjectAreEnough(t *testing.T) {
	a := newAPI(t)
	a.secret("aws", "one")
	rule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"aws"}}
	rule.Verbs = []string{"get", "list", "watch"}
	c, changes := reading(t, a.as("follower", rule))
	rule.Verbs = []string{"get"}
	poor, _ := reading(t, a.as("reader", rule))
	read := func(c *kube.Cluster) string {
		t.Helper()
		got := must.Get(c.Secret(t.Context(), a.ref("aws")))(t)
		return string(got.Data["credentials"])
	}
	if one, two := read(c), read(poor); one != "one" || two != "one" {
		t.Errorf("they read %q and %q", one, two)
	}
	a.secret("aws", "two")
	awaited(t, changes)
	if one, two := read(c), read(poor); one != "two" || two != "two" {
		t.Errorf("after the change they read %q and %q", one, two)
	}
	_, err := c.Secret(t.Context(), a.ref("other"))
	if !apierrors.IsForbidden(err) {
		t.Errorf("another Secret: %v", err)
	}
}

func TestInfrastructureTellsRegionAndEndpoints(t *testing.T) {
	a := newAPI(t)
	c, changes := reading(t, a.client)
	if got, err := c.Infrastructure(t.Context()); err != nil || got != (kube.Infrastructure{}) {
		t.Errorf("outside OpenShift it is %+v: %v", got, err)
	}
	a.installInfrastructure()
	if got, err := c.Infrastructure(t.Context()); err != nil || got != (kube.Infrastructure{}) {
		t.Errorf("without the object it is %+v: %v", got, err)
	}
	put := func(endpoints ...string) {
		t.Helper()
		list := []any{}
		for _, one := range endpoints {
			name, url, _ := strings.Cut(one, "=")
			list = append(list, map[string]any{"name": name, "url": url})
		}
		a.putInfrastructure(map[string]any{"platformStatus": map[string]any{"aws": map[string]any{"region": "us-gov-west-1", "serviceEndpoints": list}}})
	}
	put("ec2=https://one.example", "ec2=https://two.example", "sts=https://sts.example")
	want := must.Get(identity.NewEndpoints(map[string]string{"ec2": "https://two.example", "sts": "https://sts.example"}))(t)
	got, err := c.Infrastructure(t.Context())
	if diff := cmp.Diff(kube.Infrastructure{Region: "us-gov-west-1", Endpoints: want}, got); diff != "" || err != nil {
		t.Errorf("infrastructure (-want +got):\n%s%v", diff, err)
	}
	put()
	awaited(t, changes)
	if got, err := c.Infrastructure(t.Context()); err != nil || got != (kube.Infrastructure{Region: "us-gov-west-1"}) {
		t.Errorf("after the change it is %+v: %v", got, err)
	}
	put("ec2=http://plain.example")
	awaited(t, changes)
	if _, err := c.Infrastructure(t.Context()); err == nil || !strings.Contains(err.Error(), `the service "ec2"`) {
		t.Errorf("an endpoint without https: %v", err)
	}
}

var infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}

// installInfrastructure makes the resource known, and waits until it is served.
func (a *api) installInfrastructure() {
	a.t.Helper()
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "infrastructures.config.openshift.io"},
		"spec": map[string]any{
			"group": "config.openshift.io", "scope": "Cluster",
			"names": map[string]any{"plural": "infrastructures", "singular": "infrastructure", "kind": "Infrastructure", "listKind": "InfrastructureList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	must.Get(a.client.Resource(resource).Create(a.t.Context(), definition, metav1.CreateOptions{}))(a.t)
	ctx, cancel := context.WithTimeout(a.t.Context(), testkit.Patience)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := a.client.Resource(infrastructures).List(ctx, metav1.ListOptions{}); err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			a.t.Fatal("the infrastructures are not served")
		}
	}
}

func (a *api) putInfrastructure(status map[string]any) {
	a.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": map[string]any{"name": "cluster"}, "status": status,
	}}
	must.Get(a.client.Resource(infrastructures).Apply(a.t.Context(), "cluster", object, metav1.ApplyOptions{FieldManager: "test", Force: true}))(a.t)
}

// TestWhatAWatchCosts measures the memory of watches of a real API server.
func TestWhatAWatchCosts(t *testing.T) {
	const watches = 1000
	a := newAPI(t)
	config := rest.CopyConfig(a.config)
	config.QPS = -1
	client := must.Get(dynamic.NewForConfig(config))(t)
	changes := make(chan kube.Reference, watches)
	c := kube.New(t.Context(), kube.Options{Client: client, Watches: watches, Changed: func(r kube.Reference) { changes <- r }})
	before := settled()
	for n := range watches {
		ask(t, c, a.ref(fmt.Sprint("secret-", n)))
	}
	a.secret(fmt.Sprint("secret-", watches-1), "made")
	awaited(t, changes) // the last one is watched
	each := (heap() - before) / watches
	t.Logf("a watched object takes %d bytes", each)
	if each > 80_000 {
		t.Errorf("a watched object takes %d bytes, want 80,000 at most", each)
	}
}
