package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// start is an instant of which nothing depends but differences.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// objectsForTest are Objects from maps, and tokens that count.
type objectsForTest struct {
	configMaps map[string]map[string]string
	secrets    map[string]map[string][]byte
	now        time.Time
	asked      int
	failing    error
}

func (objects *objectsForTest) ConfigMap(_ context.Context, name string) (*corev1.ConfigMap, error) {
	data, found := objects.configMaps[name]
	if !found {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	return &corev1.ConfigMap{Data: data, BinaryData: map[string][]byte{}}, nil
}

func (objects *objectsForTest) Secret(_ context.Context, name string) (*corev1.Secret, error) {
	data, found := objects.secrets[name]
	if !found {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	return &corev1.Secret{Data: data}, nil
}

func (objects *objectsForTest) Token(_ context.Context, audience string, seconds *int64) (*authenticationv1.TokenRequest, error) {
	if objects.failing != nil {
		return nil, objects.failing
	}
	objects.asked++
	return &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: seconds},
		Status: authenticationv1.TokenRequestStatus{
			Token:               fmt.Sprintf("token %d for %s", objects.asked, audience),
			ExpirationTimestamp: metav1.NewTime(objects.now.Add(time.Duration(*seconds) * time.Second)),
		},
	}, nil
}

func examplePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "shop", UID: "u-1", Labels: map[string]string{"b": "2", "a": "1"},
			Annotations: map[string]string{"note": "say \"hi\"\n"},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: "seller",
			Containers:         []corev1.Container{{Name: "main"}, {Name: "side"}},
			InitContainers:     []corev1.Container{{Name: "first"}},
		},
	}
}

func TestContainer(t *testing.T) {
	tests := map[string]struct{ ask, annotation, want, refused string }{
		"the first is meant if none is named":        {want: "main"},
		"the pod's own default comes before it":      {annotation: "side", want: "side"},
		"a name comes before the default":            {ask: "main", annotation: "side", want: "main"},
		"an init container can be named":             {ask: "first", want: "first"},
		"an unknown name lists those that there are": {ask: "x", refused: "main, side, first"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := examplePod()
			pod.Annotations[defaultContainerAnnotation] = test.annotation
			got, err := container(pod, test.ask)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil || got.Name != test.want {
				t.Errorf("got %v, %v; want %s", got, err, test.want)
			}
		})
	}
}

// inShop is the metadata of an object that another one controls.
func inShop(name string, uid, owner types.UID, age time.Duration) metav1.ObjectMeta {
	controller := true
	meta := metav1.ObjectMeta{
		Name: name, Namespace: "shop", UID: uid, Labels: map[string]string{"app": "web"}, CreationTimestamp: metav1.NewTime(start.Add(-age)),
	}
	if owner != "" {
		meta.OwnerReferences = []metav1.OwnerReference{{Kind: "Owner", Name: "owner", UID: owner, Controller: &controller}}
	}
	return meta
}

func TestFind(t *testing.T) {
	dying := &corev1.Pod{ObjectMeta: inShop("dying", "p3", "rs", 0)}
	dying.DeletionTimestamp, dying.Finalizers = &metav1.Time{Time: start}, []string{"keep"}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	client := fake.NewClientset(
		&appsv1.Deployment{ObjectMeta: inShop("web", "d", "", 0), Spec: appsv1.DeploymentSpec{Selector: selector}},
		&appsv1.Deployment{ObjectMeta: inShop("idle", "d2", "", 0), Spec: appsv1.DeploymentSpec{Selector: selector}},
		&appsv1.ReplicaSet{ObjectMeta: inShop("web-1", "rs", "d", 0)},
		&corev1.Pod{ObjectMeta: inShop("old", "p1", "rs", time.Hour)},
		&corev1.Pod{ObjectMeta: inShop("new", "p2", "rs", time.Minute)},
		&corev1.Pod{ObjectMeta: inShop("alike", "p4", "", 0)},
		dying,
	)
	tests := map[string]struct{ target, want, refused string }{
		"a pod by its name":                      {target: "pod/old", want: "old"},
		"a Deployment's newest pod that stays":   {target: "deployment/web", want: "new"},
		"kubectl's short form":                   {target: "deploy/web", want: "new"},
		"a Deployment that has none of the pods": {target: "deployment/idle", refused: "has no pod"},
		"a pod that is not there":                {target: "pod/none", refused: "not found"},
		"a Deployment that is not there":         {target: "deployment/none", refused: "not found"},
		"a kind that is not known":               {target: "job/x", refused: "unknown kind"},
		"a name alone":                           {target: "web", refused: "pod/NAME"},
		"a kind alone":                           {target: "pod/", refused: "pod/NAME"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod, err := Find(t.Context(), client, "shop", test.target)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil || pod.Name != test.want {
				t.Errorf("got %v, %v; want %s", pod, err, test.want)
			}
		})
	}
}

func TestTokensAreBoundToThePod(t *testing.T) {
	var request *authenticationv1.TokenRequest
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		request = action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
		return true, request, nil
	})
	seconds := int64(600)
	must.Get((cluster{client: client, pod: examplePod()}).Token(t.Context(), "sts.amazonaws.com", &seconds))(t)
	want := authenticationv1.TokenRequestSpec{
		Audiences: []string{"sts.amazonaws.com"}, ExpirationSeconds: &seconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "web", UID: "u-1"},
	}
	if diff := cmp.Diff(want, request.Spec); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestRenewAt(t *testing.T) {
	tests := map[string]struct{ life, after time.Duration }{
		"an hour's token at 48 minutes":         {time.Hour, 48 * time.Minute},
		"a ten minutes' token at eight":         {10 * time.Minute, 8 * time.Minute},
		"a day's token at 80 per cent":          {24 * time.Hour, 19*time.Hour + 12*time.Minute},
		"a year's token after a day":            {365 * 24 * time.Hour, 24 * time.Hour},
		"thirty hours' token at 24, both agree": {30 * time.Hour, 24 * time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := renewAt(start.Add(test.life), test.life).Sub(start); got != test.after {
				t.Errorf("renewed after %v, want %v", got, test.after)
			}
		})
	}
}

func TestTokensAreRenewedInTime(t *testing.T) {
	objects := &objectsForTest{now: start}
	tokens := &tokens{objects: objects, now: func() time.Time { return objects.now }}
	hour := int64(3600)
	get := func() string {
		token, err := tokens.get(t.Context(), "sts", &hour)
		if err != nil && objects.failing == nil {
			t.Fatal(err)
		}
		return token
	}
	if !tokens.next().IsZero() {
		t.Error("without a token something is due")
	}
	first := get()
	objects.now = start.Add(47 * time.Minute)
	if again := get(); again != first {
		t.Errorf("renewed before its time: %q", again)
	}
	if want := start.Add(48 * time.Minute); !tokens.next().Equal(want) {
		t.Errorf("due at %v, want %v", tokens.next(), want)
	}
	objects.now, objects.failing = start.Add(48*time.Minute), errors.New("down")
	if kept := get(); kept != first {
		t.Errorf("while the API server is down: %q, want the old one", kept)
	}
	objects.failing = nil
	if second := get(); second != "token 2 for sts" {
		t.Errorf("after 80 %%: %q", second)
	}
}
