package webhook_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// followConfigMap changes the config map, and waits each time until pods of one
// ServiceAccount without annotations get what it says.
func followConfigMap(t *testing.T, cluster client.Client) {
	t.Helper()
	const named, wide, labelled = "arn:aws:iam::111122223333:role/named", "arn:aws:iam::111122223333:role/wide", "arn:aws:iam::111122223333:role/labelled"
	binding := func(selector, label string) string {
		return fmt.Sprintf(`{"tabard.dev/bindings":{"items":[{%q:{"matchLabels":{%q:"shop"}},"RoleARN":%q}]}}`, selector, label, labelled)
	}
	create(t, cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "shop"}}})
	create(t, cluster, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bare", Labels: map[string]string{"app": "shop"}}})
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "pod-identity-webhook"}}
	create(t, cluster, config)
	for _, change := range []struct{ text, want string }{
		{`{"*/bare":{"RoleARN":"` + wide + `"}}`, wide},
		{`{"shop/bare":{"RoleARN":"` + named + `"},"*/bare":{"RoleARN":"` + wide + `"}}`, named},
		{`{}`, ""},
		{binding("namespaceSelector", "team"), labelled},
		{`{}`, ""},
		{binding("serviceAccountSelector", "app"), labelled},
		{binding("serviceAccountSelector", "other"), ""},
	} {
		config.Data = map[string]string{"config": change.text}
		must.Do(t, cluster.Update(t.Context(), config))
		awaitRole(t, cluster, change.text, change.want)
	}
}

// awaitRole waits until pods of shop/bare get a role.
func awaitRole(t *testing.T, cluster client.Client, when, want string) {
	t.Helper()
	var got string
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		pod := podOf("bare")
		pod.Namespace = "shop"
		if err := cluster.Create(ctx, pod, client.DryRunAll); err != nil {
			return false, err
		}
		got = ""
		for _, variable := range pod.Spec.Containers[0].Env {
			if variable.Name == "AWS_ROLE_ARN" {
				got = variable.Value
			}
		}
		return got == want, nil
	})
	if err != nil {
		t.Fatalf("with %s a pod gets role %q, want %q: %v", when, got, want, err)
	}
}
