package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/console/api"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// keeping is a browser that shows workloads which are kept, without a cluster that answers.
func keeping(t *testing.T, all *workloads) *browser {
	t.Helper()
	s := server(t, Options{World: worldAt("http://127.0.0.1:1")})
	s.workloads.read = func(context.Context) (*workloads, error) { return all, nil }
	return open(t, s)
}

// worldAt is with a cluster at an address.
func worldAt(host string) World {
	config := &rest.Config{Host: host, QPS: -1}
	return World{
		Cluster: "lab", Namespace: "shop", ClusterFlags: " --context lab", OLM: olm.Client{Objects: dynamic.NewForConfigOrDie(config), Metadata: metadata.NewForConfigOrDie(config)},
		Explain: explainingBy(config), Read: func(context.Context) (model.Catalogue, error) { return model.Catalogue{}, nil },
	}
}

func fourPods() *workloads {
	row := func(namespace, name, account string, standing chain.Standing, role string) api.PodRow {
		return api.PodRow{Namespace: namespace, Name: name, ServiceAccount: account, Identity: chain.Identity{Standing: standing, Role: role, By: "helm"}}
	}
	out := &workloads{version: "1", partlyAccounts: []string{"team-b: forbidden"}, pods: []api.PodRow{
		row("shop", "a", "x", chain.Given, "arn:b"), row("shop", "b", "y", chain.Without, "arn:a"), row("bank", "c", "x", chain.Nobody, ""), row("bank", "d", "z", chain.Unknown, "arn:c"),
	}}
	for _, pod := range out.pods {
		out.accounts = append(out.accounts, api.AccountRow{Namespace: pod.Namespace, Name: pod.ServiceAccount, Identity: pod.Identity})
	}
	return out
}

func TestWorkloadsAreFilteredSortedAndPaged(t *testing.T) {
	b := keeping(t, fourPods())
	for asked, want := range map[string]string{
		"": "b d a c", "sort=standing": "b d a c", "sort=-standing": "c a d b", "sort=name": "a b c d", "sort=-name": "d c b a", "sort=role": "c b a d", "sort=namespace": "c d a b",
		"namespace=bank": "d c", "standing=given": "a", "search=ARN:": "b d a", "search=shop/a": "a", "search=z": "d", "search=HELM": "b d a c", "limit=3": "b d a", "limit=3&page=2": "c", "limit=3&page=9": "",
	} {
		var got api.Pods
		b.get("/api/v1/workloads/pods?"+asked, &got)
		var names []string
		for _, row := range got.Items {
			names = append(names, row.Name)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%q lists %q, want %q", asked, names, want)
		}
		if got.Total != 4 || got.ReadAt.IsZero() || got.Version != "1" || len(got.Partly) != 1 || !strings.HasSuffix(got.Command, " --context lab") {
			t.Errorf("%q: %+v", asked, got.Listed)
		}
		var accounts api.Accounts
		b.get("/api/v1/workloads/serviceaccounts?"+asked, &accounts)
		if accounts.Matching != got.Matching && !strings.Contains(asked, "search=shop/a") {
			t.Errorf("%q: %d ServiceAccounts, %d pods", asked, accounts.Matching, got.Matching)
		}
	}
	for _, asked := range []string{"standing=bad", "sort=size", "page=0", "limit=101", "x=1", "namespace=a&namespace=b"} {
		for _, list := range []string{"pods", "serviceaccounts"} {
			if p := refusal(t, b.do(b.request(http.MethodGet, "/api/v1/workloads/"+list+"?"+asked, ""))); p.Code != "parameter" {
				t.Errorf("%q: %+v", asked, p)
			}
		}
	}
}

func TestFacetsCountAllWorkloads(t *testing.T) {
	var got api.Pods
	keeping(t, fourPods()).get("/api/v1/workloads/pods?namespace=bank", &got)
	var said []string
	for _, facet := range got.Facets {
		for _, value := range facet.Values {
			said = append(said, fmt.Sprintf("%s=%s:%d", facet.Name, value.Value, value.Count))
		}
	}
	if diff := cmp.Diff([]string{"standing=without:1", "standing=unknown:1", "standing=given:1", "standing=nobody:1", "namespace=bank:2", "namespace=shop:2"}, said); diff != "" {
		t.Error(diff)
	}
	if want := `kubectl get pods -n bank -o custom-columns='`; !strings.HasPrefix(got.Command, want) {
		t.Errorf("the command is %q", got.Command)
	}
}

