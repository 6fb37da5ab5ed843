package console

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// apiServer is a cluster that answers a path, with its query, by a status and a text.
func apiServer(t *testing.T, answer func(path, next string) (int, string)) (host string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var paths []string
	out := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		status, text := answer(r.URL.Path, r.URL.Query().Get("continue"))
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, text)
	}))
	t.Cleanup(out.Close)
	return out.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, paths...)
	}
}

// statusOf is an answer of the API server that is an error.
func statusOf(code int, reason string) (int, string) {
	return code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"said the cluster: %s"}`, reason, code, reason)
}

// listOf is a list of objects with names in a namespace.
func listOf(kind, next, namespace string, names ...string) (int, string) {
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q},"spec":{"serviceAccountName":%q}}`, namespace, name, name))
	}
	version := "v1"
	if kind == "PartialObjectMetadataList" {
		version = "meta.k8s.io/v1"
	}
	return http.StatusOK, fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"continue":%q},"items":[%s]}`, kind, version, next, strings.Join(items, ","))
}

const (
	allPods     = "/api/v1/pods"
	allAccounts = "/api/v1/serviceaccounts"
)

// An error of one list that is not the lack of a right is the error of all, and not a good answer that is kept.
func TestAListThatBreaksOffIsNoAnswer(t *testing.T) {
	for _, broken := range []string{allPods, allAccounts} {
		breaks := true
		host, _ := apiServer(t, func(path, next string) (int, string) {
			switch {
			case path == broken && breaks:
				return statusOf(http.StatusInternalServerError, "InternalError")
			case path == allPods:
				return listOf("PodList", "", "shop", "a")
			}
			return listOf("PartialObjectMetadataList", "", "shop", "a")
		})
		s := server(t, Options{World: worldAt(host)})
		if _, err := s.readAllWorkloads(t.Context()); !apierrors.IsInternalError(err) {
			t.Errorf("%s: the error is %v", broken, err)
		}
		breaks = false
		if read := must.Get(s.readAllWorkloads(t.Context()))(t); len(read.pods) != 1 || len(read.accounts) != 1 {
			t.Errorf("%s: read %+v", broken, read)
		}
	}
}

// A list whose token has expired is begun anew, once.
func TestAListThatHasExpiredIsBegunAnew(t *testing.T) {
	for _, broken := range []string{allPods, allAccounts} {
		for times, fine := range map[int]bool{1: true, 2: false} {
			left := times
			host, _ := apiServer(t, func(path, next string) (int, string) {
				kind := "PartialObjectMetadataList"
				if path == allPods {
					kind = "PodList"
				}
				switch {
				case next == "":
					return listOf(kind, "more", "shop", "a")
				case path == broken && left > 0:
					left--
					return statusOf(http.StatusGone, "Expired")
				}
				return listOf(kind, "", "shop", "b")
			})
			read, err := server(t, Options{World: worldAt(host)}).readAllWorkloads(t.Context())
			if fine && (err != nil || len(read.pods) != 2 || len(read.accounts) != 2) || !fine && !apierrors.IsResourceExpired(err) {
				t.Errorf("%s expires %d times: %+v, %v", broken, times, read, err)
			}
		}
	}
}

// Of very many ServiceAccounts that the list does not have, each gets an answer, by a second list.
func TestManyServiceAccountsThatNoListHasAreListedAgain(t *testing.T) {
	var names []string
	for i := range 3 * mostLooked {
		names = append(names, "new-"+strconv.Itoa(i))
	}
	lists := 0
	host, asked := apiServer(t, func(path, _ string) (int, string) {
		switch path {
		case allPods:
			return listOf("PodList", "", "shop", append(names, "gone")...)
		case allAccounts:
			if lists++; lists == 1 {
				return listOf("PartialObjectMetadataList", "", "shop", "old")
			}
			return listOf("PartialObjectMetadataList", "", "shop", names...)
		}
		return statusOf(http.StatusNotFound, "NotFound")
	})
	read := must.Get(server(t, Options{World: worldAt(host)}).readAllWorkloads(t.Context()))(t)
	for i, pod := range read.pods {
		if pod.Standing == chain.Unknown {
			t.Fatalf("pod %d is %+v", i, pod)
		}
	}
	if got := len(asked()); lists != 2 || got != mostLooked+3 {
		t.Errorf("the ServiceAccounts were listed %d times, of %d questions", lists, got)
	}
}

// The kubeconfig's own namespace is asked first, also where it is not among the first of the cluster; and of very
// many refusals the number is told.
func TestTheNamespaceOfTheKubeconfigIsAskedFirst(t *testing.T) {
	var names []string
	for i := range mostNamespaces {
		names = append(names, fmt.Sprintf("a-%03d", i))
	}
	host, asked := apiServer(t, func(path, _ string) (int, string) {
		switch path {
		case "/api/v1/namespaces":
			return listOf("NamespaceList", "more", "", names...)
		case "/api/v1/namespaces/shop/pods":
			return listOf("PodList", "", "shop", "checkout")
		case "/api/v1/namespaces/shop/serviceaccounts":
			return listOf("PartialObjectMetadataList", "", "shop", "checkout")
		}
		return statusOf(http.StatusForbidden, "Forbidden")
	})
	read := must.Get(server(t, Options{World: worldAt(host)}).readAllWorkloads(t.Context()))(t)
	if len(read.pods) != 1 || len(read.accounts) != 1 {
		t.Errorf("read %d pods and %d ServiceAccounts", len(read.pods), len(read.accounts))
	}
	if paths := asked(); paths[2] != "/api/v1/namespaces/shop/serviceaccounts" {
		t.Errorf("asked first for %q", paths[:3])
	}
	if last := read.partlyPods[len(read.partlyPods)-1]; last != fmt.Sprintf("and %d more namespaces", mostNamespaces-mostFindings) {
		t.Errorf("%d refusals, the last is %q", len(read.partlyPods), last)
	}
}

// A panic while an overview is read ends neither the program nor the stream: it is told, and is in the log.
func TestAPanicInAnOverviewIsAnAnswer(t *testing.T) {
	var log bytes.Buffer
	host, _ := apiServer(t, func(string, string) (int, string) { return statusOf(http.StatusForbidden, "Forbidden") })
	s := server(t, Options{World: worldAt(host), Audit: slog.New(slog.NewTextHandler(&log, nil))}) // without a reader of CredentialsRequests
	b := open(t, s)
	p := refusal(t, b.do(b.request(http.MethodGet, "/api/v1/overview", "")))
	if p.Code != "fault" || strings.Contains(p.Detail, "goroutine") || !strings.Contains(log.String(), "overview_read.go") {
		t.Errorf("the problem is %+v, the log says %s", p, &log)
	}
}

// breaking is an AWS that panics where a role is read, which is a goroutine of its own.
type breaking struct{ registered }

func (breaking) Role(context.Context, string, string) (*chain.Role, error) {
	panic("no third word")
}

// A panic in what an explanation is read from, in a goroutine of its own, is an answer, and the console goes on.
func TestAPanicInAnExplanationIsAnAnswer(t *testing.T) {
	var log bytes.Buffer
	host, _ := apiServer(t, func(path, _ string) (int, string) {
		if strings.HasSuffix(path, "/serviceaccounts/checkout") {
			return http.StatusOK, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"shop","name":"checkout","annotations":{"eks.amazonaws.com/role-arn":"` + shopRole + `"}}}`
		}
		return statusOf(http.StatusForbidden, "Forbidden")
	})
	world := worldAt(host)
	world.Explain.AWS = breaking{}
	s := server(t, Options{World: world, Audit: slog.New(slog.NewTextHandler(&log, nil))})
	b := open(t, s)
	const path = "/api/v1/workloads/serviceaccounts/shop/checkout"
	p := refusal(t, b.do(b.request(http.MethodGet, path, "")))
	if p.Status != http.StatusInternalServerError || p.Code != "fault" || strings.Contains(p.Detail, "third word") {
		t.Errorf("the problem is %+v", p)
	}
	if said := log.String(); !strings.Contains(said, "no third word") || !strings.Contains(said, "breaking.Role") || strings.Count(said, "the console has a fault") != 1 {
		t.Errorf("the log says %s", said)
	}
	s.World.Explain.AWS = registered{}
	var got api.Explanation
	b.get(path, &got)
	if got.Subject.Account != "checkout" || len(s.explaining) != 0 {
		t.Errorf("after the panic %+v is explained, and %d places are taken", got.Subject, len(s.explaining))
	}
}

