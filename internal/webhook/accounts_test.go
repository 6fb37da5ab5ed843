package webhook

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// reader is a cluster with one answer.
type reader func(ctx context.Context, account *metav1.PartialObjectMetadata) error

func (r reader) Get(ctx context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	account, ok := object.(*metav1.PartialObjectMetadata)
	if !ok || account.Kind != "ServiceAccount" {
		return errors.New("expected to be asked for the metadata of a ServiceAccount")
	}
	return r(ctx, account)
}

func (r reader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("expected no list")
}

func absent(context.Context, *metav1.PartialObjectMetadata) error {
	return apierrors.NewNotFound(corev1.Resource("serviceaccounts"), "app")
}

func present(arn string) reader {
	return func(_ context.Context, account *metav1.PartialObjectMetadata) error {
		account.Annotations = map[string]string{"eks.amazonaws.com/role-arn": arn}
		return nil
	}
}

func broken(context.Context, *metav1.PartialObjectMetadata) error { return errors.New("down") }

func TestFind(t *testing.T) {
	t.Parallel()
	found := &inject.ServiceAccount{Annotations: map[string]string{"eks.amazonaws.com/role-arn": role}}
	tests := map[string]struct {
		cached, live reader
		want         *inject.ServiceAccount
		fails        bool
	}{
		"what the cache knows is not looked at live": {cached: present(role), live: broken, want: found},
		"a miss is looked at live":                   {cached: absent, live: present(role), want: found},
		"what is nowhere does not exist":             {cached: absent, live: absent},
		"a look that fails is no answer":             {cached: absent, live: broken, fails: true},
		"a cache that fails is no answer":            {cached: broken, live: present(role), fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := newAccounts(test.cached, test.live, 0, newMetrics()).find(t.Context(), types.NamespacedName{Namespace: "shop", Name: "app"})
			if (err != nil) != test.fails {
				t.Errorf("error %v, want one %t", err, test.fails)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyWhoAskShareALook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		release := make(chan struct{})
		live := reader(func(ctx context.Context, account *metav1.PartialObjectMetadata) error {
			looks++
			<-release
			return present(role)(ctx, account)
		})
		known := newAccounts(reader(absent), live, time.Minute, newMetrics())
		key := types.NamespacedName{Namespace: "shop", Name: "app"}
		first, hangUp := context.WithCancel(t.Context())
		var hungUp error
		go func() { _, hungUp = known.find(first, key) }()
		synctest.Wait()
		answers := make(chan *inject.ServiceAccount, 20)
		for range cap(answers) {
			go func() {
				got, err := known.find(t.Context(), key)
				if err != nil {
					t.Error(err)
				}
				answers <- got
			}()
		}
		synctest.Wait()
		hangUp()
		synctest.Wait()
		close(release)
		for range cap(answers) {
			if got := <-answers; got == nil {
				t.Error("one who waited was told that there is no ServiceAccount")
			}
		}
		if !errors.Is(hungUp, context.Canceled) || looks != 1 {
			t.Errorf("the first, who hung up, got %v; %d looks, want 1", hungUp, looks)
		}
	})
}

func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := make(chan struct{}, 2*maxLookups)
		live := reader(func(ctx context.Context, _ *metav1.PartialObjectMetadata) error {
			looks <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		known := newAccounts(reader(absent), live, time.Second, newMetrics())
		ended := make(chan error, maxLookups+1)
		for i := range cap(ended) {
			go func() {
				_, err := known.find(t.Context(), types.NamespacedName{Namespace: "shop", Name: strconv.Itoa(i)})
				ended <- err
			}()
		}
		synctest.Wait()
		if len(looks) != maxLookups {
			t.Errorf("%d looks at the same time, want %d", len(looks), maxLookups)
		}
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a look that hangs ended with %v", err)
			}
		}
	})
}

func TestStripKeepsNameAndOwnAnnotations(t *testing.T) {
	t.Parallel()
	full := &metav1.PartialObjectMetadata{TypeMeta: accountType, ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "app", ResourceVersion: "7", UID: "u", Labels: map[string]string{"a": "b"},
		Annotations:   map[string]string{"eks.amazonaws.com/role-arn": role, "eks.amazonaws.com.evil/role-arn": "x", "other": "y"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
	want := &metav1.PartialObjectMetadata{TypeMeta: accountType, ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "app", ResourceVersion: "7", Annotations: map[string]string{"eks.amazonaws.com/role-arn": role}}}
	got, err := strip("eks.amazonaws.com")(full)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
