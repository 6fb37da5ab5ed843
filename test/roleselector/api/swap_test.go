package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// patches are ways to another role under the same name, other than an update.
var patches = map[string]struct {
	kind types.PatchType
	body string
	want string
}{
	"a merge patch of the ARN":     {types.MergePatchType, `{"spec": {"arn": "` + other + `"}}`, immutable},
	"a merge patch without spec":   {types.MergePatchType, `{"spec": null}`, immutable},
	"a merge patch without ARN":    {types.MergePatchType, `{"spec": {"arn": null}}`, immutable},
	"a merge patch to Deny":        {types.MergePatchType, `{"spec": {"arn": null, "effect": "Deny"}}`, immutable},
	"a JSON patch of the ARN":      {types.JSONPatchType, `[{"op": "replace", "path": "/spec/arn", "value": "` + other + `"}]`, immutable},
	"a JSON patch without spec":    {types.JSONPatchType, `[{"op": "remove", "path": "/spec"}]`, immutable},
	"a JSON patch of all of spec":  {types.JSONPatchType, `[{"op": "remove", "path": "/spec"}, {"op": "add", "path": "/spec", "value": {"arn": "` + other + `"}}]`, immutable},
	"a merge patch of other parts": {types.MergePatchType, `{"spec": {"namespaceSelector": {"names": ["dev"]}}}`, ""},
}

// testSwaps: a selector keeps its role as long as it lives, whichever verb is used.
func (u *user) testSwaps() {
	const name = "keeps-its-role"
	u.create(selectors, name, with("namespaceSelector: {names: [prod]}"))
	client := u.client.Resource(selectors)
	for _, each := range sorted(patches) {
		u.t.Run(each, func(t *testing.T) {
			_, err := client.Patch(t.Context(), name, patches[each].kind, []byte(patches[each].body), metav1.PatchOptions{})
			judge(t, err, patches[each].want)
		})
	}
	_, err := client.Apply(u.t.Context(), name, object(u.t, selectors, name, "spec: {arn: '"+other+"'}"), metav1.ApplyOptions{FieldManager: "another", Force: true})
	judge(u.t, err, immutable)
	judge(u.t, u.change(selectors, name, set(other, "spec", "arn"), "status"), "")
	judge(u.t, u.change(selectors, name, set(nil, "spec"), "status"), "")
	if got, _, _ := unstructured.NestedString(u.get(selectors, name), "spec", "arn"); got != arn {
		u.t.Errorf("after all attempts its role is %s, want %s", got, arn)
	}
}
