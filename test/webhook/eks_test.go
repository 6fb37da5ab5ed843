package webhook

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The blocks of docs/from-the-eks-webhook.md, in their order.
const (
	saveEKS = iota
	copyMapping
	checkTabard
	switchOver
	lookForMissing
	removeEKS
	backToEKS
	allEKSBlocks
)

const (
	eksPage      = "../../docs/from-the-eks-webhook.md"
	mappingOfEKS = `{"*/mapped": {"RoleARN": "` + roleEven + `", "Audience": "sts.amazonaws.com"}}`
)

// eksWebhook stands in for EKS's webhook: it makes the same changes, by the same kind of patch, of pods
// whose ServiceAccounts have a role, by namespace and name. It counts the pods that have one before.
func eksWebhook(roles map[string]string, injected *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var pod corev1.Pod
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := json.Unmarshal(review.Request.Object.Raw, &pod); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if role := roles[review.Request.Namespace+"/"+pod.Spec.ServiceAccountName]; role != "" {
			if roleOf(&pod) == role {
				injected.Add(1)
			}
			kind := admissionv1.PatchTypeJSONPatch
			review.Response.PatchType = &kind
			review.Response.Patch, _ = json.Marshal(eksPatch(&pod.Spec, role))
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}
}

type eksOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// eksPatch writes all containers again, and the volume first, unless there is one of its name.
func eksPatch(spec *corev1.PodSpec, role string) (patch []eksOperation) {
	const name, folder = "aws-iam-token", "/var/run/secrets/eks.amazonaws.com/serviceaccount"
	there := false
	for _, v := range spec.Volumes {
		there = there || v.Name == name
	}
	seconds := int64(86400)
	volume := corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "sts.amazonaws.com", ExpirationSeconds: &seconds, Path: "token"}},
	}}}}
	switch {
	case !there && len(spec.Volumes) == 0:
		patch = append(patch, eksOperation{"add", "/spec/volumes", []corev1.Volume{volume}})
	case !there:
		patch = append(patch, eksOperation{"add", "/spec/volumes/0", volume})
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		has := func(variable string) bool {
			for _, e := range c.Env {
				if e.Name == variable {
					return true
				}
			}
			return false
		}
		if !has("AWS_ROLE_ARN") && !has("AWS_WEB_IDENTITY_TOKEN_FILE") {
			c.Env = append(c.Env, corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: role}, corev1.EnvVar{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: folder + "/token"})
		}
		mounted := false
		for _, m := range c.VolumeMounts {
			mounted = mounted || m.Name == name
		}
		if !mounted {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: folder, ReadOnly: true})
		}
	}
	return append(patch, eksOperation{"add", "/spec/containers", spec.Containers})
}

// fromEKS is a cluster with the stand-in's hook, under a name that decides which of the two is asked first.
type fromEKS struct {
	*cluster
	want map[string]corev1.PodSpec // by account, as the stand-in alone makes it
	// injected counts the pods that came to the stand-in with their role.
	injected *atomic.Int32
}

func startFromEKS(t *testing.T, c *cluster, name string) *fromEKS {
	t.Helper()
	c.putCertificate(time.Now())
	c.makeAccounts()
	injected := &atomic.Int32{}
	server := httptest.NewTLSServer(eksWebhook(map[string]string{c.shop + "/annotated": roleAnnotated, c.shop + "/mapped": roleEven}, injected))
	t.Cleanup(server.Close)
	url, ignore, none := server.URL+"/mutate", admissionregistrationv1.Ignore, admissionregistrationv1.SideEffectClassNone
	c.install(&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.MutatingWebhook{{
		Name: "pod-identity-webhook.amazonaws.com", FailurePolicy: &ignore, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: c.shop}},
		ObjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "eks.amazonaws.com/skip-pod-identity-webhook", Operator: metav1.LabelSelectorOpDoesNotExist},
		}},
	}}})
	f := &fromEKS{cluster: c, want: map[string]corev1.PodSpec{}, injected: injected}
	for _, account := range []string{"annotated", "mapped"} {
		c.await("the stand-in's hook", func(ctx context.Context) bool {
			made := f.pod(account)
			f.want[account] = made.Spec
			return len(made.Spec.Volumes) == 1
		})
	}
	return f
}

