package webhook

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNoPodSkipsWhatIsRequired: by its label a pod leaves itself out only where the
// namespace allows that as well. The API server sees to it, also while the webhook is
// down.
func TestNoPodSkipsWhatIsRequired(t *testing.T) {
	c := startCluster(t)
	c.putCertificate(time.Now())
	c.makeAccounts()
	said := c.hearWarnings()
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.lenient, Labels: map[string]string{"tabard.dev/injection": "required", "tabard.dev/injection-skip": "allowed"}}})
	for _, name := range []string{"annotated", "plain"} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.lenient, Name: name}}
		if name == "annotated" {
			account.Annotations = map[string]string{"eks.amazonaws.com/role-arn": roleAnnotated}
		}
		c.create(account)
	}
	skip := map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": ""}

	c.expectPod(t, c.vault, "annotated", skip, `failed calling webhook "required.pod-identity.tabard.dev"`)
	c.expectPod(t, c.lenient, "annotated", nil, `failed calling webhook "skippable.required.pod-identity.tabard.dev"`)
	c.expectPod(t, c.lenient, "annotated", skip, "")
	c.expectPod(t, c.shop, "annotated", skip, "")

	c.awaitReady(c.replica("webhook"))
	for namespace, want := range map[string]int{c.vault: 2, c.lenient: 0, c.shop: 0} {
		said.take()
		if got := c.expectPod(t, namespace, "annotated", skip, "").Spec.Containers[0].Env; len(got) != want {
			t.Errorf("a pod that skips in %s has the variables %v, want %d", namespace, got, want)
		}
		heard := strings.Join(said.take(), "\n")
		if strings.Contains(heard, "kubectl label namespace "+c.vault+" tabard.dev/injection-skip=allowed") != (want > 0) {
			t.Errorf("with a pod that skips in %s come the warnings %q", namespace, heard)
		}
	}
	if got := c.expectPod(t, c.lenient, "annotated", nil, "").Spec.Containers[0].Env; len(got) != 2 {
		t.Errorf("a pod that does not skip has the variables %v", got)
	}
}
