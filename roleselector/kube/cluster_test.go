package kube_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// patience is for what must happen, on a slow machine.
const patience = 3 * time.Minute

// world is an API server with buckets, and perhaps selectors.
type world struct {
	*testing.T
	server *testkit.APIServer
	client client.Client
}

func newWorld(t *testing.T, definitions ...string) *world {
	t.Helper()
	w := &world{T: t, server: testkit.StartAPIServer(t, "https://issuer.example.com")}
	w.server.InstallCRDsFrom(t, append(definitions, "testdata/bucket.yaml")...)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, rbacv1.AddToScheme, v1alpha1.AddToScheme, identityv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if w.client, err = client.New(w.server.Config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	w.giveRights()
	return w
}

const (
	selectorDefinition = "../../config/crd/services.k8s.aws_iamroleselectors.yaml"
	choiceDefinition   = "../../config/crd/identity.tabard.dev_iamrolechoices.yaml"
	own                = "999999999999"
)

func (w *world) create(objects ...client.Object) {
	w.Helper()
	for _, object := range objects {
		if err := w.client.Create(w.Context(), object); err != nil {
			w.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

func (w *world) patch(object client.Object, change func()) {
	w.Helper()
	before := object.DeepCopyObject().(client.Object)
	change()
	if err := w.client.Patch(w.Context(), object, client.MergeFrom(before)); err != nil {
		w.Fatalf("patch %s: %v", object.GetName(), err)
	}
}

func (w *world) delete(object client.Object) {
	w.Helper()
	if err := w.client.Delete(w.Context(), object); err != nil {
		w.Fatalf("delete %s: %v", object.GetName(), err)
	}
}

func namespace(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

func bucket(namespace, name string) *unstructured.Unstructured {
	b := newBucket()
	b.SetNamespace(namespace)
	b.SetName(name)
	return b
}

func selector(name, account string, change ...func(*v1alpha1.IAMRoleSelectorSpec)) *v1alpha1.IAMRoleSelector {
	spec := &v1alpha1.IAMRoleSelectorSpec{ARN: "arn:aws:iam::" + account + ":role/" + name}
	for _, each := range change {
		each(spec)
	}
	return &v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

func inNamespaces(names ...string) func(*v1alpha1.IAMRoleSelectorSpec) {
	return func(s *v1alpha1.IAMRoleSelectorSpec) { s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: names} }
}

// instance is one run of the controller.
type instance struct {
	*bucketReconciler
	world *world
	stop  func()

	mu sync.Mutex
	// used are the roles that buckets were managed with, in order.
	used map[string][]string
	made map[string]bool
	logs []string
}

// start runs the controller as a user, until the test ends or it is stopped.
func (w *world) start(user string) *instance {
	w.Helper()
	i := &instance{world: w, used: map[string][]string{}, made: map[string]bool{}}
	config := rest.CopyConfig(w.server.Config)
	config.Impersonate.UserName = user
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Logger: funcr.New(i.keepLog, funcr.Options{}),
	})
	if err != nil {
		w.Fatal(err)
	}
	i.bucketReconciler = &bucketReconciler{
		base: identity.Identity{Base: identity.WebIdentity, Region: "eu-central-1"}, account: own, clusterID: "c7", cloud: i,
	}
	flags := flag.NewFlagSet("bucket-controller", flag.ContinueOnError)
	i.addFlags(flags)
	if err := flags.Parse([]string{"--no-selector-policy=Deny", "--assume-role-external-id=%CLUSTER_ID%"}); err != nil {
		w.Fatal(err)
	}
	if err := i.addTo(mgr); err != nil {
		w.Fatal(err)
	}
	i.stop = testkit.RunManager(w.T, mgr)
	return i
}

func (i *instance) keepLog(prefix, args string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.logs = append(i.logs, prefix+" "+args)
}

// logged says whether one line has all of the words.
func (i *instance) logged(words ...string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, line := range i.logs {
		has := true
		for _, word := range words {
			has = has && strings.Contains(line, word)
		}
		if has {
			return true
		}
	}
	return false
}

// look implements cloud, and keeps as whom it is asked.
func (i *instance) look(_ context.Context, as identity.Identity, bucket *unstructured.Unstructured) (bool, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	key, role := bucket.GetNamespace()+"/"+bucket.GetName(), as.RoleARN()
	if known := i.used[key]; len(known) == 0 || known[len(known)-1] != role {
		i.used[key] = append(known, role)
	}
	return i.made[key], nil
}

// make implements cloud.
func (i *instance) make(_ context.Context, _ identity.Identity, bucket *unstructured.Unstructured) error {
	return i.set(bucket, true)
}

// remove implements cloud.
func (i *instance) remove(_ context.Context, _ identity.Identity, bucket *unstructured.Unstructured) error {
	return i.set(bucket, false)
}

func (i *instance) set(bucket *unstructured.Unstructured, exists bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.made[bucket.GetNamespace()+"/"+bucket.GetName()] = exists
	return nil
}

// until waits for what holds in the end; what it says otherwise is why not.
func (w *world) until(what string, check func() error) time.Duration {
	w.Helper()
	start := time.Now()
	var err error
	for time.Since(start) < patience {
		if err = check(); err == nil {
			return time.Since(start)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-w.Context().Done():
		}
	}
	w.Fatalf("%s: not within %v: %v", what, patience, err)
	return 0
}

// condition is one of a bucket, the zero value if it has none.
func (w *world) condition(namespace, name, kind string) metav1.Condition {
	w.Helper()
	b := newBucket()
	if err := w.client.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, b); err != nil {
		w.Fatal(err)
	}
	if found := meta.FindStatusCondition(conditionsOf(b), kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// says waits until a bucket's condition of selection has a reason and holds words.
func (w *world) says(namespace, name, reason, words string) time.Duration {
	w.Helper()
	return w.until(namespace+"/"+name+" says "+reason, func() error {
		c := w.condition(namespace, name, kube.ConditionSelected)
		if c.Reason != reason || !strings.Contains(c.Message, words) {
			return fmt.Errorf("it says %q, %q", c.Reason, c.Message)
		}
		return nil
	})
}

func (i *instance) untilReady() {
	i.world.Helper()
	i.world.until("ready", func() error { return i.roles.Ready(nil) })
}

// allow gives a user all rights on resources of a group.
func (w *world) allow(user, group string, resources ...string) {
	w.Helper()
	w.allowAll(user, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"*"}})
}

func (w *world) allowAll(user string, rules ...rbacv1.PolicyRule) {
	w.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: user + "-"}, Rules: rules}
	w.create(role)
	w.create(testkit.Binding(user, role.Name))
	testkit.AwaitRights(w.T, w.server.Config, user, "", rules...)
}

