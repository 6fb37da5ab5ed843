package console

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/chain"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/credentials"
	"github.com/tabard-dev/tabard/internal/evidence"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// shopRole is the role that a ServiceAccount of the shop names.
const shopRole = "arn:aws:iam::123456789012:role/shop"

// registered is an AWS whose account has each provider that is asked for.
type registered struct{ closed }

func (registered) Account(context.Context, string) (string, error) { return "123456789012", nil }
func (registered) Provider(_ context.Context, arn string) (*chain.OIDCProvider, error) {
	return &chain.OIDCProvider{ARN: arn, Audiences: []string{"sts.amazonaws.com"}}, nil
}

// overviewOf is the console of a user whose kubeconfig names a namespace.
func overviewOf(t *testing.T, c *testkit.Cluster, user, namespace string) *browser {
	t.Helper()
	config := c.As(user)
	config.QPS = -1
	scheme := runtime.NewScheme()
	must.Do(t, errors.Join(cloudv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	reader := must.Get(client.New(config, client.Options{Scheme: scheme}))(t)
	return open(t, server(t, Options{World: World{
		Cluster: "lab", ClusterFlags: " --context lab", Namespace: namespace, OLM: olm.Client{Objects: dynamic.NewForConfigOrDie(config), Metadata: metadata.NewForConfigOrDie(config)},
		Explain: evidence.Sources{Kube: kubernetes.NewForConfigOrDie(config), AWS: registered{}, Public: fetchedBy(c.Roots)},
		Credentials: credentials.Cluster{Reader: reader, Now: time.Now, Facts: func(context.Context) (platform.Facts, error) {
			return platform.Facts{Infrastructure: "prod", Region: "eu-central-1", Operator: platform.Operator{Why: "there is no Cloud Credential Operator"}}, nil
		}},
	}}))
}

// fetchedBy fetches the documents of an issuer by roots that vouch for it.
func fetchedBy(roots *x509.CertPool) evidence.Public {
	fetches := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	return func(ctx context.Context, url string) (core.Public, error) {
		return (&issuer.Observer{Public: fetches}).ObserveForeign(ctx, url), nil
	}
}

// everything is the right to do everything.
func everything() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "owner"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}, {Verbs: []string{"get"}, NonResourceURLs: []string{"*"}}}}
}

// shop is a cluster without a webhook, with a workload whose pod lacks its identity, and a request that waits.
// An OIDCIssuer has recorded that the issuer is published.
func shop(t *testing.T) *testkit.Cluster {
	t.Helper()
	c := testkit.StartCluster(t, testkit.ClusterOptions{CRDs: []string{testkit.CRDs}})
	c.MakeNamespaces("shop")
	c.Make(objectOf(t, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"checkout","namespace":"shop","annotations":{"eks.amazonaws.com/role-arn":"`+shopRole+`"}}}`))
	read := must.Get(evidence.Sources{Kube: c.Kube, AWS: closed{}, Public: fetchedBy(c.Roots)}.Read(t.Context(), chain.Subject{Namespace: "shop", Account: "checkout"}))(t)
	url := *read.Issuer.Value
	recorded := objectOf(t, `{"apiVersion":"identity.tabard.dev/v1alpha1","kind":"OIDCIssuer","metadata":{"name":"prod"},"spec":{"url":"`+url+`","publication":{"s3":{"bucket":"prod-oidc","region":"eu-central-1"}}}}`)
	c.Make(
		objectOf(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"checkout","namespace":"shop"},"spec":{"serviceAccountName":"checkout","containers":[{"name":"app","image":"app"}]}}`),
		objectOf(t, `{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"reports","namespace":"shop"},
"spec":{"storage":{"serviceAccount":{"namespace":"shop","name":"reports"}},"providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"*"}]}}}`),
		recorded,
	)
	c.MergeStatus(recorded, `{"status":{"conditions":[
{"type":"IssuerPublished","status":"True","reason":"Published","message":"","lastTransitionTime":"2026-11-01T10:00:00Z"},
{"type":"KeysInSync","status":"True","reason":"InSync","message":"","lastTransitionTime":"2026-11-01T11:00:00Z"}]}}`)
	c.Grant("owner", everything())
	c.GrantIn("shop", "member", rbacv1.PolicyRule{Verbs: []string{"get", "list"}, APIGroups: []string{"", "cloudcredential.openshift.io"}, Resources: []string{"pods", "serviceaccounts", "credentialsrequests"}})
	return c
}

