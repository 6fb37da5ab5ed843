package e2e

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// managesNothingWithoutLabels: a selector is stored whose label was null, as an earlier
// definition of the kind took it. No Bucket is managed with its role, nor with the
// controller's own in its place, until somebody gives it a label.
func (w *world) managesNothingWithoutLabels() {
	role := w.aws.role(red, "lost")
	stored := w.storeLoosely(map[string]any{
		"apiVersion": "services.k8s.aws/v1alpha1", "kind": "IAMRoleSelector", "metadata": map[string]any{"name": "lost"},
		"spec": map[string]any{"arn": role, "namespaceSelector": map[string]any{
			"names": []any{}, "labelSelector": map[string]any{"matchLabels": map[string]any{"team": nil}},
		}},
	})
	if labels, found, err := unstructured.NestedMap(stored.Object, "spec", "namespaceSelector", "labelSelector", "matchLabels"); err != nil || !found || len(labels) > 0 {
		w.Fatalf("the labels are stored as %v, found %t, %v; the test shows nothing", labels, found, err)
	}
	w.namespace("somebody", nil, nil)
	b := w.bucket("somebody", "data")
	w.awaitCondition(b, "ACK.Recoverable=True SelectorInvalid")
	if calls := w.aws.calls("somebody-data"); len(calls) > 0 {
		w.Errorf("calls were made for the bucket: %v", calls)
	}

	w.Merge(stored, `{"spec":{"namespaceSelector":{"labelSelector":{"matchLabels":{"team":"a"}}}}}`)
	w.awaitCondition(b, "Ready=True")
	if account := w.aws.accountOf("somebody-data"); account == red || account == "" {
		w.Errorf("the bucket is in the account %q, which its selector does not give it", account)
	}
}

// storeLoosely stores an object that only a definition without rules takes, and puts the
// rules back.
func (w *world) storeLoosely(object map[string]any) *unstructured.Unstructured {
	w.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	key := client.ObjectKey{Name: "iamroleselectors.services.k8s.aws"}
	must.Do(w, w.Get(w.Context(), key, crd))
	rules := crd.DeepCopy().Object["spec"]
	loosen(crd.Object["spec"])
	must.Do(w, w.Update(w.Context(), crd))
	var stored *unstructured.Unstructured
	w.Await(func() error { // until the API server goes by it
		stored = (&unstructured.Unstructured{Object: object}).DeepCopy()
		return w.Create(w.Context(), stored)
	})
	w.Await(func() error {
		if err := w.Get(w.Context(), key, crd); err != nil {
			return err
		}
		crd.Object["spec"] = rules
		return w.Update(w.Context(), crd)
	})
	w.Await(func() error {
		again := (&unstructured.Unstructured{Object: object}).DeepCopy()
		again.SetName("lost-again")
		if err := w.Create(w.Context(), again, client.DryRunAll); err == nil {
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
