// Package clouds proves that a container whose user is not root reads the token of each
// cloud that its pod has an identity at.
package clouds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

// team is the namespace of the pods.
const team = "clouds"

// reader is the program that runs in the pods.
var reader string

func TestMain(m *testing.M) { os.Exit(testkit.RunWithProgram(m, "./token-reader", &reader)) }

func TestNodeUsersThatAreNotRootReadTheTokenOfEachCloud(t *testing.T) {
	b := bed.Open(t)
	b.LoadProgram(reader)
	serveAllClouds(t, b)
	b.Kubectl("apply", "-n", team, "-f", "pods.yaml")
	for pod, user := range map[string]string{"image-user": "65532", "one-user": "1000", "one-group": "65532"} {
		t.Run(pod, func(t *testing.T) {
			b := b.For(t)
			got := b.Answer(b.AwaitLine(team, "pod/"+pod, "app", `"user"`))
			want := map[string]string{"user": user, "aws": "sts.amazonaws.com", "azure": "api://AzureADTokenExchange", "gcp": "sts.googleapis.com"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\nit said %q", diff, must.Get(b.Said(t.Context(), team, "pod/"+pod, "app"))(t))
			}
		})
	}
}

// serveAllClouds has the webhook serve them by its manifest, and waits until the API
// server asks it for each.
func serveAllClouds(t *testing.T, b *bed.Bed) {
	t.Helper()
	b.Kubectl("create", "namespace", team)
	b.Kubectl("create", "configmap", "-n", "tabard-system", "tabard-webhook-azure", "--from-literal=AZURE_TENANT_ID=22222222-0000-0000-0000-000000000000")
	b.Kubectl("apply", "-f", filepath.Join(b.Root, "config", "manifests", "clouds", "webhook-all.yaml"))
	b.Kubectl("rollout", "status", "-n", "tabard-system", "deployment/tabard-webhook", "--timeout=180s")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "probe", Annotations: map[string]string{
		"eks.amazonaws.com/role-arn":                  "arn:aws:iam::111122223333:role/app",
		"azure.workload.identity/client-id":           "11111111-0000-0000-0000-000000000000",
		"cloud.google.com/workload-identity-provider": "projects/123456/locations/global/workloadIdentityPools/clusters/providers/this-one",
	}}}
	must.Get(b.Kube.CoreV1().ServiceAccounts(team).Create(t.Context(), account, metav1.CreateOptions{}))(t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Labels: map[string]string{"azure.workload.identity/use": "true"}},
		Spec:       corev1.PodSpec{ServiceAccountName: account.Name, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
	}
	b.Eventually("the webhook is asked for each cloud", func(ctx context.Context) error {
		made, err := b.Kube.CoreV1().Pods(team).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if got := len(made.Spec.Containers[0].VolumeMounts); got != 5 { // AWS's, Azure's, two of Google's, Kubernetes' own
			return fmt.Errorf("the pod has %d mounts, want 5", got)
		}
		return nil
	})
}
