package ready

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// deployment has of two replicas so many available.
func deployment(name string, available int32) appsv1.Deployment {
	role := corev1.EnvVar{Name: "AWS_ROLE_ARN", ValueFrom: &corev1.EnvVarSource{
		ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "roleARN"},
	}}
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: name, Generation: 3},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"b": "2", "a": "1"}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "operator", Env: []corev1.EnvVar{role}}}}},
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: available},
	}
}

func hooks(bundles ...string) *admissionv1.MutatingWebhookConfiguration {
	out := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"}}
	for _, bundle := range bundles {
		out.Webhooks = append(out.Webhooks, admissionv1.MutatingWebhook{ClientConfig: admissionv1.WebhookClientConfig{CABundle: []byte(bundle)}})
	}
	return out
}

// pod is one that was made at a second.
func pod(name string, made int64, labels map[string]string, states ...func(*corev1.Pod)) corev1.Pod {
	out := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: name, Labels: labels, CreationTimestamp: metav1.Unix(made, 0)}}
	for _, state := range states {
		state(&out)
	}
	return out
}

func waits(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "operator", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	}
}

func runs(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func ends(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Unix(9, 0)) }

func homeless(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"}}
}

func TestWhatIsMissing(t *testing.T) {
	stale, halfway, none := deployment("stale", 2), deployment("halfway", 2), deployment("none", 0)
	stale.Status.ObservedGeneration = 2
	halfway.Status.UpdatedReplicas = 1
	none.Spec.Replicas = new(int32(0))
	without := deployment("tabard-hub", 0)
	without.Spec.Template.Spec.Containers[0].Env = nil
	none.Status.UpdatedReplicas, none.Status.Replicas = 0, 0
	surge := deployment("surge", 2)
	surge.Spec.Replicas, surge.Status.Replicas, surge.Status.UpdatedReplicas, surge.Status.AvailableReplicas = new(int32(1)), 2, 1, 1
	refused := deployment("refused", 0)
	refused.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota: small"}}
	selected := map[string]string{"a": "1", "b": "2"}
	for name, c := range map[string]struct {
		seen Seen
		want []string
	}{
		"all is ready":                              {seen: Seen{Deployments: []appsv1.Deployment{deployment("x", 2)}, Hooks: hooks("ca", "ca")}},
		"without a webhook":                         {seen: Seen{Deployments: []appsv1.Deployment{deployment("x", 2)}}},
		"scaled to none":                            {seen: Seen{Deployments: []appsv1.Deployment{none}}},
		"a replica is missing":                      {Seen{Deployments: []appsv1.Deployment{deployment("x", 1)}}, []string{"tabard-system/x has 1 of 2 replicas available: kubectl describe pods -n tabard-system -l a=1,b=2"}},
		"the change is not seen yet":                {Seen{Deployments: []appsv1.Deployment{stale}}, []string{"tabard-system/stale has"}},
		"the old replicas are still there":          {Seen{Deployments: []appsv1.Deployment{halfway}}, []string{"tabard-system/halfway is being rolled out, and 1 of its pods"}},
		"the issuer waits for its role":             {Seen{Deployments: []appsv1.Deployment{deployment("tabard-issuer", 0)}}, []string{"tabard issuer bootstrap"}},
		"the issuer has a role and no pod":          {Seen{Deployments: []appsv1.Deployment{deployment("tabard-issuer", 0)}, Told: map[string]bool{"tabard-issuer": true}}, []string{"0 of 2 replicas"}},
		"credentials wait, the issuer is all right": {Seen{Deployments: []appsv1.Deployment{deployment("tabard-issuer", 2), deployment("tabard-credentials", 0)}, Told: map[string]bool{"tabard-issuer": true}}, []string{"tabard credentials bootstrap"}},
		"the hub's controller waits for its role":   {Seen{Deployments: []appsv1.Deployment{deployment("tabard-hub", 0)}}, []string{"tabard hub bootstrap"}},
		"the hub's controller needs no role":        {Seen{Deployments: []appsv1.Deployment{without}}, []string{"0 of 2 replicas"}},
		"the version before runs on":                {Seen{Deployments: []appsv1.Deployment{surge}}, []string{"is being rolled out, and 1 of its pods are of an earlier version: kubectl describe"}},
		"its image cannot be pulled":                {Seen{Deployments: []appsv1.Deployment{surge}, Pods: []corev1.Pod{pod("new", 2, selected, waits("ErrImagePull", "no\nsuch image")), pod("old", 1, selected, runs)}}, []string{"1 of its pods are of an earlier version; the container operator of the pod new waits: ErrImagePull no such image"}},
		"of two pods the newer is asked":            {Seen{Deployments: []appsv1.Deployment{deployment("x", 0)}, Pods: []corev1.Pod{pod("old", 1, selected, waits("CrashLoopBackOff", "")), pod("new", 2, selected, waits("ErrImagePull", ""))}}, []string{"pod new waits: ErrImagePull"}},
		"pods of others say nothing":                {Seen{Deployments: []appsv1.Deployment{deployment("x", 0)}, Pods: []corev1.Pod{pod("other", 1, map[string]string{"a": "1"}, waits("ErrImagePull", ""))}}, []string{"0 of 2 replicas available: kubectl describe"}},
		"a pod that begins says nothing":            {Seen{Deployments: []appsv1.Deployment{deployment("x", 0)}, Pods: []corev1.Pod{pod("new", 1, selected, waits("ContainerCreating", ""))}}, []string{"0 of 2 replicas available: kubectl describe"}},
		"a pod that ends says nothing":              {Seen{Deployments: []appsv1.Deployment{deployment("x", 0)}, Pods: []corev1.Pod{pod("new", 1, selected, waits("ErrImagePull", ""), ends)}}, []string{"0 of 2 replicas available: kubectl describe"}},
		"there is no room":                          {Seen{Deployments: []appsv1.Deployment{deployment("x", 0)}, Pods: []corev1.Pod{pod("new", 1, selected, homeless)}}, []string{"the pod new has no node: Unschedulable: 0/3 nodes"}},
		"its pods are refused":                      {Seen{Deployments: []appsv1.Deployment{refused}}, []string{"its pods cannot be made: exceeded quota: small"}},
		"the issuer has neither role nor image":     {Seen{Deployments: []appsv1.Deployment{deployment("tabard-issuer", 0)}, Pods: []corev1.Pod{pod("new", 1, selected, waits("ImagePullBackOff", ""))}}, []string{"ImagePullBackOff"}},
		"the issuer lacks its role's ConfigMap":     {Seen{Deployments: []appsv1.Deployment{deployment("tabard-issuer", 0)}, Pods: []corev1.Pod{pod("new", 1, selected, waits(lacksConfig, ""))}}, []string{"tabard issuer bootstrap"}},
		"one hook without a CA":                     {Seen{Deployments: []appsv1.Deployment{deployment("x", 2)}, Hooks: hooks("ca", "")}, []string{"no CA yet"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := missing(c.seen)
			if len(got) != len(c.want) {
				t.Fatalf("missing are %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.Contains(got[i], c.want[i]) {
					t.Errorf("missing is %q, want %q", got[i], c.want[i])
				}
			}
		})
	}
}