// Where there is no cluster, and where a name is none, nothing is asked.
func TestWorkloadsThatCannotBeAskedFor(t *testing.T) {
	for path, code := range map[string]string{
		"workloads/pods": "noCluster", "workloads/serviceaccounts": "noCluster", "workloads/pods/shop/a": "noCluster", "workloads/serviceaccounts/shop/a": "noCluster",
		"workloads/pods/Shop/a": "field", "workloads/pods/shop/a_b": "field", "workloads/pods/shop/..%2f..": "field", "workloads/serviceaccounts/shop/%1b": "field",
		"workloads/pods/shop/a?action=s3": "field", "workloads/pods/shop/a?resource=arn:aws:s3:::x": "field", "workloads/pods/shop/a?actions=s3:GetObject": "parameter",
		"workloads/pods/shop/a?action=s3:GetObject&resource=x": "field",
	} {
		b := shown(t)
		if p := refusal(t, b.do(b.request(http.MethodGet, "/api/v1/"+path, ""))); p.Code != code {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

// The console of somebody who may see everything shows what the API server has.
func TestWorkloadsOfACluster(t *testing.T) {
	c := secrets(t)
	u := as(t, c, []string{"system:masters"})
	var accounts api.Accounts
	u.get("/api/v1/workloads/serviceaccounts?search=word-named-team-a", &accounts)
	if len(accounts.Items) != 1 || accounts.Items[0].Pods != 1 || accounts.Items[0].Without != 1 || accounts.Items[0].Standing != chain.Given || accounts.Items[0].By == "" || accounts.Items[0].PodsUnknown != "" {
		t.Fatalf("the ServiceAccounts are %+v", accounts)
	}
	var pods api.Pods
	u.get("/api/v1/workloads/pods?namespace=team-a", &pods)
	if len(pods.Items) != 1 || pods.Items[0].Standing != chain.Without || pods.Items[0].Code != chain.CodeStaleRole || pods.Items[0].Created.IsZero() || pods.Items[0].Container != "app" || len(pods.Partly) != 0 {
		t.Fatalf("the pods are %+v", pods)
	}
	var pod api.Explanation
	u.get("/api/v1/workloads/pods/team-a/word-pod-team-a?action=s3:GetObject&action=s3:PutObject&resource=arn:aws:s3:::orders/*", &pod)
	const command = "tabard explain pod word-pod-team-a -n team-a --action s3:GetObject --action s3:PutObject --resource 'arn:aws:s3:::orders/*'"
	if pod.Command != command || !strings.HasPrefix(pod.Sentence, "The first broken link is L") || pod.First == nil || pod.Others == nil || len(pod.Links) != 13 || pod.Version == "" {
		t.Errorf("the pod is %+v", pod)
	}
	var account api.Explanation
	u.get("/api/v1/workloads/serviceaccounts/team-a/word-account-team-a", &account)
	if len(account.Pods) != 1 || account.PodsTotal != 1 || account.PodsUnknown != "" || account.Version == "" || account.Version == pod.Version || account.Subject.Account != "word-account-team-a" {
		t.Errorf("the ServiceAccount is %+v", account)
	}
	for path, want := range map[string]string{"pods/team-a/gone": "kubectl -n team-a get pods", "serviceaccounts/team-a/gone": "kubectl -n team-a get serviceaccounts"} {
		p := refusal(t, u.do(u.request(http.MethodGet, "/api/v1/workloads/"+path, "")))
		if p.Status != http.StatusNotFound || p.Code != "workload" || len(p.Next) != 1 || p.Next[0] != want {
			t.Errorf("%s: %+v", path, p)
		}
	}
	nobody := as(t, c, nil)
	for path, right := range map[string]string{
		"pods": `cannot list resource "pods"`, "serviceaccounts": `cannot list resource "serviceaccounts"`,
		"pods/team-a/gone": `cannot get resource "pods"`, "serviceaccounts/team-a/gone": `cannot get resource "serviceaccounts"`,
	} {
		p := refusal(t, nobody.do(nobody.request(http.MethodGet, "/api/v1/workloads/"+path, "")))
		if p.Status != http.StatusForbidden || p.Code != "right" || !strings.Contains(p.MissingRight, right) {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

// A fifth explanation waits within its own time.
func TestSoManyExplanationsAreReadAtOnce(t *testing.T) {
	b := keeping(t, &workloads{})
	for range mostExplained {
		b.server.explaining <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p := refusal(t, b.do(b.request(http.MethodGet, "/api/v1/workloads/pods/shop/a", "").WithContext(ctx))); p.Code != "busy" {
		t.Errorf("the problem is %+v", p)
	}
}

func TestOnlySomePodsOfAServiceAccountAreTold(t *testing.T) {
	all := &workloads{ofPods: reach{all: true}}
	for i := range mostPodsOfAccount + 5 {
		all.pods = append(all.pods, api.PodRow{Namespace: "shop", Name: strconv.Itoa(i), ServiceAccount: "x"}, api.PodRow{Namespace: "bank", ServiceAccount: "x"})
	}
	b := keeping(t, all)
	for _, test := range []struct {
		read         func(context.Context) (*workloads, error)
		pods, total  int
		unknown, why string
	}{
		{b.server.workloads.read, mostPodsOfAccount, mostPodsOfAccount + 5, "", "all are listed"},
		{func(context.Context) (*workloads, error) { return &workloads{ofPods: reach{why: "no right"}}, nil }, 0, 0, "no right", "none may be"},
		{func(context.Context) (*workloads, error) {
			return &workloads{podsErr: fmt.Errorf("no answer\x1b")}, nil
		}, 0, 0, "no answer", "none could be"},
		{func(context.Context) (*workloads, error) { return nil, fmt.Errorf("down") }, 0, 0, "down", "nothing could be"},
	} {
		b.server.workloads = &kept[*workloads]{now: time.Now, freshFor: time.Hour, within: time.Hour, read: test.read}
		got := &api.Explanation{Report: chain.Report{Subject: chain.Subject{Namespace: "shop", Account: "x"}}}
		b.server.addPods(t.Context(), got)
		if len(got.Pods) != test.pods || got.PodsTotal != test.total || got.PodsUnknown != test.unknown {
			t.Errorf("%s: %d of %d pods, unknown %q", test.why, len(got.Pods), got.PodsTotal, got.PodsUnknown)
		}
	}
}

// large is an API server with many pods of one ServiceAccount, which a webhook has given its role. It counts the
// pages that it gives.
func large(t testing.TB, pods int) (host string, pages func() int) {
	t.Helper()
	count := 0
	one := must.Get(json.Marshal(injectedPod()))(t)
	out := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/serviceaccounts") {
			_, _ = fmt.Fprint(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"namespace":"shop","name":"checkout","annotations":{"eks.amazonaws.com/role-arn":"arn:aws:iam::111122223333:role/checkout"}}}]}`)
			return
		}
		count++
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		limit := must.Get(strconv.Atoi(r.URL.Query().Get("limit")))(t)
		to, next := min(from+limit, pods), ""
		if to < pods {
			next = strconv.Itoa(to)
		}
		_, _ = fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"continue":%q},"items":[`, next)
		for i := from; i < to; i++ {
			if i > from {
				_, _ = fmt.Fprint(w, ",")
			}
			_, _ = fmt.Fprint(w, strings.Replace(string(one), "checkout-0", "checkout-"+strconv.Itoa(i), 1))
		}
		_, _ = fmt.Fprint(w, `]}`)
	}))
	t.Cleanup(out.Close)
	return out.URL, func() int { return count }
}

