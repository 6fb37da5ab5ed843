package rights

import (
	"context"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit"
)

const (
	installPlans = "tabard-operators-plans"
	olmVersion   = "operators.coreos.com/v1alpha1"
	// digest is that of what a plan's operators ask for.
	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

var (
	thePlan        = reference(olmVersion, "InstallPlan", "default", "install-a")
	checkedPlan    = reference(olmVersion, "InstallPlan", "default", "install-b")
	overriddenPlan = reference(olmVersion, "InstallPlan", "default", "install-c")
)

// noted is a patch of the controller's annotation, with more of the object.
func noted(text, more string) string {
	return `{"metadata":{"annotations":{"` + operator.CheckedAnnotation + `":"` + text + `"}}` + more + `}`
}

const missing, satisfied = "Missing " + digest + " 2026-01-31T12:00:00Z", "Satisfied " + digest + " 2026-01-31T12:00:00Z"

// byOperators are the attacks of somebody who has taken the controller operators.
var byOperators = map[string]attack{
	"its annotation, its work":                 {merge(thePlan, noted(missing, "")), ""},
	"its annotation written anew, its work":    {merge(checkedPlan, noted(satisfied, "")), ""},
	"a verdict without a digest, its work":     {merge(thePlan, noted("Unknown - 2026-01-31T12:00:00Z", "")), ""},
	"the Subscriptions, its work":              {listing(olmVersion, "Subscription", ""), ""},
	"the approval":                             {merge(thePlan, `{"spec":{"approved":true}}`), installPlans},
	"the approval beside its annotation":       {merge(thePlan, noted(satisfied, `,"spec":{"approved":true}`)), installPlans},
	"other versions":                           {merge(thePlan, noted(satisfied, `,"spec":{"clusterServiceVersionNames":["b.v1"]}`)), installPlans},
	"a check that is overridden":               {merge(thePlan, noted("Overridden - 2026-01-31T12:00:00Z", "")), installPlans},
	"what a person has overridden":             {merge(overriddenPlan, noted(missing, "")), installPlans},
	"what a person has overridden, taken away": {merge(overriddenPlan, `{"metadata":{"annotations":{"`+operator.CheckedAnnotation+`":null}}}`), installPlans},
	"a label":            {merge(thePlan, `{"metadata":{"labels":{"a":"b"}}}`), installPlans},
	"another annotation": {merge(thePlan, `{"metadata":{"annotations":{"note":"y"}}}`), installPlans},
	"an annotation less": {merge(thePlan, `{"metadata":{"annotations":{"note":null,"`+operator.CheckedAnnotation+`":"`+missing+`"}}}`), installPlans},
	"an owner, with which it is deleted": {merge(thePlan, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}],
		"annotations":{"`+operator.CheckedAnnotation+`":"`+missing+`"}}}`), installPlans},
	"a finalizer": {merge(thePlan, `{"metadata":{"finalizers":["example.com/stay"],"annotations":{"`+operator.CheckedAnnotation+`":"`+missing+`"}}}`), installPlans},
	"the status": {func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, thePlan(), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Installing"}}`)))
	}, "rbac"},
	"a plan made":                       {create(func() client.Object { o := thePlan(); o.SetName("new"); return o }), "rbac"},
	"a plan deleted":                    {remove(thePlan), "rbac"},
	"a Subscription":                    {create(reference(olmVersion, "Subscription", "default", "new")), "rbac"},
	"a ConfigMap":                       {listing("v1", "ConfigMap", "default"), "rbac"},
	"a Secret":                          {listing("v1", "Secret", "default"), "rbac"},
	"its own policy":                    {remove(func() client.Object { return policy(installPlans) }), "rbac"},
	"the ConfigMap that tells its role": {merge(reference("v1", "ConfigMap", "tabard-system", "tabard-operators"), `{"data":{"AWS_ROLE_ARN":"arn:x"}}`), "rbac"},
}

// preparePlans makes plans that wait: one that nobody has checked, one that the controller has, and
// one of which a person has overridden the check.
func (w world) preparePlans() {
	w.Helper()
	for name, annotation := range map[string]string{"install-a": "", "install-b": missing, "install-c": "Overridden - 2026-01-31T12:00:00Z"} {
		annotations := map[string]any{"note": "x"}
		if annotation != "" {
			annotations[operator.CheckedAnnotation] = annotation
		}
		w.Make(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": olmVersion, "kind": "InstallPlan", "metadata": map[string]any{"namespace": "default", "name": name, "annotations": annotations},
			"spec": map[string]any{"approval": "Manual", "approved": false, "clusterServiceVersionNames": []any{"a.v1"}},
		}})
	}
}

// TestTheControllerOfInstallPlansIsHeld tries every attack, and what the account is there for.
func TestTheControllerOfInstallPlansIsHeld(t *testing.T) {
	w := install(t)
	testkit.AwaitRights(t, w.Config, "system:serviceaccount:tabard-system:tabard-operators", "default",
		rbacv1.PolicyRule{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"installplans"}, Verbs: []string{"patch"}})
	w.try(client.NewDryRunClient(w.as("tabard-system", "tabard-operators")), byOperators)
}