func TestAnOverviewOfAllThatAPersonMayRead(t *testing.T) {
	c := shop(t)
	var o api.Overview
	owner := overviewOf(t, c, "owner", "default")
	listed := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	owner.server.workloads.now = func() time.Time { return listed }
	owner.get("/api/v1/overview", &o)
	if got := states(o); got != "L0 sound, L1 sound, L2 sound, L3 sound, L4 broken" {
		t.Errorf("the links are %s: %+v", got, o.Links)
	}
	if o.Todo == nil || len(o.Todo.Commands) == 0 || !strings.HasPrefix(o.Todo.Commands[0], "helm upgrade --kube-context lab --install tabard") || !strings.HasPrefix(o.Todo.Path, "/workloads/") {
		t.Errorf("to do is %+v", o.Todo)
	}
	if since := o.Links[1].Since; since == nil || !since.Equal(time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC)) {
		t.Errorf("L1 is so since %v", since)
	}
	for i, link := range o.Links {
		if link.Seen.IsZero() || time.Since(link.Seen) > time.Hour || i != 1 && link.Since != nil || link.Name == "" || link.Asks == "" {
			t.Errorf("%+v", link)
		}
	}
	if o.Pods != 1 || o.Without != 1 || len(o.Lacking) != 1 || o.Lacking[0].Name != "checkout" || o.PodsUnknown != "" {
		t.Errorf("pods: %d, %d without, %+v, %q", o.Pods, o.Without, o.Lacking, o.PodsUnknown)
	}
	if o.Requests != 1 || o.WaitingTotal != 1 || len(o.Waiting) != 1 || o.Waiting[0].Actor != "Tabard" || o.Waiting[0].Reason != "NotLookedAt" || o.Waiting[0].Command != "tabard credentials describe reports --namespace shop --context lab" {
		t.Errorf("requests: %d, %+v, %q", o.Requests, o.Waiting, o.RequestsUnknown)
	}
	if o.RequestsCommand != "tabard credentials list --all-namespaces --context lab" {
		t.Errorf("the requests are listed by %q", o.RequestsCommand)
	}
	if len(o.PartlyPods) != 0 || len(o.PartlyRequests) != 0 || o.Version == "" || !strings.HasPrefix(o.Command, "tabard explain ") || o.Sentence != "The first broken link is L4 webhook." {
		t.Errorf("%+v", o)
	}
	if !o.ReadAt.Equal(listed) {
		t.Errorf("it is of %s, and the workloads were listed at %s", o.ReadAt, listed)
	}
	kind, document := owner.server.changesOf("overview").look(t.Context())
	if changed, ok := document.(api.Changed); kind != "changed" || !ok || changed.Version != o.Version {
		t.Errorf("the event is %s %+v, the version is %s", kind, document, o.Version)
	}
	again := must.Get(owner.server.readOverview(t.Context()))(t)
	if again.Version != o.Version || !again.Links[4].Seen.Equal(o.Links[4].Seen) {
		t.Errorf("the same cluster is another one: %+v, then %+v", o, again)
	}
	if pods := must.Get(c.Kube.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}))(t); len(pods.Items) != 1 {
		t.Errorf("the cluster has %d pods, want the one of before", len(pods.Items))
	}

	t.Run("of one namespace", func(t *testing.T) {
		var o api.Overview
		overviewOf(t, c, "member", "shop").get("/api/v1/overview", &o)
		if got := states(o); got != "L0 unseen, L1 unreached, L2 unreached, L3 unseen, L4 unseen" {
			t.Errorf("the links are %s: %+v", got, o.Links)
		}
		if o.Pods != 1 || o.PodsUnknown != "" || o.Requests != 1 || o.RequestsUnknown != "" || len(o.Lacking) != 1 || len(o.Waiting) != 1 {
			t.Errorf("pods: %d, %q; requests: %d, %q", o.Pods, o.PodsUnknown, o.Requests, o.RequestsUnknown)
		}
		if o.RequestsCommand != "tabard credentials list --namespace shop --context lab" {
			t.Errorf("the requests are listed by %q", o.RequestsCommand)
		}
		pods, requests := strings.Join(o.PartlyPods, "\n"), strings.Join(o.PartlyRequests, "\n")
		for lacking, want := range map[string]*string{
			"which pods are in others than shop": &pods, "which ServiceAccounts are in others than shop": &pods,
			`cannot list resource "credentialsrequests"`: &requests, "which CredentialsRequests are in others than shop": &requests, "CredentialsGrants": &requests,
		} {
			if !strings.Contains(*want, lacking) || strings.Contains(pods, lacking) && strings.Contains(requests, lacking) {
				t.Errorf("it does not say %q at its place: %q, %q", lacking, pods, requests)
			}
		}
		if !strings.Contains(o.Sentence, "Not everything could be seen") || !strings.Contains(o.Sentence, "the CredentialsRequests") {
			t.Errorf("it says %q", o.Sentence)
		}
		if o.Todo == nil || o.Todo.Path != "/workloads/pods/shop/checkout" || len(o.Todo.Commands) != 1 || !strings.HasPrefix(o.Todo.Commands[0], "kubectl --context lab -n shop ") {
			t.Errorf("to do is %+v", o.Todo)
		}
	})
	t.Run("without the grants", func(t *testing.T) {
		c.Grant("reader", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{
			{Verbs: []string{"get", "list"}, APIGroups: []string{"", "cloudcredential.openshift.io"}, Resources: []string{"pods", "serviceaccounts", "credentialsrequests"}},
		}})
		var o api.Overview
		overviewOf(t, c, "reader", "shop").get("/api/v1/overview", &o)
		if o.Requests != 1 || o.RequestsUnknown != "" || !strings.Contains(o.Sentence, "the CredentialsRequests") || strings.Contains(o.Sentence, "the pods") {
			t.Errorf("%d requests, %q: %q", o.Requests, o.RequestsUnknown, o.Sentence)
		}
	})
	t.Run("with a pod of which it is not known", func(t *testing.T) {
		b := overviewOf(t, c, "owner", "default")
		b.server.workloads.read = func(context.Context) (*workloads, error) { return fourPods(), nil }
		var o api.Overview
		b.get("/api/v1/overview", &o)
		if o.Pods != 4 || o.Unknown != 1 || o.Given != 1 || o.Without != 1 || !strings.Contains(o.Sentence, "1 pod.") {
			t.Errorf("%+v", o)
		}
	})
	t.Run("of nothing", func(t *testing.T) {
		var o api.Overview
		overviewOf(t, c, "nobody", "shop").get("/api/v1/overview", &o)
		for _, link := range o.Links {
			if link.State != chain.Unseen || link.Needs == "" {
				if link.Link != chain.Publication || link.State != chain.Unseen {
					t.Errorf("%+v", link)
				}
			}
		}
		if !strings.Contains(o.PodsUnknown, `cannot list resource "pods"`) || !strings.Contains(o.RequestsUnknown, `cannot list resource "credentialsrequests"`) || o.Todo != nil || strings.Contains(o.Sentence, "All is well") {
			t.Errorf("%+v", o)
		}
	})
}