// pod creates one with two containers and a volume of its own.
func (f *fromEKS) pod(account string) *corev1.Pod {
	f.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.shop, GenerateName: account + "-"},
		Spec: corev1.PodSpec{ServiceAccountName: account, Containers: []corev1.Container{
			{Name: "app", Image: "app:1"}, {Name: "sidecar", Image: "app:1", Env: []corev1.EnvVar{{Name: "OWN", Value: "1"}}},
		}},
	}
	f.create(pod)
	return pod
}

// same demands that new pods are as they were with the stand-in alone.
func (f *fromEKS) same(when string) {
	f.t.Helper()
	for account, want := range f.want {
		if diff := cmp.Diff(want, f.pod(account).Spec); diff != "" {
			f.t.Errorf("%s: a pod of %s is not as EKS's webhook alone makes it (-want +got):\n%s", when, account, diff)
		}
	}
}

// replicaAsThePage starts Tabard's webhook with the argument that the page gives the chart.
func (f *fromEKS) replicaAsThePage() {
	f.t.Helper()
	f.awaitReady(f.replica("webhook", "--watch-config-map"))
}

// TestLongThePageFromTheEKSWebhook types the page's commands, and creates pods after each step.
func TestLongThePageFromTheEKSWebhook(t *testing.T) {
	text := must.Get(os.ReadFile(eksPage))(t)
	blocks := testkit.Blocks(string(text), "sh")
	if len(blocks) != allEKSBlocks {
		t.Fatalf("the page has %d blocks of commands, the test knows %d", len(blocks), allEKSBlocks)
	}
	server := shared(t)
	c := newCluster(t, server, "webhook.yaml", "tabard-check")
	c.system = "tabard-system" // the page's name for it
	server.MakeNamespaces(c.system)
	f := startFromEKS(t, c, "pod-identity-webhook")
	f.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod-identity-webhook"}, Data: map[string]string{
		"config": mappingOfEKS,
	}})
	dir := t.TempDir()
	run := func(block int) string {
		t.Helper()
		return testkit.Shell(t, f.config, "cd "+dir+"\n"+strings.Repeat(blocks[block]+"\n", 2))
	}

	run(saveEKS)
	run(copyMapping)
	f.same("before Tabard's webhook runs")
	f.replicaAsThePage()
	f.same("with both")
	if got := run(checkTabard); strings.Count(got, "name: AWS_ROLE_ARN") != 2 || !strings.Contains(got, "name: aws-iam-token") {
		t.Errorf("Tabard's webhook alone has not injected the pod twice:\n%s", got)
	}
	run(switchOver)
	f.same("with Tabard's alone")
	run(backToEKS)
	f.same("with both again")
	run(switchOver)
	if got := run(lookForMissing); strings.Contains(got, "IdentityMissing") {
		t.Errorf("a pod lacks its identity: %s", got)
	}
	of := metav1.ObjectMeta{Namespace: "default", Name: "pod-identity-webhook"}
	f.create(&corev1.ServiceAccount{ObjectMeta: of})
	run(removeEKS)
	f.same("in the end")
	for _, removed := range []client.Object{&corev1.ConfigMap{}, &corev1.ServiceAccount{}} {
		if err := f.Get(t.Context(), types.NamespacedName{Namespace: of.Namespace, Name: of.Name}, removed); !apierrors.IsNotFound(err) {
			t.Errorf("a %T that the page removes is still there: %v", removed, err)
		}
	}
}

// TestTwoWebhooksMakeTheSamePod whichever is asked first.
func TestTwoWebhooksMakeTheSamePod(t *testing.T) {
	for name, test := range map[string]struct {
		configuration string
		injected      int32
	}{
		"EKS's first":    {"pod-identity-webhook", 0},
		"Tabard's first": {"z-pod-identity-webhook", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFromEKS(t, startCluster(t), test.configuration)
			f.writeConfigMap(mappingOfEKS)
			f.replicaAsThePage()
			f.same("with both")
			if got := f.injected.Load(); got != test.injected {
				t.Errorf("%d pods had their role before EKS's webhook saw them, want %d", got, test.injected)
			}
		})
	}
}
