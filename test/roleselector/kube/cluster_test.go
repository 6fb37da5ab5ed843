// Package kube_test runs the controller that the page for authors quotes on a real API
// server: what wakes a resource, how soon, and what is said meanwhile.
package kube_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// world is a cluster with buckets and selectors.
type world struct{ *testkit.Cluster }

// newWorld has the kinds of selectors and choices.
func newWorld(t *testing.T) world {
	t.Helper()
	w := world{testkit.StartCluster(t, testkit.ClusterOptions{
		Issuer: "https://issuer.example.com", CRDs: []string{selectorDefinition, choiceDefinition, "test/roleselector/kube/testdata/bucket.yaml"},
	})}
	w.giveRights()
	return w
}

const (
	selectorDefinition = "config/crd/services.k8s.aws_iamroleselectors.yaml"
	choiceDefinition   = "config/crd/identity.tabard.dev_iamrolechoices.yaml"
	own                = "999999999999"
)

func (w world) patch(object client.Object, change func()) {
	w.Helper()
	before := object.DeepCopyObject().(client.Object)
	change()
	must.Do(w, w.Patch(w.Context(), object, client.MergeFrom(before)))
}

// install makes the kinds of a file served, as uninstall ends that.
func (w world) install(file string) {
	w.Helper()
	w.InstallCRDsFrom(w, filepath.Join(testkit.Root(), file))
}

func (w world) uninstall(file string) {
	w.Helper()
	for _, kind := range testkit.Objects(w, file) {
		w.Remove(kind)
		w.Await(func() error {
			if err := w.Get(w.Context(), client.ObjectKeyFromObject(kind), kind); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there still: %w", kind.GetName(), errors.Join(err))
			}
			return nil
		})
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
	world world
	stop  func()

	mu sync.Mutex
	// used are the roles that buckets were managed with, in order.
	used map[string][]string
	made map[string]bool
	logs []string
}

// start runs the controller as a user, until the test ends or it is stopped.
func (w world) start(t *testing.T, user string) *instance {
	t.Helper()
	i := &instance{world: w, used: map[string][]string{}, made: map[string]bool{}}
	mgr := must.Get(ctrl.NewManager(w.As(user), ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Logger: funcr.New(i.keepLog, funcr.Options{}), Controller: config.Controller{SkipNameValidation: new(true)},
	}))(t)
	i.bucketReconciler = &bucketReconciler{
		base: identity.Identity{Base: identity.WebIdentity, Region: "eu-central-1"}, account: own, clusterID: "c7", cloud: i,
	}
	flags := flag.NewFlagSet("bucket-controller", flag.ContinueOnError)
	i.addFlags(flags)
	must.Do(t, flags.Parse([]string{"--no-selector-policy=Deny", "--assume-role-external-id=%CLUSTER_ID%"}))
	must.Do(t, i.addTo(mgr))
	i.stop = testkit.RunManager(t, mgr)
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

// condition is one of a bucket, the zero value if it has none.
func (w world) condition(namespace, name, kind string) metav1.Condition {
	w.Helper()
	b := newBucket()
	must.Do(w, w.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, b))
	if found := meta.FindStatusCondition(conditionsOf(b), kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// says waits until a bucket's condition of selection has a reason and holds words.
func (w world) says(namespace, name, reason, words string) {
	w.Helper()
	w.Await(func() error {
		c := w.condition(namespace, name, kube.ConditionSelected)
		if c.Reason != reason || !strings.Contains(c.Message, words) {
			return fmt.Errorf("%s/%s says %q, %q; want %s, %q", namespace, name, c.Reason, c.Message, reason, words)
		}
		return nil
	})
}

func (i *instance) untilReady() {
	i.world.Helper()
	i.world.Await(func() error { return i.roles.Ready(nil) })
}

// allow gives a user rights.
func (w world) allow(user string, rules ...rbacv1.PolicyRule) {
	w.Helper()
	w.Grant(user, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user + "-" + rules[0].Resources[0]}, Rules: rules})
}

// all are all rights on resources of a group.
func all(group string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"*"}}
}

// with is a user with the rights that the page for authors names, and without one
// who may not read selectors and choices.
const without, with = "without-selectors", "with-selectors"

func (w world) giveRights() {
	w.Helper()
	self := []rbacv1.PolicyRule{all(bucketKind.Group, "buckets", "buckets/status"), all("events.k8s.io", "events")}
	w.allow(without, append(self, all("", "namespaces"))...)
	w.allow(with, append(self, pagesRules(w)...)...)
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

func conditionsOf(bucket *unstructured.Unstructured) []metav1.Condition {
	var held struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(bucket.Object, &held)
	return held.Status.Conditions
}
