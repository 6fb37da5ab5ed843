package olm

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var reviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}

// Right is one of the person's.
type Right struct {
	verb      string
	of        schema.GroupVersionResource
	namespace string
}

// Approves is the right to approve InstallPlans of a namespace.
func Approves(namespace string) Right { return Right{"patch", plans, namespace} }

// SetsValues is the right to change Subscriptions of a namespace.
func SetsValues(namespace string) Right { return Right{"update", subscriptions, namespace} }

// Creates are the rights to make objects.
func Creates(all []*unstructured.Unstructured) (out []Right) {
	for _, one := range all {
		out = append(out, Right{"create", resource(one), one.GetNamespace()})
	}
	return out
}

// String says the right.
func (r Right) String() string {
	text := r.verb + " " + r.of.GroupResource().String()
	if r.namespace != "" {
		text += " in the namespace " + r.namespace
	}
	return text
}

// Grant is the command that makes a role with the right.
func (r Right) Grant() string {
	kind, where := "clusterrole", ""
	if r.namespace != "" {
		kind, where = "role", " -n "+r.namespace
	}
	return fmt.Sprintf("kubectl create %s tabard-operators-%s-%s%s --verb=%s --resource=%s", kind, r.verb, r.of.Resource, where, r.verb, r.of.GroupResource())
}

// Lacks are those rights that the person does not have. The API server is asked, which says so of
// anybody (https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access).
func (c Client) Lacks(ctx context.Context, all ...Right) (out []Right, err error) {
	for _, right := range all {
		review := object(reviews.GroupVersion().String(), "SelfSubjectAccessReview", "", "", map[string]any{"resourceAttributes": map[string]any{
			"verb": right.verb, "group": right.of.Group, "version": right.of.Version, "resource": right.of.Resource, "namespace": right.namespace,
		}})
		answer, err := c.Objects.Resource(reviews).Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("ask whether you may %s: %w", right, err)
		}
		if allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed"); !allowed {
			out = append(out, right)
		}
	}
	return out, nil
}
