package oldmodules_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

var (
	bucketKind = schema.GroupVersionKind{Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket"}
	bucket     = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "logs"}}
)

// cluster is an API server with a namespace, and a selector once somebody makes it.
func cluster(t *testing.T, made <-chan struct{}) *rest.Config {
	t.Helper()
	const list = `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"1"},"items":[%s]}`
	kinds := map[string]string{
		"iamroleselectors": fmt.Sprintf(list, "services.k8s.aws/v1alpha1", "IAMRoleSelectorList", ""),
		"iamrolechoices":   fmt.Sprintf(list, "identity.tabard.dev/v1alpha1", "IAMRoleChoiceList", ""),
		"namespaces":       fmt.Sprintf(list, "meta.k8s.io/v1", "PartialObjectMetadataList", `{"metadata":{"name":"prod","uid":"n","resourceVersion":"1"}}`),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		kind := path.Base(r.URL.Path)
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		case query.Get("watch") == "":
			_, _ = fmt.Fprint(w, kinds[kind])
			return
		}
		w.(http.Flusher).Flush()
		if kind == "iamroleselectors" {
			select {
			case <-made:
			case <-r.Context().Done():
			}
			_, _ = fmt.Fprintln(w, `{"type":"ADDED","object":{"apiVersion":"services.k8s.aws/v1alpha1","kind":"IAMRoleSelector",
				"metadata":{"name":"team","uid":"u","resourceVersion":"2"},"spec":{"arn":"arn:aws:iam::123456789012:role/app"}}}`)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// TestControllerIsWokenForItsRole with roleselector/kube on its own controller-runtime, with
// the queue that ranks and with the one that does not: a selector is made, and the bucket
// that it selects is reconciled with its role.
func TestControllerIsWokenForItsRole(t *testing.T) {
	for _, ranks := range []bool{false, true} {
		t.Run(fmt.Sprintf("a queue that ranks: %v", ranks), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			made, became := make(chan struct{}), make(chan string, 100)
			mgr, roles := newController(t, cluster(t, made), ranks, became)
			ended := make(chan error, 1)
			go func() { ended <- mgr.Start(ctx) }()
			awaitReady(ctx, t, roles)
			if role, err := roles.Of(bucketKind, bucket, kube.Wish{}); err != nil || role.Course.Reason != roleselector.ReasonNoSelectorPolicy {
				t.Errorf("before there is a selector: %+v, %v", role.Course, err)
			}
			close(made)
			select {
			case got := <-became:
				if got != roleARN {
					t.Errorf("the bucket is managed with %q, want %q", got, roleARN)
				}
			case <-ctx.Done():
				t.Error("the bucket is never woken")
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// newController says whom it becomes for the bucket.
func newController(t *testing.T, host *rest.Config, ranks bool, became chan<- string) (ctrl.Manager, *kube.Roles) {
	t.Helper()
	always := true
	options := ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{UsePriorityQueue: &ranks, SkipNameValidation: &always},
	}
	if ranks { // that of 0.21 does not wake its workers at the end, and the manager would wait for them
		options.GracefulShutdownTimeout = new(time.Duration)
	}
	mgr, err := ctrl.NewManager(host, options)
	if err != nil {
		t.Fatal(err)
	}
	roles, err := kube.NewRoles(mgr, kube.RolesOptions{
		Options: kube.Options{Kinds: []schema.GroupVersionKind{bucketKind}, Roles: roleselector.Options{NoSelector: roleselector.PolicyDeny}},
		Base:    identity.Identity{Base: identity.WebIdentity, Region: "eu-west-1"}, Account: "999999999999",
	})
	if err != nil {
		t.Fatal(err)
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("bucket").WatchesRawSource(roles.Source(bucketKind)).
		Complete(reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			role, err := roles.Of(bucketKind, bucket, kube.Wish{})
			if err == nil && role.MayCall() && request.Name == bucket.Name {
				became <- role.Identity.RoleARN()
			}
			return reconcile.Result{}, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	return mgr, roles
}

func awaitReady(ctx context.Context, t *testing.T, roles *kube.Roles) {
	t.Helper()
	for roles.Ready(nil) != nil {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("it is never ready: %v", roles.Ready(nil))
		}
	}
}