// A panic outside of an endpoint is a fault too: on a stream, while an install is followed, and in a hand-off.
func TestAPanicBesideTheEndpointsIsNotTheEnd(t *testing.T) {
	var log bytes.Buffer
	s := server(t, Options{World: worldAt("http://127.0.0.1:1"), Audit: slog.New(slog.NewTextHandler(&log, nil))})
	kind, document := s.lookAt(t.Context(), topic{look: func(context.Context) (string, any) { panic("no third word") }})
	if p, is := document.(api.Problem); kind != "problem" || !is || p.Code != "fault" || !strings.Contains(log.String(), "no third word") {
		t.Errorf("the event is %s %+v, the log says %s", kind, document, &log)
	}
	log.Reset()
	synctest.Test(t, func(t *testing.T) {
		s.follow(t.Context(), installing.Planned{}, olm.Client{}, installing.Going{}) // a client of nothing
		synctest.Wait()
	})
	if said := log.String(); !strings.Contains(said, "follow.go") || !strings.Contains(said, "result=fault") || len(s.following.all) != 0 {
		t.Errorf("the log says %s, and %d are followed", said, len(s.following.all))
	}
	log.Reset()
	b := open(t, s)
	s.catalogue.read = func(context.Context) (*readCatalogue, error) { return nil, nil } // a catalogue that is none breaks its readers
	if p := refusal(t, b.do(b.request(http.MethodPost, "/api/v1/handoffs", `{"operator":"CatalogSource:olm/vendor/p"}`))); p.Code != "fault" || !strings.Contains(log.String(), "handoff.go") {
		t.Errorf("the problem is %+v, the log says %s", p, &log)
	}
}

