// Package policy tests on a real API server what the policies of config/operators refuse.
package policy

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestThePolicies applies the policies one after the other, as the pages have it.
func TestThePolicies(t *testing.T) {
	c := testkit.StartCluster(t, testkit.ClusterOptions{
		CRDs:    []string{"test/operators/policy/testdata/clusterextensions.yaml"},
		Foreign: []testkit.ForeignKinds{testkit.OLM},
	})
	c.MakeNamespaces("team")
	t.Run("approval", func(t *testing.T) { testApproval(c.In(t)) })
	t.Run("extensions", func(t *testing.T) { testExtensions(c.In(t)) })
}

// patch changes an object as kubectl patch does, and returns what is refused.
func patch(c *testkit.Cluster, object client.Object, text string, options ...client.PatchOption) error {
	return c.Patch(c.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text)), options...)
}

// holds waits until a policy is in force: until what it refuses is refused.
func holds(c *testkit.Cluster, try func() error) {
	c.Helper()
	c.Await(func() error {
		if err := try(); !apierrors.IsForbidden(err) {
			return fmt.Errorf("the policy is not in force: %w", err)
		}
		return nil
	})
}

// refused demands a refusal with a text, or with none that nothing is refused.
func refused(c *testkit.Cluster, name string, err error, says string) {
	c.Helper()
	switch {
	case says == "" && err != nil:
		c.Errorf("%s: %v", name, err)
	case says != "" && (!apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), says)):
		c.Errorf("%s: %v, want a refusal that says %q", name, err, says)
	}
}

const (
	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	noon   = "2026-01-31T12:00:00Z"
)

// checks are texts of the annotation, and what the policy has seen where it refuses.
var checks = map[string]string{
	"NoChange " + digest + " " + noon:                    "",
	"Satisfied " + digest + " " + noon:                   "",
	"NotToken " + digest + " " + noon:                    "",
	"NotToken - " + noon:                                 "",
	"Overridden " + digest + " " + noon:                  "",
	"Overridden - " + noon:                               "",
	"Missing " + digest + " " + noon:                     "the check of its permissions came to Missing",
	"Unknown - " + noon:                                  "the check of its permissions came to Unknown",
	"Unknown " + digest + " " + noon:                     "the check of its permissions came to Unknown",
	"":                                                   "its permissions were not checked",
	"Satisfied":                                          unreadable,
	"Satisfied - " + noon:                                unreadable,
	"NoChange - " + noon:                                 unreadable,
	"Missing - " + noon:                                  unreadable,
	"satisfied " + digest + " " + noon:                   unreadable,
	"Fine " + digest + " " + noon:                        unreadable,
	" Satisfied " + digest + " " + noon:                  unreadable,
	"Satisfied  " + digest + " " + noon:                  unreadable,
	"Satisfied " + digest + " " + noon + " more":         unreadable,
	"Satisfied " + digest + " " + noon + "\n":            unreadable,
	"Missing\nSatisfied " + digest + " " + noon:          unreadable,
	"Satisfied " + digest + "0 " + noon:                  unreadable,
	"Satisfied " + digest[:70] + " " + noon:              unreadable,
	"Satisfied " + digest + " today":                     unreadable,
	"Satisfied " + digest + " 2026-01-31T12:00:00+01:00": unreadable,
}

const unreadable = "its annotation operators.tabard.dev/permission-check cannot be read"

// plans makes InstallPlans.
type plans struct {
	*testkit.Cluster
	made int
}

// plan is one that is stored, of a text of the annotation; empty for none.
func (p *plans) plan(approved bool, check string) *unstructured.Unstructured {
	p.Helper()
	p.made++
	made := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
		"metadata": map[string]any{"namespace": "team", "name": fmt.Sprintf("install-%d", p.made)},
		"spec":     map[string]any{"approval": "Manual", "approved": approved, "clusterServiceVersionNames": []any{"example.v1.1.0"}},
	}}
	if check != "" {
		made.SetAnnotations(map[string]string{operator.CheckedAnnotation: check})
	}
	p.Make(made)
	return made
}