// injectedPod is one with a role, and what pods have besides.
func injectedPod() *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout-0", Labels: map[string]string{"app": "checkout"}, Annotations: map[string]string{"note": strings.Repeat("x", 2000)}},
		Spec: corev1.PodSpec{ServiceAccountName: "checkout", Volumes: []corev1.Volume{{Name: "aws-iam-token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "sts.amazonaws.com", Path: "token"}}},
		}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, name := range []string{"app", "proxy"} {
		container := corev1.Container{Name: name, Image: name, Env: []corev1.EnvVar{
			{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111122223333:role/checkout"}, {Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"},
		}, VolumeMounts: []corev1.VolumeMount{{Name: "aws-iam-token", MountPath: "/var/run/secrets/eks.amazonaws.com/serviceaccount"}}}
		for i := range 20 {
			container.Env = append(container.Env, corev1.EnvVar{Name: "SETTING_" + strconv.Itoa(i), Value: strings.Repeat("y", 50)})
		}
		out.Spec.Containers = append(out.Spec.Containers, container)
	}
	return out
}

// Thousands of pods are read in pages, and kept as rows.
func TestManyPodsAreReadInPages(t *testing.T) {
	host, pages := large(t, 2*objectsAtOnce+1)
	b := open(t, server(t, Options{World: worldAt(host)}))
	var got api.Pods
	b.get("/api/v1/workloads/pods?search=checkout-1000", &got)
	if got.Total != 2*objectsAtOnce+1 || len(got.Items) != 1 || got.Items[0].Standing != chain.Given || pages() != 3 {
		t.Errorf("%d pages of %+v", pages(), got)
	}
	var accounts api.Accounts
	b.get("/api/v1/workloads/serviceaccounts", &accounts)
	if accounts.Items[0].Pods != got.Total || pages() != 3 {
		t.Errorf("after %d pages the ServiceAccounts are %+v", pages(), accounts.Items)
	}
}

// A ServiceAccount that came after the list of them is asked for by itself, and only some are.
func TestAServiceAccountThatNoListHasIsAskedFor(t *testing.T) {
	asked := 0
	out := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/new") {
			_, _ = fmt.Fprint(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"namespace":"shop","name":"new"}}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}))
	t.Cleanup(out.Close)
	r := server(t, Options{World: worldAt(out.URL)}).workloadsReader()
	r.ofAccounts = reach{read: []string{"shop"}, why: "no right"}
	for range 2 {
		if got := r.accountOf(t.Context(), "shop", "new"); got.Value == nil {
			t.Errorf("a new one is %+v", got)
		}
		if got := r.accountOf(t.Context(), "shop", "gone"); got.Value != nil || got.Unread != "" {
			t.Errorf("one that is gone is %+v", got)
		}
		if got := r.accountOf(t.Context(), "bank", "new"); got.Unread != "no right" || got.Needs == "" {
			t.Errorf("one that may not be listed is %+v", got)
		}
	}
	for i := range 2 * mostLooked {
		r.accountOf(t.Context(), "shop", strconv.Itoa(i))
	}
	// The second list is refused, once.
	if got := r.accountOf(t.Context(), "shop", "one-more"); got.Unread == "" || asked != mostLooked+1 {
		t.Errorf("after %d questions one more is %+v", asked, got)
	}
}