func TestTheCommandEndsAsItSays(t *testing.T) {
	for name, c := range map[string]struct {
		seen Seen
		err  error
		code int
		says string
		as   string
	}{
		"ready, for programs":     {seen: Seen{Deployments: []appsv1.Deployment{deployment("a", 2)}}, as: "jsonpath={.kind},{.ready},{.deployments}", says: `Readiness,true,["tabard-system/a"]`},
		"not ready, for programs": {seen: Seen{Deployments: []appsv1.Deployment{deployment("a", 0)}}, as: "jsonpath={.ready} {.waitsFor[0]}", code: 1, says: "false Deployment tabard-system/a has 0 of 2 replicas"},
		"the names":               {seen: Seen{Deployments: []appsv1.Deployment{deployment("b", 2), deployment("a", 2)}}, as: "name", says: "deployment.apps/a\ndeployment.apps/b\n"},
		"another format":          {as: "wide", code: 2, says: "expected table, json, yaml, name or jsonpath=TEMPLATE"},
		"ready":                   {seen: Seen{Deployments: []appsv1.Deployment{deployment("b", 2), deployment("a", 2)}}, says: "ready: a, b\n"},
		"not ready":               {seen: Seen{Deployments: []appsv1.Deployment{deployment("a", 0)}}, code: 1, says: "not ready after 0s"},
		"nothing installed":       {code: 2, says: "docs/install.md"},
		"no cluster":              {err: errors.New("no route to host"), code: 2, says: "no route to host"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.as == "" {
				c.as = "table"
			}
			var out strings.Builder
			command := New(command.Streams{Out: &out, Err: &out}, func(context.Context, *command.Kubeconfig, []string) (Seen, error) { return c.seen, c.err })
			command.SetArgs([]string{"--timeout=0s", "-o", c.as})
			command.SilenceErrors, command.SilenceUsage = true, true
			if got := codeOf(command.Execute()); got != c.code || !strings.Contains(out.String(), c.says) {
				t.Errorf("exit code %d and %q, want %d (-want +got):\n%s", got, &out, c.code, cmp.Diff(c.says, out.String()))
			}
		})
	}
}

func codeOf(err error) int {
	if exit, ok := errors.AsType[*command.Exit](err); ok {
		return exit.Code
	}
	return 0
}
