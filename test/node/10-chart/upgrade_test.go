package chart

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

const (
	// running are pods that run before, during and after the upgrade.
	running = 80
	// during are those that are made meanwhile, half of them where a pod without its identity is refused.
	during = 120
)

// TestNodeTwoHundredPodsKeepTheirIdentityThroughTheUpgrade begins with the first manifests of all,
// with the certificate's Secret and the CA in the hooks, and lets the chart take them over.
func TestNodeTwoHundredPodsKeepTheirIdentityThroughTheUpgrade(t *testing.T) {
	b := bed.Bare(t)
	dir := checkout(t, b)
	first(t, b, dir)
	b.LoadWorkload()
	role := b.Team(team, nil)
	b.Team("strict", map[string]string{"tabard.dev/injection": "required"})
	began := time.Now()
	b.Apply(team, "many.yaml", role)
	b.Kubectl("rollout", "status", "deployment/many", "-n", team, "--timeout=400s")
	b.Since(began, fmt.Sprintf("until %d pods run", running))
	before := podsOf(t, b, team)

	upgraded, made := make(chan struct{}), make(chan []error, 1)
	go func() { made <- makePods(t.Context(), b, upgraded) }()
	began = time.Now()
	b.Shell(dir, `helm upgrade --install tabard charts/tabard --namespace tabard-system --take-ownership --wait --timeout 5m
		until kubectl get mutatingwebhookconfiguration tabard-webhook -o jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d | grep -c BEGIN | grep -q 2; do sleep 1; done`)
	b.Since(began, "the upgrade")
	close(upgraded)
	for _, err := range <-made {
		t.Errorf("a pod is refused: %v", err)
	}
	kept(t, b, before, role)
	for _, namespace := range []string{team, "strict"} {
		for _, pod := range podsOf(t, b, namespace) {
			if !slices.ContainsFunc(pod.Spec.Containers[0].Env, func(v corev1.EnvVar) bool { return v.Name == "AWS_ROLE_ARN" && v.Value != "" }) {
				t.Errorf("the pod %s/%s, made %s, is without its identity", namespace, pod.Name, pod.CreationTimestamp)
			}
		}
	}
}

// first installs the first manifests, with what their controller had made by then. Its program
// does not run: the one of today would do today's work with the rights of then.
func first(t *testing.T, b *bed.Bed, dir string) {
	t.Helper()
	b.Kubectl("apply", "-f", filepath.Join(b.Root, "test/chart/testdata/first.yaml"))
	b.Shell(dir, `
		kubectl scale deployment tabard-operator tabard-capacity -n tabard-system --replicas=0
		kubectl apply -n tabard-system -f "$LAB/manifests/aws.yaml"
		tabard issuer init
		tabard issuer bootstrap -f issuer.yaml
		kubectl patch deployment tabard-issuer -n tabard-system --patch-file "$LAB/manifests/issuer-patch.yaml"`)
	const service = "tabard-webhook.tabard-system.svc"
	data := must.Get(certificate.Apply(certificate.IssueAll{Names: certificate.Names(service)}, nil, time.Now(), rand.Reader))(t)
	secret := &corev1.Secret{Type: corev1.SecretTypeTLS, Data: data, ObjectMeta: metav1.ObjectMeta{
		Namespace: "tabard-system", Name: "tabard-webhook-cert", Labels: map[string]string{certificate.MarkLabel: certificate.MarkValue},
	}}
	must.Get(b.Kube.CoreV1().Secrets(secret.Namespace).Create(t.Context(), secret, metav1.CreateOptions{}))(t)
	api := b.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	hooks := must.Get(api.Get(t.Context(), "tabard-webhook", metav1.GetOptions{}))(t)
	for i := range hooks.Webhooks {
		hooks.Webhooks[i].ClientConfig.CABundle = data["ca.crt"]
	}
	must.Get(api.Update(t.Context(), hooks, metav1.UpdateOptions{}))(t)
	b.Kubectl("rollout", "status", "deployment/tabard-webhook", "-n", "tabard-system", "--timeout=180s")
}

// makePods makes pods, faster at first, until all are made and the upgrade is over. No node may
// run them, so that they take no place of Tabard's.
func makePods(ctx context.Context, b *bed.Bed, upgraded <-chan struct{}) (refused []error) {
	over, pause := false, 100*time.Millisecond
	for i := 0; i < during || !over; i++ {
		select {
		case <-upgraded:
			over = true
		case <-time.After(pause):
		}
		if i == during {
			pause = time.Second
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("meanwhile-%d", i)}, Spec: corev1.PodSpec{
			ServiceAccountName: "app", NodeSelector: map[string]string{"node": "none"},
			Containers: []corev1.Container{{Name: "app", Image: "localhost/keyless-pod:1"}},
		}}
		if _, err := b.Kube.CoreV1().Pods([]string{team, "strict"}[i%2]).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			refused = append(refused, err)
		}
	}
	return refused
}

// kept demands that the pods of before run on, each with calls to AWS that succeed.
func kept(t *testing.T, b *bed.Bed, before []corev1.Pod, role bed.Role) {
	t.Helper()
	after := map[string]corev1.Pod{}
	for _, pod := range podsOf(t, b, team) {
		after[string(pod.UID)] = pod
	}
	if len(before) != running {
		t.Fatalf("%d pods ran before, want %d", len(before), running)
	}
	for _, pod := range before {
		now, there := after[string(pod.UID)]
		if !there || now.Status.Phase != corev1.PodRunning || now.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("the pod %s does not run on: %s", pod.Name, now.Status.Phase)
		}
	}
	seen := len(b.Calls(role))
	b.Eventually("the pods go on calling AWS", func(context.Context) error {
		sessions := map[string]bool{}
		for _, call := range b.Calls(role)[seen:] {
			sessions[call.Caller] = true
		}
		if len(sessions) < running {
			return errors.New(fmt.Sprint(len(sessions), " of them"))
		}
		return nil
	})
	b.SaysNothingBut(team, "deployment/many", "app", wrote)
}

// podsOf are those of a namespace.
func podsOf(t *testing.T, b *bed.Bed, namespace string) []corev1.Pod {
	t.Helper()
	return must.Get(b.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{}))(t).Items
}