// states are those of the links.
func states(o api.Overview) string {
	var out []string
	for _, link := range o.Links {
		out = append(out, string(link.Link)+" "+string(link.State))
	}
	return strings.Join(out, ", ")
}

func TestAClusterWithoutRequestsHasNoFault(t *testing.T) {
	c := secrets(t)
	c.Grant("owner", everything())
	var o api.Overview
	overviewOf(t, c, "owner", "team-a").get("/api/v1/overview", &o)
	if o.RequestsUnknown != "This cluster has no CredentialsRequests." || strings.Contains(o.Sentence, "CredentialsRequests") || o.Requests != 0 || len(o.PartlyPods)+len(o.PartlyRequests) != 0 {
		t.Errorf("%q, %q, %q, %q", o.RequestsUnknown, o.Sentence, o.PartlyPods, o.PartlyRequests)
	}
}

func TestAnOverviewIsRefusedWhereThereIsNone(t *testing.T) {
	b := open(t, server(t, Options{World: World{Files: "x"}}))
	for path, want := range map[string]int{"/api/v1/overview": http.StatusNotFound, "/api/v1/overview?all=true": http.StatusBadRequest} {
		if out := b.do(b.request(http.MethodGet, path, "")); out.Code != want {
			t.Errorf("%s answers %d: %s", path, out.Code, out.Body)
		}
	}
}
