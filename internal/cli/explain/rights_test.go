package explain_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/explain"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/chain"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/evidence"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// anybody fetches the documents of an issuer by roots that vouch for it.
func anybody(roots *x509.CertPool) evidence.Public {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	return func(ctx context.Context, url string) (core.Public, error) {
		return (&issuer.Observer{Public: client}).ObserveForeign(ctx, url), nil
	}
}

// TestTheRightsOfANamespacesUserAreEnough: of one who may edit it. Who may only view it is told what is
// missing, and who may see the whole cluster is told why no identity comes. The cluster has nothing of
// Tabard.
func TestTheRightsOfANamespacesUserAreEnough(t *testing.T) {
	c := testkit.StartCluster(t, testkit.ClusterOptions{})
	c.MakeNamespaces("shop")
	c.Make(
		account("shop"),
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout"}, Spec: corev1.PodSpec{ServiceAccountName: "checkout", Containers: []corev1.Container{{Name: "app", Image: "app"}}}},
	)
	bind(c, "shop")
	c.Grant("owner", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "owner"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}})
	for user, want := range map[string]struct {
		issuer, publication, webhook chain.State
		code                         chain.Code
		needs                        string
	}{
		"viewer": {chain.Unseen, chain.Unreached, chain.Unseen, "", "create pods in the namespace shop"},
		"editor": {chain.Sound, chain.Sound, chain.Broken, chain.CodeNoAnswer, ""},
		"owner":  {chain.Sound, chain.Sound, chain.Broken, chain.CodeNoWebhook, ""},
	} {
		r := explained(t, c, user, "pod", "shop/checkout")
		webhook := r.Links[4]
		if r.Verdict != chain.Unhealthy || r.Links[0].State != want.issuer || r.Links[1].State != want.publication || webhook.State != want.webhook || webhook.Needs != want.needs {
			t.Errorf("%s sees %+v, %+v and %+v", user, r.Links[0], r.Links[1], webhook)
		}
		if want.code != "" && webhook.Findings[0].Code != want.code {
			t.Errorf("%s finds %+v", user, webhook.Findings)
		}
		if injection := r.Links[5]; injection.State != chain.Broken || injection.Findings[0].Code != chain.CodeTooEarly && injection.Findings[0].Code != chain.CodeNotInjected {
			t.Errorf("%s sees of the pod %+v", user, injection)
		}
	}
	if _, err := must.Get(kubernetes.NewForConfig(c.As("nobody")))(t).CoreV1().Pods("shop").Get(t.Context(), "checkout", metav1.GetOptions{}); err == nil {
		t.Error("a user without rights may read the pod: the test shows nothing")
	}
	pods := must.Get(c.Kube.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}))(t)
	if len(pods.Items) != 1 {
		t.Errorf("the cluster has %d pods, want the one of before", len(pods.Items))
	}
}

// TestANewPodPassesWhatNamespacesAskFor: the strictest Pod Security Standard, and a quota for requests
// and limits. It comes back with its role while the webhook answers, and nothing of it is stored.
func TestANewPodPassesWhatNamespacesAskFor(t *testing.T) {
	c := testkit.StartCluster(t, testkit.ClusterOptions{})
	c.Make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "strict", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}, account("strict"))
	bind(c, "strict")
	hard := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods"} {
		hard[name] = resource.MustParse("1Gi")
	}
	quota := must.Get(c.Kube.CoreV1().ResourceQuotas("strict").Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{}))(t)
	quota.Status.Hard, quota.Status.Used = hard, corev1.ResourceList{}
	for name := range hard { // a controller counts it, and none runs here
		quota.Status.Used[name] = resource.MustParse("0")
	}
	must.Get(c.Kube.CoreV1().ResourceQuotas("strict").UpdateStatus(t.Context(), quota, metav1.UpdateOptions{}))(t)
	_, err := c.Kube.CoreV1().Pods("strict").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "plain"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil {
		t.Error("the namespace takes every pod: the test shows nothing")
	}
	server := httptest.NewTLSServer(http.HandlerFunc(inject))
	defer server.Close()
	webhook := server.URL + "/mutate"
	c.Make(&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "pod-identity-webhook"}, Webhooks: []admissionv1.MutatingWebhook{{
		Name: "pod-identity-webhook.amazonaws.com", SideEffects: new(admissionv1.SideEffectClassNone), FailurePolicy: new(admissionv1.Ignore), AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionv1.WebhookClientConfig{URL: &webhook, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
		Rules:        []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}},
	}}})
	c.Await(func() error {
		if r := explained(t, c, "editor", "serviceaccount", "strict/checkout"); r.Links[4].State != chain.Sound {
			return fmt.Errorf("with a webhook that answers: %+v", r.Links[4])
		}
		return nil
	})
	server.Close()
	if r := explained(t, c, "editor", "serviceaccount", "strict/checkout"); r.First == nil || r.First.Code != chain.CodeNoAnswer || r.First.Certainty != chain.Likely {
		t.Errorf("with one that is gone: %+v", r.First)
	}
	if pods := must.Get(c.Kube.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}))(t); len(pods.Items) != 0 {
		t.Errorf("a pod is left: %+v", pods.Items)
	}
}

// inject answers as a webhook for identities does.
func inject(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	_ = json.NewDecoder(r.Body).Decode(&review) // without a uid, the API server takes no answer
	patch := `[{"op":"add","path":"/spec/containers/0/env","value":[{"name":"AWS_ROLE_ARN","value":"` + roleARN + `"},{"name":"AWS_WEB_IDENTITY_TOKEN_FILE","value":"/token"}]}]`
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true,"patchType":"JSONPatch","patch":%q}}`, review.Request.UID, base64.StdEncoding.EncodeToString([]byte(patch)))
}

// account is a ServiceAccount that asks for the role.
func account(namespace string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "checkout", Annotations: map[string]string{"eks.amazonaws.com/role-arn": roleARN}}}
}

// bind gives viewer and editor their rights in a namespace. The roles view and edit are put together of
// these by a controller.
func bind(c *testkit.Cluster, namespace string) {
	for user, roles := range map[string][]string{"viewer": {"system:aggregate-to-view"}, "editor": {"system:aggregate-to-view", "system:aggregate-to-edit"}} {
		for _, role := range roles {
			c.Make(&rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user + "-" + strings.ReplaceAll(role, ":", "-")},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
			})
		}
	}
}

// explained is what a user of a cluster is told.
func explained(t *testing.T, c *testkit.Cluster, user string, words ...string) (r chain.Report) {
	t.Helper()
	var out, said bytes.Buffer
	parent := &cobra.Command{Use: "explain", SilenceUsage: true, SilenceErrors: true}
	_, aws := world("checkout")
	explain.AddTo(parent, explain.World{Streams: command.Streams{Out: &out, Err: &said}, Connect: func(*command.Kubeconfig) (evidence.Sources, string, error) {
		kube, err := kubernetes.NewForConfig(c.As(user))
		return evidence.Sources{Kube: kube, AWS: aws, Public: anybody(c.Roots)}, "default", err
	}})
	parent.SetArgs(append(words, "-o", "json"))
	_ = parent.ExecuteContext(t.Context()) // its exit code is that of the verdict
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || len(r.Links) != len(chain.Links()) {
		t.Fatalf("%s: %v: %s%s", user, err, &out, &said)
	}
	if strings.Contains(out.String(), "eyJ") {
		t.Errorf("%s sees a token", user)
	}
	return r
}