// says is the end of the refusal of a plan.
func says(plan client.Object, seen string) string {
	if seen == "" {
		return ""
	}
	return fmt.Sprintf("the InstallPlan %s is not approved: %s; to check and approve it, run tabard operators approve %s -n team", plan.GetName(), seen, plan.GetName())
}

const approve = `{"spec":{"approved":true}}`

func testApproval(c *testkit.Cluster) {
	c.MakeFiles("config/operators/approval-policy.yaml")
	p := &plans{Cluster: c}
	first := p.plan(false, "")
	holds(c, func() error { return patch(c, first, approve, client.DryRunAll) })
	for text, seen := range checks {
		checked, err := operator.ParseChecked(text)
		if want := err == nil && checked.Verdict.MayPass(); want != (seen == "") {
			c.Errorf("%q may pass by the annotation's own rules: %t", text, want)
		}
		plan := p.plan(false, text)
		refused(c, fmt.Sprintf("the annotation %q", text), patch(c, plan, approve), says(plan, seen))
	}
	p.testAtOnce()
	p.testOtherWrites()
}

// testAtOnce: what counts is the annotation that the plan has then, as "tabard operators approve"
// writes both in one patch.
func (p *plans) testAtOnce() {
	const both = `{"metadata":{"annotations":{%q:%q}},"spec":{"approved":true}}`
	for check, seen := range checks {
		if check == "" {
			continue
		}
		plan := p.plan(false, "")
		refused(p.Cluster, fmt.Sprintf("approved with the annotation %q", check), patch(p.Cluster, plan, fmt.Sprintf(both, operator.CheckedAnnotation, check)), says(plan, seen))
	}
	plan := p.plan(false, "Missing "+digest+" "+noon)
	refused(p.Cluster, "overridden and approved", patch(p.Cluster, plan, fmt.Sprintf(both, operator.CheckedAnnotation, "Overridden "+digest+" "+noon)), "")
	plan = p.plan(false, "Satisfied "+digest+" "+noon)
	refused(p.Cluster, "approved, and the annotation taken away", patch(p.Cluster, plan, `{"metadata":{"annotations":null},"spec":{"approved":true}}`), says(plan, "its permissions were not checked"))
	plan = p.plan(false, "")
	approved := plan.DeepCopy()
	approved.Object["spec"].(map[string]any)["approved"] = true
	refused(p.Cluster, "approved by kubectl replace", p.Update(p.Context(), approved), says(plan, "its permissions were not checked"))
}

// testOtherWrites: nothing but approving is refused, and no plan that is created approved, as those
// of Subscriptions that are approved automatically.
func (p *plans) testOtherWrites() {
	const label = `{"metadata":{"labels":{"a":"b"}}}`
	approved, waiting := p.plan(true, ""), p.plan(false, "")
	for name, err := range map[string]error{
		"a label of an approved plan":      patch(p.Cluster, approved, label),
		"a label of a waiting plan":        patch(p.Cluster, waiting, label),
		"approving what is approved":       patch(p.Cluster, approved, approve),
		"Missing at a waiting plan":        patch(p.Cluster, waiting, fmt.Sprintf(`{"metadata":{"annotations":{%q:"Missing - x"}}}`, operator.CheckedAnnotation)),
		"the status of an approved plan":   p.Status().Patch(p.Context(), approved, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Installing","catalogSources":[],"bundleLookups":[]}}`))),
		"taking the approval back":         patch(p.Cluster, approved, `{"spec":{"approved":false}}`),
		"deleting a plan that is waiting":  p.Delete(p.Context(), waiting),
		"deleting a plan that is approved": p.Delete(p.Context(), approved),
	} {
		refused(p.Cluster, name, err, "")
	}
}
