package injection_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestSlipsOfServiceAccounts(t *testing.T) {
	t.Parallel()
	const unless = "This is so unless the webhook's ConfigMap or its identities file names the ServiceAccount"
	cases := map[string]struct {
		annotations string
		says        string // empty for no slip
		unless      bool
	}{
		"a role":                      {role, "", false},
		"nothing":                     {"other: x", "", false},
		"hours":                       {role + "\neks.amazonaws.com/token-expiration: 1h", `ServiceAccount "app": annotation eks.amazonaws.com/token-expiration is "1h", expected whole seconds, 600 or more: write "3600"; it does not count. Correct it (kubectl -n shop edit serviceaccount app), and recreate its pods.`, false},
		"no role":                     {"eks.amazonaws.com/role-arn: app", "no ARN of an IAM role", false},
		"a name of kiam":              {"iam.amazonaws.com/role: app", "did you mean eks.amazonaws.com/role-arn?", true},
		"an audience alone":           {"eks.amazonaws.com/audience: x", "and no eks.amazonaws.com/role-arn", true},
		"more than is read":           {role + "\neks.amazonaws.com/x: " + strings.Repeat("x", inject.MaxAnnotations), "more than 4096 bytes of annotations", false},
		"very many letters in a slip": {role + "\neks.amazonaws.com/sts-regional-endpoints: " + strings.Repeat("ä", 1000), "expected true or false", false},
	}
	e := must.Get(injection.New(injection.Defaults()))(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trimmed := e.TrimAccount(e.TrimAccount(accountOf(t, tc.annotations, noon)))
			slip := e.AccountSlip(trimmed)
			if slip == nil {
				if tc.says != "" {
					t.Errorf("there is no slip, want %q", tc.says)
				}
				return
			}
			if tc.says == "" || !strings.Contains(slip.Note, tc.says) || strings.Contains(slip.Note, unless) != tc.unless || len(slip.Note) > 1024 {
				t.Errorf("the slip is %q, want %q, and %t that something else may name it", slip.Note, tc.says, tc.unless)
			}
			if slip.Regarding.Kind != "ServiceAccount" || slip.Regarding.Name != "app" || slip.Regarding.Namespace != "shop" {
				t.Errorf("it is told at %+v", slip.Regarding)
			}
		})
	}
}

func TestSlipsOfPods(t *testing.T) {
	t.Parallel()
	const injected = `spec: {volumes: [{name: aws-iam-token, projected: {sources: [{serviceAccountToken: {audience: a, path: token}}]}}], containers: [{name: main}]}`
	owned := func(kind, name, hash, annotation string) string {
		return fmt.Sprintf("{metadata: {labels: {pod-template-hash: %q}, annotations: {%s}, ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: o1, controller: true}]}, %s}", hash, annotation, kind, name, injected)
	}
	const hours = "eks.amazonaws.com/token-expiration: 1h"
	cases := map[string]struct {
		pod  string
		want corev1.ObjectReference
		note string
	}{
		"of a Deployment": {owned("ReplicaSet", "app-5d4", "5d4", hours), corev1.ObjectReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "app-5d4", UID: "o1"},
			`Pods of deployment/app: annotation eks.amazonaws.com/token-expiration is "1h", expected whole seconds, 600 or more: write "3600"; it does not count. Correct it: kubectl -n shop edit deployment/app`},
		"of a StatefulSet": {owned("StatefulSet", "db", "", hours), corev1.ObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "o1"}, "kubectl -n shop edit statefulset/db"},
		"of nobody":        {"{metadata: {annotations: {" + hours + "}}, " + injected + "}", corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Name: "app-1", UID: "u1"}, "kubectl -n shop edit pod/app-1"},
		"of a label":       {"{metadata: {labels: {eks.amazonaws.com/skip-containers: main}}, " + injected + "}", corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Name: "app-1", UID: "u1"}, "it is an annotation"},
		"of Azure's label": {"{metadata: {labels: {azure.workload.identity/use: 'True'}}, " + injected + "}", corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Name: "app-1", UID: "u1"},
			`label azure.workload.identity/use of the pod is "True", expected "true"; the pod gets no Azure identity`},
		"of Azure's label that opts in":  {"{metadata: {labels: {azure.workload.identity/use: 'true'}}, " + injected + "}", corev1.ObjectReference{}, ""},
		"of Azure's label that opts out": {"{metadata: {labels: {azure.workload.identity/use: 'false'}}, " + injected + "}", corev1.ObjectReference{}, ""},
		"of none":                        {owned("StatefulSet", "db", "", "eks.amazonaws.com/skip-containers: main"), corev1.ObjectReference{}, ""},
	}
	e := must.Get(injection.New(injection.Defaults()))(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slip := e.PodSlip(trimmed(t, e, podOf(t, tc.pod)))
			if slip == nil {
				if tc.note != "" {
					t.Errorf("there is no slip, want %q", tc.note)
				}
				return
			}
			if tc.want.Kind != "" {
				tc.want.Namespace = "shop"
			}
			if slip.Regarding != tc.want || tc.note == "" || !strings.Contains(slip.Note, tc.note) {
				t.Errorf("the slip is %+v, want %q at %+v", slip, tc.note, tc.want)
			}
		})
	}
}

// TestSlipsAreToldOnceAndBounded takes what is found through many passes: nothing is told
// twice as long as it is there, never more than the bounds, and all in the end where there
// is room.
func TestSlipsAreToldOnceAndBounded(t *testing.T) {
	t.Parallel()
	slipOf := func(namespace string, owner int) *injection.Slip {
		return &injection.Slip{Regarding: corev1.ObjectReference{Namespace: namespace, UID: types.UID(fmt.Sprint(namespace, owner))}, Note: "same"}
	}
	var found []*injection.Slip
	for range 10_000 {
		found = append(found, slipOf("many-pods", 0)) // of one owner
	}
	for i := range 5_000 {
		found = append(found, slipOf("attacker", i))
	}
	for n := range 30 {
		for i := range 10 {
			found = append(found, slipOf(fmt.Sprint("n", n), i))
		}
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	told, perNamespace := map[injection.SlipKey]struct{}{}, map[string]int{}
	for range 10 {
		random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
		news := injection.News(found, told)
		if len(news) > injection.MaxNewSlips {
			t.Fatalf("%d are told in a pass", len(news))
		}
		for _, each := range news {
			if _, before := told[each.Key()]; before {
				t.Errorf("%+v is told twice", each)
			}
			told[each.Key()] = struct{}{}
			perNamespace[each.Regarding.Namespace]++
		}
	}
	for namespace, count := range perNamespace {
		want := 10
		switch namespace {
		case "many-pods":
			want = 1
		case "attacker":
			want = injection.MaxSlips
		}
		if count != want {
			t.Errorf("%d are told in %s, want %d", count, namespace, want)
		}
	}
	if len(perNamespace) != 32 {
		t.Errorf("%d namespaces are told of, want 32", len(perNamespace))
	}
	changed := *slipOf("many-pods", 0)
	changed.Note = "another"
	if news := injection.News([]*injection.Slip{&changed}, told); len(news) != 1 || changed.EventName() == slipOf("many-pods", 0).EventName() {
		t.Errorf("another slip of the same is told as %v, by the name %s", news, changed.EventName())
	}
}
