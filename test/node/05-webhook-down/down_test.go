// Package down proves what becomes of pods that are created while the webhook is
// down: where injection is required they are refused, elsewhere they start, and the
// operator tells of them.
package down

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/test/node/bed"
)

// system is Tabard's own namespace.
const system = "tabard-system"

// soon is the bound within which the operator reports a pod that was let through. It
// is what users are promised, so that it is asserted.
const soon = time.Minute

func TestNodePodsWithoutTheWebhook(t *testing.T) {
	b := bed.Open(t)
	b.LoadWorkload()
	open := b.Team("team-open", nil)
	strict := b.Team("team-strict", map[string]string{"tabard.dev/injection": "required"})
	b.Kubectl("scale", "-n", system, "deployment/tabard-webhook", "--replicas=0")
	b.Kubectl("wait", "-n", system, "pods", "-l", "app.kubernetes.io/component=webhook", "--for=delete", "--timeout=180s")

	b.Apply("team-strict", "deployment.yaml", strict)
	b.Apply("team-open", "deployment.yaml", open)
	isRefused(t, b)
	pod := isLetThrough(t, b)
	note := isReported(t, b, pod)

	b.Kubectl("scale", "-n", system, "deployment/tabard-webhook", "--replicas=2")
	b.Kubectl("rollout", "status", "-n", system, "deployment/tabard-webhook", "--timeout=180s")
	// The API server learns a moment later than kubectl where the webhook is.
	b.Eventually("the API server reaches the webhook again", func(ctx context.Context) error {
		pod, err := b.Lab.Kubectl(ctx, "run", "asked", "-n", "team-open", "--image="+bed.WorkloadImage, "--dry-run=server", "-o", "yaml",
			"--overrides", `{"spec":{"serviceAccountName":"app"}}`)
		if err == nil && !strings.Contains(pod, "AWS_ROLE_ARN") {
			err = errors.New("a pod would be without its identity")
		}
		return err
	})
	_, command, _ := strings.Cut(note, "recreate the pod: kubectl ")
	if want := "-n team-open rollout restart deployment/app"; command != want {
		t.Fatalf("the event tells to type kubectl %q, want %q", command, want)
	}
	b.Kubectl(strings.Fields(command)...)
	b.Kubectl("rollout", "status", "-n", "team-open", "deployment/app", "--timeout=180s")
	for namespace, role := range map[string]bed.Role{"team-open": open, "team-strict": strict} {
		caller := b.Answer(b.AwaitLine(namespace, "deployment/app", "whoami", `"arn"`))["arn"]
		if want := "arn:aws:sts::" + b.Account + ":assumed-role/" + role.Name + "/"; !strings.HasPrefix(caller, want) {
			t.Errorf("%s: the caller is %s, want %s…", namespace, caller, want)
		}
	}
	b.Eventually("the metric is 0 again", func(ctx context.Context) error { return counts(ctx, b, 0) })
}

// isRefused sees what whoever creates a pod is told where injection is required, and
// what the Deployment is.
func isRefused(t *testing.T, b *bed.Bed) {
	t.Helper()
	said, err := b.Lab.Kubectl(t.Context(), "run", "by-hand", "-n", "team-strict", "--image="+bed.WorkloadImage,
		"--overrides", `{"spec":{"serviceAccountName":"app"}}`)
	if err == nil {
		t.Fatalf("a pod was created where injection is required: %s", said)
	}
	t.Logf("where injection is required: %v", err)
	const hook = `failed calling webhook "required.pod-identity.tabard.dev"`
	if !strings.Contains(err.Error(), hook) {
		t.Errorf("the refusal is %v, want it to say %s", err, hook)
	}
	b.Eventually("the Deployment's ReplicaSet is told", func(ctx context.Context) error {
		events, err := b.Kube.CoreV1().Events("team-strict").List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
		if err != nil {
			return err
		}
		for _, each := range events.Items {
			if strings.Contains(each.Message, hook) {
				t.Logf("the event of %s/%s: %s", each.InvolvedObject.Kind, each.InvolvedObject.Name, each.Message)
				return nil
			}
		}
		return fmt.Errorf("%d events FailedCreate, none of the hook", len(events.Items))
	})
	pods, err := b.Kube.CoreV1().Pods("team-strict").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods are there, error %v; want none", len(pods.Items), err)
	}
}

// isLetThrough sees a pod start elsewhere, without identity.
func isLetThrough(t *testing.T, b *bed.Bed) corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	b.Eventually("the pod starts", func(ctx context.Context) error {
		pods, err := b.Kube.CoreV1().Pods("team-open").List(ctx, metav1.ListOptions{LabelSelector: "app=app"})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Status.Phase != corev1.PodRunning {
			return fmt.Errorf("there are %d pods, or it does not run", len(pods.Items))
		}
		pod = pods.Items[0]
		return nil
	})
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == "AWS_ROLE_ARN" {
			t.Errorf("the pod was injected: %+v", variable)
		}
	}
	return pod
}

// isReported waits for the event and the metric, and returns the event's note.
func isReported(t *testing.T, b *bed.Bed, pod corev1.Pod) (note string) {
	t.Helper()
	b.Eventually("the pod has an event", func(ctx context.Context) error {
		events, err := b.Kube.CoreV1().Events("team-open").List(ctx, metav1.ListOptions{FieldSelector: "reason=IdentityMissing"})
		if err != nil {
			return err
		}
		if len(events.Items) != 1 || events.Items[0].InvolvedObject.UID != pod.UID {
			return fmt.Errorf("the events IdentityMissing are %+v", events.Items)
		}
		note = events.Items[0].Message
		at := events.Items[0].EventTime.Sub(pod.CreationTimestamp.Time)
		t.Logf("the event came %.1f s after the pod was created: %s", at.Seconds(), note)
		if at > soon {
			t.Errorf("the event came after %s, want at most %s", at, soon)
		}
		return nil
	})
	b.Eventually("the metric counts it", func(ctx context.Context) error { return counts(ctx, b, 1) })
	took := time.Since(pod.CreationTimestamp.Time)
	t.Logf("event and metric were seen %.1f s after the pod was created", took.Seconds())
	if took > soon {
		t.Errorf("event and metric were seen after %s, want at most %s", took, soon)
	}
	return note
}

var series = regexp.MustCompile(`(?m)^tabard_injection_pods_without_identity\{namespace="team-open"\} (\d+)$`)

// counts asks the operator for its metric.
func counts(ctx context.Context, b *bed.Bed, want int) error {
	pods, err := b.Kube.CoreV1().Pods(system).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=operator"})
	if err != nil {
		return err
	}
	if len(pods.Items) != 1 {
		return fmt.Errorf("there are %d operators", len(pods.Items))
	}
	text, err := b.Lab.Kubectl(ctx, "get", "--raw", "/api/v1/namespaces/"+system+"/pods/"+pods.Items[0].Name+":8080/proxy/metrics")
	if err != nil {
		return err
	}
	found := series.FindStringSubmatch(text)
	if found == nil || found[1] != fmt.Sprint(want) {
		return fmt.Errorf("the metric is %q, want %d pods", found, want)
	}
	return nil
}
