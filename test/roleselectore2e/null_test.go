package roleselectore2e

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestASelectorThatLostItsLabelsManagesNothing has a selector stored whose label was
// null, as an earlier definition of the kind took it: no Bucket is managed with its role,
// nor with the controller's own in its place, until somebody gives it a label.
func TestASelectorThatLostItsLabelsManagesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	role := w.aws.role(red, "lost")
	stored := w.storeLoosely(map[string]any{
		"apiVersion": "services.k8s.aws/v1alpha1", "kind": "IAMRoleSelector", "metadata": map[string]any{"name": "lost"},
		"spec": map[string]any{"arn": role, "namespaceSelector": map[string]any{
			"names": []any{}, "labelSelector": map[string]any{"matchLabels": map[string]any{"team": nil}},
		}},
	})
	if labels, found, err := unstructured.NestedMap(stored.Object, "spec", "namespaceSelector", "labelSelector", "matchLabels"); err != nil || !found || len(labels) > 0 {
		t.Fatalf("the labels are stored as %v, found %t, %v; the test shows nothing", labels, found, err)
	}
	w.start(gate).awaitReadiness(200)
	w.namespace("somebody", nil, nil)
	b := w.bucket("somebody", "data")
	w.awaitCondition(b, "ACK.Recoverable=True SelectorInvalid")
	if calls := w.aws.calls("somebody-data"); len(calls) > 0 {
		t.Errorf("calls were made for the bucket: %v", calls)
	}

	w.change(stored, `{"spec":{"namespaceSelector":{"labelSelector":{"matchLabels":{"team":"a"}}}}}`)
	w.awaitCondition(b, "Ready=True")
	if account := w.aws.accountOf("somebody-data"); account == red || account == "" {
		t.Errorf("the bucket is in the account %q, which its selector does not give it", account)
	}
}

// storeLoosely stores an object that only a definition without rules takes, and puts the
// rules back.
func (w *world) storeLoosely(object map[string]any) *unstructured.Unstructured {
	w.t.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	key := client.ObjectKey{Name: "iamroleselectors.services.k8s.aws"}
	if err := w.Get(w.t.Context(), key, crd); err != nil {
		w.t.Fatal(err)
	}
	rules := crd.DeepCopy().Object["spec"]
	loosen(crd.Object["spec"])
	if err := w.Update(w.t.Context(), crd); err != nil {
		w.t.Fatal(err)
	}
	var stored *unstructured.Unstructured
	testkit.Await(w.t, func() error { // until the API server goes by it
		stored = (&unstructured.Unstructured{Object: object}).DeepCopy()
		return w.Create(w.t.Context(), stored)
	})
	testkit.Await(w.t, func() error {
		if err := w.Get(w.t.Context(), key, crd); err != nil {
			return err
		}
		crd.Object["spec"] = rules
		return w.Update(w.t.Context(), crd)
	})
	testkit.Await(w.t, func() error {
		again := (&unstructured.Unstructured{Object: object}).DeepCopy()
		again.SetName("lost-again")
		if err := w.Create(w.t.Context(), again, client.DryRunAll); err == nil {
			return errors.New("the rules are not back yet")
		}
		return nil
	})
	return stored
}

// loosen takes all rules out of a definition.
func loosen(schema any) {
	switch of := schema.(type) {
	case map[string]any:
		delete(of, "x-kubernetes-validations")
		delete(of, "nullable")
		for _, each := range of {
			loosen(each)
		}
	case []any:
		for _, each := range of {
			loosen(each)
		}
	}
}
