package webhook

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTheHooksOfAllClouds fail as they say while the webhook is down, and give a
// pod the identities of three clouds by a process that was told of them by flags.
func TestTheHooksOfAllClouds(t *testing.T) {
	c := newCluster(t, shared(t), "clouds/webhook-all.yaml")
	c.putCertificate(time.Now())
	c.makeAccounts()
	c.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.vault, Name: "all", Annotations: map[string]string{
		"eks.amazonaws.com/role-arn":                  roleAnnotated,
		"azure.workload.identity/client-id":           "11111111-0000-0000-0000-000000000000",
		"cloud.google.com/workload-identity-provider": "projects/123456/locations/global/workloadIdentityPools/tabard/providers/cluster",
	}}})
	askForAzure := map[string]string{"azure.workload.identity/use": "true"}
	notAWS := map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}

	c.expectPod(t, c.shop, "nobody", nil, "")
	c.expectPod(t, c.shop, "nobody", askForAzure, `failed calling webhook "azure.pod-identity.tabard.dev"`)
	c.expectPod(t, c.vault, "nobody", nil, `failed calling webhook "required.pod-identity.tabard.dev"`)
	c.expectPod(t, c.vault, "nobody", notAWS, `failed calling webhook "required.pod-identity.tabard.dev"`)

	c.awaitReady(c.replica("webhook", "--clouds=aws,azure,gcp", "--azure-tenant-id=22222222-0000-0000-0000-000000000000"))
	c.expectPod(t, c.shop, "nobody", nil, "")
	c.expectPod(t, c.shop, "ghost", askForAzure, `there is no ServiceAccount "ghost"`)
	c.expectPod(t, c.vault, "nobody", nil, "")
	c.expectPod(t, c.vault, "ghost", notAWS, "ServiceAccount "+c.vault+"/ghost does not exist")
	variables := map[string]bool{}
	for _, one := range c.expectPod(t, c.vault, "all", askForAzure, "").Spec.Containers[0].Env {
		variables[one.Name] = true
	}
	for _, name := range []string{"AWS_ROLE_ARN", "AZURE_CLIENT_ID", "AZURE_TENANT_ID", "GOOGLE_APPLICATION_CREDENTIALS"} {
		if !variables[name] {
			t.Errorf("a pod with three identities has no %s", name)
		}
	}
}

// expectPod creates a pod, which is refused for a reason, or not if that is empty.
func (c *cluster) expectPod(t *testing.T, namespace, account string, labels map[string]string, refusal string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: account + "-", Labels: labels},
		Spec:       corev1.PodSpec{ServiceAccountName: account, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
	}
	err := c.Create(t.Context(), pod)
	if (err != nil) != (refusal != "") || err != nil && !strings.Contains(err.Error(), refusal) {
		t.Errorf("a pod of %s/%s labelled %v: error %v, want %q", namespace, account, labels, err, refusal)
	}
	return pod
}
