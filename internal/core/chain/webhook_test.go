package chain_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// step is what was found at the webhook.
func step(e chain.Evidence) chain.Step { return chain.Explain(e).Links[4] }

// TestANewPodIsAskedForWhereAnAnnotationAsks, with the labels of the pod; the one to skip the webhook
// stays with the pod.
func TestANewPodIsAskedForWhereAnAnnotationAsks(t *testing.T) {
	e := world()
	e.Pod.Value.Labels["eks.amazonaws.com/skip-pod-identity-webhook"] = ""
	pod := chain.NewPod(e)
	if pod == nil || len(pod.Labels) != 1 || pod.Labels["pod-template-hash"] != "6d9c" || pod.Spec.ServiceAccountName != "checkout" || pod.Namespace != "shop" {
		t.Fatalf("it is %+v", pod)
	}
	for name, change := range map[string]func(*chain.Evidence){
		"no annotation":         func(e *chain.Evidence) { e.Account.Value.Annotations = nil },
		"no ServiceAccount":     func(e *chain.Evidence) { e.Account.Value = nil },
		"one that was not read": func(e *chain.Evidence) { e.Account = chain.Seen[metav1.PartialObjectMetadata]{Unread: "forbidden"} },
		"no role":               func(e *chain.Evidence) { e.Account.Value.Annotations["eks.amazonaws.com/role-arn"] = "checkout" },
		"a pod of an agent": func(e *chain.Evidence) {
			app(e).Env = []corev1.EnvVar{{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23/v1/credentials"}}
		},
		"a pod that brings its token": func(e *chain.Evidence) {
			e.Pod.Value.Spec.Volumes[0].Name, app(e).VolumeMounts[0].Name = "mine", "mine"
		},
	} {
		e := copyOf(t, world())
		change(&e)
		if pod := chain.NewPod(e); pod != nil || step(e).State != chain.Unreached {
			t.Errorf("%s: %+v is asked for, and the link is %+v", name, pod, step(e))
		}
	}
}

// TestWhatANewPodTells, which may have a fault that the pod has not: it is for the next one. What is
// proved does not depend on who asks.
func TestWhatANewPodTells(t *testing.T) {
	for name, each := range map[string]struct {
		change func(*chain.Evidence)
		state  chain.State
		says   string
	}{
		"it was not asked for": {func(e *chain.Evidence) { e.NewPod.Value = nil }, chain.Unseen, "create pods in the namespace shop"},
		"a policy refuses it":  {func(e *chain.Evidence) { e.NewPod = chain.Seen[corev1.Pod]{Unread: "denied by policy", Needs: "x"} }, chain.Unseen, "denied by policy"},
		"another hook is down": {func(e *chain.Evidence) {
			e.NewPod = chain.Seen[corev1.Pod]{Unread: `failed calling webhook "mesh.example.com": x`, Needs: "x"}
		}, chain.Unseen, "mesh.example.com"},
		"an agent's credentials": {func(e *chain.Evidence) {
			e.NewPod.Value.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "x"}}
		}, chain.Unseen, "eks:ListPodIdentityAssociations"},
		"a role without a token": {func(e *chain.Evidence) {
			e.NewPod.Value.Spec.Containers[0].Env = e.NewPod.Value.Spec.Containers[0].Env[:1]
		}, chain.Broken, "L4-NO-ANSWER"},
		"only a path is the same": {silent(func(h *chain.Hook) { h.Configuration, h.Name = "vault", "vault.example.com" }), chain.Broken, "L4-NO-ANSWER likely"},
		"another hook is there":   {silent(func(h *chain.Hook) { h.Configuration, h.Name, h.Path = "mesh", "mesh.example.com", "/inject" }), chain.Broken, "L4-NO-WEBHOOK likely"},
		"no caBundle":             {silent(func(h *chain.Hook) { h.Bundle, h.Until = false, nil }), chain.Broken, "no caBundle"},
		"conditions":              {silent(func(h *chain.Hook) { h.Conditions = true }), chain.Broken, "matchConditions"},
		"a namespace that no label helps": {silent(func(h *chain.Hook) {
			h.Namespaces = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"shop"}}}}
		}), chain.Broken, "kubectl get mutatingwebhookconfiguration tabard-webhook -o yaml"},
		"labels that were not read may be any": {func(e *chain.Evidence) {
			silent(func(h *chain.Hook) { h.Namespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}} })(e)
			e.NamespaceLabels = chain.Seen[map[string]string]{Unread: "forbidden", Needs: "get namespaces"}
			app(e).Env, e.Pod.Value.Spec.Volumes = nil, nil
		}, chain.Broken, "L4-NO-ANSWER proved"},
		"without a pod, labels of pods are not known": {func(e *chain.Evidence) {
			silent(func(h *chain.Hook) { h.Objects = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}} })(e)
			e.Subject = chain.Subject{Namespace: "shop", Account: "checkout"}
		}, chain.Unseen, "tabard explain pod NAME -n shop"},
	} {
		e := copyOf(t, world())
		each.change(&e)
		e = copyOf(t, e)
		got := step(e)
		says := got.Text + got.Needs
		for _, f := range got.Findings {
			says += " " + string(f.Code) + " " + string(f.Certainty) + " " + strings.Join(f.Mend, " ") + f.Note
		}
		if got.State != each.state || !strings.Contains(says, each.says) {
			t.Errorf("%s: %s, want %s saying %q: %s", name, got.State, each.state, each.says, says)
		}
	}
}

