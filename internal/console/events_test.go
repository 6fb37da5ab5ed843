package console

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// An install that a person may not read is a problem in the stream, which goes on: the right may come.
func TestAStreamGoesOn(t *testing.T) {
	u := as(t, secrets(t), nil)
	listening := httptest.NewServer(u.server.Handler())
	defer listening.Close()
	ask := func(last string) *http.Response {
		t.Helper()
		request := u.request(http.MethodGet, "/api/v1/events?install=team-a/word-team-a", "")
		real := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, listening.URL+request.URL.RequestURI(), nil))(t)
		real.Header, real.Host = request.Header, "127.0.0.1:4711"
		real.Header.Set("Last-Event-ID", last)
		response, err := http.DefaultClient.Do(real)
		must.Do(t, err)
		return response
	}
	first := ask("")
	defer func() { _ = first.Body.Close() }()
	lines := bufio.NewScanner(first.Body)
	said := map[string]string{}
	for len(said) < 3 && lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ": "); ok {
			said[name] = value
		}
	}
	if said["event"] != "problem" || !strings.Contains(said["data"], `"code":"right"`) || said["id"] == "" {
		t.Fatalf("the stream says %v", said)
	}
	// Who comes back is not told the same again.
	again := ask(said["id"])
	defer func() { _ = again.Body.Close() }()
	got := make(chan string)
	go func() {
		for lines := bufio.NewScanner(again.Body); lines.Scan(); {
			got <- lines.Text()
		}
	}()
	for end := time.After(3 * glance); ; {
		select {
		case line := <-got:
			if line != "" && !strings.HasPrefix(line, ":") {
				t.Errorf("the second stream says %q", line)
			}
		case <-end:
			return
		}
	}
}

func TestThereAreSoManyStreams(t *testing.T) {
	u := as(t, secrets(t), nil)
	for range mostStreams {
		u.server.streams <- struct{}{}
	}
	if p := refusal(t, u.do(u.request(http.MethodGet, "/api/v1/events?install=a/b", ""))); p.Code != "streams" {
		t.Errorf("the problem is %+v", p)
	}
	for _, query := range []string{"", "?install=", "?install=a", "?install=/b", "?install=a/b&x=1", "?of=", "?of=pods", "?of=pods/a", "?of=pods/a/b/c", "?of=pods/A/b", "?of=serviceaccounts//b", "?of=secrets/a/b", "?of=workloads/a",
		"?of=workloads&install=a/b"} {
		if p := refusal(t, u.do(u.request(http.MethodGet, "/api/v1/events"+query, ""))); p.Code != "parameter" {
			t.Errorf("%q: %+v", query, p)
		}
	}
}

// A page that follows a pod is told a version when it begins, another one when the pod changes, and that it is
// gone.
func TestAPodIsFollowed(t *testing.T) {
	c := secrets(t)
	u := as(t, c, []string{"system:masters"})
	pods := u.kube.CoreV1().Pods("team-a")
	pod := must.Get(pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "followed"}, Spec: corev1.PodSpec{ServiceAccountName: "word-account-team-a", Containers: []corev1.Container{{Name: "app", Image: "app"}}},
	}, metav1.CreateOptions{}))(t)
	about := u.server.changesOf("pods/team-a/followed")
	look := func() string {
		t.Helper()
		kind, document := u.server.lookAt(t.Context(), about)
		seen, is := document.(api.Changed)
		if kind != "changed" || !is || seen.Version == "" {
			t.Fatalf("it says %s %+v", kind, document)
		}
		return seen.Version
	}
	first := look()
	var explained api.Explanation
	u.get("/api/v1/workloads/pods/team-a/followed", &explained)
	if again := look(); again != first || explained.Version != first {
		t.Errorf("nothing has changed, and the versions are %q, %q and %q", first, explained.Version, again)
	}
	pod.Labels = map[string]string{"a": "b"}
	must.Get(pods.Update(t.Context(), pod, metav1.UpdateOptions{}))(t)
	if again := look(); again == first || again == gone {
		t.Errorf("the pod has changed, and the versions are %q and %q", first, again)
	}
	must.Do(t, pods.Delete(t.Context(), "followed", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	if again := look(); again != gone {
		t.Errorf("the version of a pod that is gone is %q", again)
	}
	kind, document := as(t, c, nil).server.changesOf("serviceaccounts/team-a/word-account-team-a").look(t.Context())
	if p, is := document.(api.Problem); kind != "problem" || !is || p.Code != "right" || p.MissingRight == "" {
		t.Errorf("who may not read it is told %s %+v", kind, document)
	}
}

// The version of the lists is that of what is kept.
func TestTheListsAreFollowed(t *testing.T) {
	u := as(t, secrets(t), []string{"system:masters"})
	kind, document := u.server.changesOf("workloads").look(t.Context())
	var pods api.Pods
	u.get("/api/v1/workloads/pods", &pods)
	if seen, is := document.(api.Changed); kind != "changed" || !is || seen.Version != pods.Version || pods.Version == "" {
		t.Errorf("%s %+v, and the list has the version %q", kind, document, pods.Version)
	}
	if kind, document := shown(t).server.changesOf("workloads").look(t.Context()); kind != "problem" || document.(api.Problem).Code != "noCluster" {
		t.Errorf("without a cluster: %s %+v", kind, document)
	}
}

func TestAVersionChangesWithEachRow(t *testing.T) {
	seen := map[string]bool{}
	for _, change := range []func(*workloads){
		func(*workloads) {}, func(w *workloads) { w.pods[1].Phase = "Failed" }, func(w *workloads) { w.accounts[0].Pods++ }, func(w *workloads) { w.partlyPods = []string{"x"} },
		func(w *workloads) { w.pods = w.pods[1:] },
	} {
		w := fourPods()
		change(w)
		seen[versionOfRows(w)] = true
	}
	if len(seen) != 5 || !seen[versionOfRows(fourPods())] {
		t.Errorf("the versions are %v", seen)
	}
}