// Strangers write annotations and names of roles. They come as text.
func TestAnnotationsOfStrangersAreShownAsTheyAre(t *testing.T) {
	const hostile = "<script>alert(1)</script>\x1b[31m\u202e\u200b</td>"
	account := chain.PruneAccount(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x", Annotations: map[string]string{"eks.amazonaws.com/role-arn": hostile}}})
	r := &workloadsReader{Server: server(t, Options{World: worldAt("http://127.0.0.1:1")})}
	pod := injectedPod()
	pod.Spec.Containers[0].Env[0].Value = hostile
	b := keeping(t, &workloads{
		pods:     []api.PodRow{podRow(pod, chain.Seen[metav1.PartialObjectMetadata]{Value: account})},
		accounts: r.accountRows([]*metav1.PartialObjectMetadata{account}, nil),
	})
	for _, list := range []string{"pods", "serviceaccounts"} {
		out := b.do(b.request(http.MethodGet, "/api/v1/workloads/"+list, ""))
		if out.Code != http.StatusOK || out.Header().Get("Content-Type") != "application/json" || out.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("%s answers %d: %v", list, out.Code, out.Header())
		}
		for _, bad := range []string{"<script>", "</td>", "\x1b", "\u202e", "\u200b", "\\u001b", "\\u202e"} {
			if strings.Contains(out.Body.String(), bad) {
				t.Errorf("%s has %q: %s", list, bad, out.Body)
			}
		}
		if !strings.Contains(out.Body.String(), `\u003cscript\u003ealert(1)`) {
			t.Errorf("%s does not say what is there: %s", list, out.Body)
		}
	}
}

// BenchmarkRows makes the rows of 5,000 pods.
func BenchmarkRows(b *testing.B) {
	pods := make([]corev1.Pod, 5000)
	for i := range pods {
		pods[i] = *injectedPod()
		pods[i].Name = "checkout-" + strconv.Itoa(i)
	}
	account := chain.Seen[metav1.PartialObjectMetadata]{Value: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "checkout", Annotations: map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/checkout"},
	}}}
	b.ReportAllocs()
	for b.Loop() {
		for i := range pods {
			if podRow(&pods[i], account).Standing != chain.Given {
				b.Fatal("the pod is not given its role")
			}
		}
	}
}

// BenchmarkReadWorkloads reads 20,000 pods, and says how much memory what is kept takes.
func BenchmarkReadWorkloads(b *testing.B) {
	host, _ := large(b, 20000)
	s := New(Options{World: worldAt(host)}, NewSessions(time.Now), port)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		read := must.Get(s.readAllWorkloads(b.Context()))(b)
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapSys-before.HeapSys)/(1<<20), "MB-grown")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB-kept")
		runtime.KeepAlive(read)
	}
}