// TestAPodThatFellThroughIsRestartedAfterTheWebhook: both findings are there, in that order, and where
// the webhook answers, the note about it goes.
func TestAPodThatFellThroughIsRestartedAfterTheWebhook(t *testing.T) {
	e := copyOf(t, world())
	app(&e).Env, e.Pod.Value.Spec.Volumes = nil, nil
	if r := chain.Explain(e); r.First.Code != chain.CodeNotInjected || r.First.Note != "" {
		t.Errorf("where the webhook answers: %+v", r.First)
	}
	silent(nil)(&e)
	if r := chain.Explain(e); r.First.Code != chain.CodeNoAnswer || len(r.Others()) != 1 || r.Others()[0].Code != chain.CodeNotInjected {
		t.Errorf("where it does not: %+v, then %+v", r.First, r.Others())
	}
	e.Pod.Value.Labels["eks.amazonaws.com/skip-pod-identity-webhook"] = ""
	e.NewPod = world().NewPod
	if r := chain.Explain(e); r.First.Code != chain.CodeSkipped || step(e).State != chain.Sound {
		t.Errorf("a pod that skips a webhook that answers: %+v", r.First)
	}
}

// TestLabelsThatAreTypedMakeTheHookBeAsked takes selectors and labels of all kinds.
func TestLabelsThatAreTypedMakeTheHookBeAsked(t *testing.T) {
	random := mathrand.New(mathrand.NewPCG(38, 4)) //nolint:gosec // it shall be the same each time
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	operators := []metav1.LabelSelectorOperator{metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist}
	typed, impossible := 0, 0
	for range 1000 {
		selector := &metav1.LabelSelector{}
		for range random.IntN(4) {
			one := metav1.LabelSelectorRequirement{Key: pick("a", "b", "c"), Operator: operators[random.IntN(4)]}
			if one.Operator == metav1.LabelSelectorOpIn || one.Operator == metav1.LabelSelectorOpNotIn {
				one.Values = []string{pick("1", "2"), pick("1", "3")}
			}
			selector.MatchExpressions = append(selector.MatchExpressions, one)
		}
		if random.IntN(2) == 0 {
			selector.MatchLabels = map[string]string{pick("a", "d"): "1"}
		}
		e := copyOf(t, world())
		silent(func(h *chain.Hook) { h.Namespaces = selector })(&e)
		labels := map[string]string{}
		for range random.IntN(3) {
			labels[pick("a", "b", "c", "d")] = pick("1", "2", "3")
		}
		e.NamespaceLabels.Value = &labels
		first := chain.Explain(e).First
		if first.Code != chain.CodeNotAsked {
			continue
		}
		words, is := strings.CutPrefix(first.Mend[0], "kubectl label namespace shop --overwrite ")
		if !is {
			impossible++
			continue
		}
		typed++
		for _, word := range strings.Fields(words) {
			if key, value, sets := strings.Cut(word, "="); sets {
				labels[key] = value
			} else {
				delete(labels, strings.TrimSuffix(word, "-"))
			}
		}
		if after := chain.Explain(e).First; after.Code != chain.CodeNoAnswer {
			t.Fatalf("after %s it is %+v, with %+v", first.Mend[0], after, selector)
		}
	}
	if typed < 150 || impossible < 8 {
		t.Errorf("%d times labels are typed, and %d times none help: the test sees too few", typed, impossible)
	}
}