// with is a user with the rights that the page for authors names, and without one
// who may not read selectors and choices.
const without, with = "without-selectors", "with-selectors"

func (w *world) giveRights() {
	w.Helper()
	for _, user := range []string{without, with} {
		w.allow(user, bucketKind.Group, "buckets", "buckets/status")
		w.allow(user, "events.k8s.io", "events")
	}
	w.allow(without, "", "namespaces")
	w.allowAll(with, pagesRules(w.T)...)
}

var errStillThere = errors.New("it is still there")

func ref(namespace, name string) roleselector.Object {
	return roleselector.Object{Group: bucketKind.Group, Version: bucketKind.Version, Kind: bucketKind.Kind, Namespace: namespace, Name: name}
}

// lacks is nil if the controller says that something is missing.
func (i *instance) lacks(words string) error {
	err := i.roles.Ready(nil)
	if err == nil {
		return errors.New("it says that it is ready")
	}
	if !strings.Contains(err.Error(), words) {
		return err
	}
	return nil
}

// testkitDelete removes a kind.
func testkitDelete(w *world, file string) {
	w.Helper()
	testkit.Shell(w, w.server.Config, "kubectl delete -f config/crd/"+file)
}

func conditionsOf(bucket *unstructured.Unstructured) []metav1.Condition {
	var held struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(bucket.Object, &held)
	return held.Status.Conditions
}