// Who finds all places taken is told so, and not after a minute.
func TestWhoFindsNoPlaceIsToldSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := keeping(t, &workloads{})
		for range mostExplained {
			b.server.explaining <- struct{}{}
		}
		for range mostChecked {
			b.server.checking <- struct{}{}
		}
		for _, r := range []*http.Request{
			b.request(http.MethodGet, "/api/v1/workloads/pods/shop/a", ""), b.request(http.MethodPost, "/api/v1/try/policy", `{"text":"{}","kind":"identity"}`),
		} {
			from := time.Now()
			if p := refusal(t, b.do(r)); p.Code != "busy" || time.Since(from) != placeWithin {
				t.Errorf("after %s the problem is %+v", time.Since(from), p)
			}
		}
	})
}

// The overview is read while all places of explanations are taken.
func TestAnOverviewHasAPlaceOfItsOwn(t *testing.T) {
	b := keeping(t, &workloads{})
	for range mostExplained {
		b.server.explaining <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	read := &clusterRead{}
	b.server.readChain(ctx, read, []chain.Subject{{Namespace: "shop", Account: "default"}})
	if read.Chain.Report == nil || read.Chain.Unread == "" || read.Chain.Needs != "" {
		t.Errorf("the chain is %+v", read.Chain)
	}
}

// The right is named that is missing, where that is it.
func TestAChainThatMayNotBeReadNamesTheRight(t *testing.T) {
	host, _ := apiServer(t, func(string, string) (int, string) { return statusOf(http.StatusForbidden, "Forbidden") })
	read := &clusterRead{}
	server(t, Options{World: worldAt(host)}).readChain(t.Context(), read, []chain.Subject{{Namespace: "shop", Account: "default"}})
	if read.Chain.Unread == "" || read.Chain.Needs != "get serviceaccounts in the namespace shop" {
		t.Errorf("the chain is %+v", read.Chain)
	}
}

// What a condition has recorded is older than a fault that this console has seen meanwhile.
func TestALinkIsNotSoSinceBeforeItWasSeenOtherwise(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	recorded, last := noon.Add(-time.Hour), since{}
	for minute, each := range []struct {
		state chain.State
		// since and seen are minutes after noon; -60 is what is recorded.
		since, seen int
	}{
		{chain.Sound, -60, 0}, {chain.Sound, -60, 0}, {chain.Unseen, -60, 2}, {chain.Sound, -60, 3}, {chain.Broken, 4, 4}, {chain.Unseen, 4, 5}, {chain.Sound, 6, 6}, {chain.Sound, 6, 6},
	} {
		last = last.next(each.state, noon.Add(time.Duration(minute)*time.Minute))
		got := last.later(&recorded)
		if got.Sub(noon) != time.Duration(each.since)*time.Minute || last.at.Sub(noon) != time.Duration(each.seen)*time.Minute {
			t.Errorf("minute %d: %s since %s, seen since %s", minute, each.state, got, last.at)
		}
	}
	if got := last.later(nil); got != nil {
		t.Errorf("what is not recorded is so since %s", got)
	}
	if later := noon.Add(time.Hour); !last.later(&later).Equal(later) {
		t.Error("what was recorded later does not count")
	}
}

// Of a megabyte of policies some are checked, and it is said that there are more.
func TestVeryManyPoliciesAreNotAllChecked(t *testing.T) {
	b := open(t, server(t, Options{}))
	for name, test := range map[string]struct{ one, sentence string }{
		"with mistakes": {`{},`, "At least "},
		"good ones":     {`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::orders/*"}},`, "Nothing is wrong with the first 200 policies"},
	} {
		text := "[" + strings.TrimSuffix(strings.Repeat(test.one, 300), ",") + "]"
		var got api.PolicyCheck
		b.ask("/api/v1/try/policy", api.PolicyQuestion{Text: text, Kind: "identity"}, &got)
		if !strings.HasPrefix(got.Sentence, test.sentence) || !strings.Contains(got.Sentence, "The text has more than is checked here") {
			t.Errorf("%s: %q", name, got.Sentence)
		}
	}
}