// TestHooksArePruned to those that are asked about new pods, and to when their CAs expire.
func TestHooksArePruned(t *testing.T) {
	on := func(resource string, operation admissionv1.OperationType) []admissionv1.RuleWithOperations {
		return []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{operation}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}}}}
	}
	path, ignore := "/mutate", admissionv1.Ignore
	hook := func(name string, rules []admissionv1.RuleWithOperations, bundle []byte) admissionv1.MutatingWebhook {
		return admissionv1.MutatingWebhook{Name: name, Rules: rules, FailurePolicy: &ignore, ClientConfig: admissionv1.WebhookClientConfig{CABundle: bundle, Service: &admissionv1.ServiceReference{Namespace: "system", Name: "hook", Path: &path}}}
	}
	past, later := authority(t, noon.Add(-time.Hour)), authority(t, noon.Add(time.Hour))
	all := []admissionv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Webhooks: []admissionv1.MutatingWebhook{
		hook("past", on("pods", admissionv1.Create), past), hook("both", on("*", admissionv1.OperationAll), append(past, later...)), hook("none", on("*/*", admissionv1.Create), nil),
		hook("wrong", on("pods", admissionv1.Create), []byte("no certificate")),
		hook("changes", on("pods", admissionv1.Update), nil), hook("others", on("services", admissionv1.Create), nil), hook("parts", on("pods/*", admissionv1.Create), nil),
	}}}
	got := chain.PruneHooks(all, noon.Time)
	if len(got) != 4 || got[0].Name != "past" || !got[0].Expired || got[1].Expired || got[2].Bundle || !got[3].Bundle || got[3].Until != nil || got[3].Expired || got[0].Service != "hook" || got[0].Path != path {
		t.Errorf("%+v", got)
	}
	if none := chain.PruneHooks(nil, noon.Time); none == nil || string(must.Get(json.Marshal(none))(t)) != "[]" {
		t.Error("a cluster without hooks looks like one that was not read")
	}
}

// authority is a certificate that is valid until then.
func authority(t *testing.T, until time.Time) []byte {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-24 * time.Hour), NotAfter: until}
	made := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
}

// TestWhoMayReadTheTokensFile is the kubelet's rule, case by case.
func TestWhoMayReadTheTokensFile(t *testing.T) {
	for name, each := range map[string]struct {
		mode   int32
		change func(*corev1.PodSpec)
		want   chain.Certainty
	}{
		"root's alone":                         {0o400, nil, chain.Proved},
		"root's, to write too":                 {0o600, nil, chain.Proved},
		"everybody's":                          {0o644, nil, ""},
		"of a group that the image names":      {0o640, nil, ""},
		"of root's group, and not the user's":  {0o640, func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.RunAsGroup = new(int64(1000)) }, chain.Likely},
		"of root's group, which is the user's": {0o640, func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{RunAsGroup: new(int64(0))} }, ""},
		"of root's group, which is one of them": {0o640, func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{RunAsGroup: new(int64(5)), SupplementalGroups: []int64{0}}
		}, ""},
		"with fsGroup":        {0o400, func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1))} }, ""},
		"with one user":       {0o400, func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1000))} }, ""},
		"with two":            {0o400, func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(7))} }, chain.Proved},
		"of the image's user": {0o400, func(s *corev1.PodSpec) { s.Containers[0].SecurityContext = nil }, ""},
		"of root":             {0o400, func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.RunAsUser = new(int64(0)) }, ""},
		"on Windows":          {0o400, func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} }, ""},
	} {
		e := copyOf(t, world())
		spec := &e.Pod.Value.Spec
		spec.Volumes[0].Projected.DefaultMode, spec.Containers[0].SecurityContext = new(each.mode), &corev1.SecurityContext{RunAsUser: new(int64(1000))}
		spec.Containers = append(spec.Containers, corev1.Container{Name: "beside"})
		if each.change != nil {
			each.change(spec)
		}
		e.Pod.Value = chain.Prune(e.Pod.Value)
		var got chain.Certainty
		if r := chain.Explain(e); r.First != nil && r.First.Code == chain.CodeTokenUnreadable {
			got = r.First.Certainty
		}
		if got != each.want {
			t.Errorf("%s: %q, want %q", name, got, each.want)
		}
	}
	e := copyOf(t, world())
	faults["a token that is root's"].plant(&e)
	e.Pod.Value.OwnerReferences = nil
	if f := chain.Explain(e).First; len(f.Mend) != 1 || f.Mend[0] != "kubectl -n shop delete pod checkout-6d9c-x2k4p" || !strings.Contains(f.Note, "before") {
		t.Errorf("of a pod that nothing makes: %+v", f)
	}
}

// TestNoContentOfAVolumeIsEvidence: of a Secret and of a ConfigMap there is the name.
func TestNoContentOfAVolumeIsEvidence(t *testing.T) {
	items := []corev1.KeyToPath{{Key: "hunter2", Path: "hunter2"}}
	pod := chain.Prune(&corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "a", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: items}}},
		{Name: "b", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: items}}},
		{Name: "d", VolumeSource: corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{Options: map[string]string{"password": "hunter2"}}}},
	}}})
	if text := string(must.Get(json.Marshal(pod))(t)); strings.Contains(text, "hunter2") || len(pod.Spec.Volumes) != 2 {
		t.Errorf("it is %s", text)
	}
}
