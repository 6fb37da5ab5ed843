package credentials_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// readSecrets and watchSecrets are the ClusterRoles that an administrator binds in a namespace.
const readSecrets, watchSecrets = "tabard-credentials-secrets", "tabard-credentials-secrets-watch"

// isItself leaves the controller the rights that its manifests give it, with those of the
// ClusterRoles that an administrator has bound in the fixture's namespace.
func (f *fixture) isItself(bound ...string) {
	f.Helper()
	user := "system:serviceaccount:" + ownNamespace + ":tabard-credentials"
	made := func(object client.Object) {
		if err := f.Create(f.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
			f.Fatal(err)
		}
	}
	everywhere := testkit.Rights(f, "credentials")
	made(everywhere)
	made(testkit.Binding(user, everywhere.Name))
	testkit.AwaitRights(f, f.Config, user, "", everywhere.Rules...)
	shipped := map[string]*rbacv1.ClusterRole{}
	for _, object := range testkit.Objects(f, "config/manifests/credentials/controller.yaml") {
		if object.GetObjectKind().GroupVersionKind().Kind == "ClusterRole" {
			role := &rbacv1.ClusterRole{}
			must.Do(f, runtime.DefaultUnstructuredConverter.FromUnstructured(object.(*unstructured.Unstructured).Object, role)) //nolint:forcetypeassert // the kit's
			shipped[role.Name] = role
			made(role)
		}
	}
	for _, name := range bound {
		if shipped[name] == nil {
			f.Fatalf("the manifests have no ClusterRole %s", name)
		}
		f.Shell(fmt.Sprintf("kubectl -n %s create rolebinding %s --clusterrole=%s --serviceaccount=%s:tabard-credentials", f.namespace, name, name, ownNamespace))
		testkit.AwaitRights(f, f.Config, user, f.namespace, shipped[name].Rules...)
	}
	f.config = f.As(user)
	f.as = f.ClientFor(f.config)
	f.start(f.TB.(*testing.T)) //nolint:forcetypeassert // of newFixture
}

// serve makes a pass over each request that is woken, and no other.
func (f *fixture) serve() {
	ctx := f.Context()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case request := <-f.woken:
				if _, err := f.controller.Reconcile(ctx, request); err != nil {
					f.woken <- request
				}
			}
		}
	}()
}

// isBack waits until a Secret is as a pass wrote it.
func (f *fixture) isBack(name string, was *corev1.Secret) {
	f.Helper()
	f.Await(func() error {
		have := &corev1.Secret{}
		if err := f.Get(f.Context(), client.ObjectKey{Namespace: f.namespace, Name: name}, have); err != nil {
			return err
		}
		if string(have.Data["credentials"]) != string(was.Data["credentials"]) || have.Labels[core.ManagedLabel] != "true" || have.Annotations[core.RequestAnnotation] != was.Annotations[core.RequestAnnotation] {
			return errors.New("the Secret is not what it was")
		}
		return nil
	})
}

// TestASecretThatOthersChangeComesBack untouched, at once where the controller may follow
// Secrets, and by looks elsewhere. AWS is not asked.
func TestASecretThatOthersChangeComesBack(t *testing.T) {
	for name, tt := range map[string]struct {
		bound  []string
		within time.Duration
	}{
		"where it may follow them": {[]string{readSecrets, watchSecrets}, time.Hour},
		"where it may read them":   {[]string{readSecrets}, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.options = func(o *credentials.Options) { o.LookWithin = tt.within }
			f.isItself(tt.bound...)
			request := f.forSecret("minted", "creds", "AWSProviderSpec", readTeam)
			request.Spec.ServiceAccountNames = []string{"web"}
			f.Make(request)
			f.until(request, isReady)
			f.until(request, isReady)
			was := f.secret("creds")
			f.drain()
			f.serve()
			f.aws.Admin().ClearJournal()
			changes := map[string]func(*corev1.Secret){
				"deleted":           func(s *corev1.Secret) { f.Remove(s) },
				"edited":            func(s *corev1.Secret) { f.Merge(s, `{"stringData":{"credentials":"attack"}}`) },
				"without its label": func(s *corev1.Secret) { f.Merge(s, `{"metadata":{"labels":null}}`) },
				"edited all the time": func(s *corev1.Secret) {
					for i := range 40 {
						f.Merge(s, fmt.Sprintf(`{"stringData":{"credentials":"attack %d"}}`, i))
					}
				},
			}
			for what, change := range changes {
				t.Log("the Secret is", what)
				change(f.secret("creds"))
				f.isBack("creds", was)
			}
			if calls := f.calls(); len(calls) > 0 {
				t.Errorf("AWS was asked for %q", calls)
			}
		})
	}
}

// TestASecretOfOthersThatGoesMakesRoom for the one that a request waits to make.
func TestASecretOfOthersThatGoesMakesRoom(t *testing.T) {
	f := newFixture(t)
	f.options = func(o *credentials.Options) { o.LookWithin = time.Millisecond }
	f.isItself(readSecrets, watchSecrets)
	foreign := &corev1.Secret{Data: map[string][]byte{"password": []byte("theirs")}}
	foreign.Namespace, foreign.Name = f.namespace, "creds"
	foreign.Annotations = map[string]string{core.RequestAnnotation: f.namespace + "/another"}
	request := f.forSecret("waits", "creds", "AWSProviderSpec", `"stsIAMRoleARN":"`+givenRole+`"`)
	f.Make(foreign, request)
	refused := func() error {
		if s := f.secret("creds"); s == nil || s.Annotations[core.RequestAnnotation] != f.namespace+"/another" {
			return fmt.Errorf("the Secret of another request was taken: %v", s)
		}
		return nil
	}
	f.until(request, has(core.TypeDelivered, "False", ""))
	must.Do(t, refused())
	f.drain()
	f.serve()
	f.Remove(foreign)
	f.Await(func() error {
		if s := f.secret("creds"); s == nil || s.Annotations[core.RequestAnnotation] != f.namespace+"/waits" {
			return errors.New("the request has no Secret")
		}
		return nil
	})
}
