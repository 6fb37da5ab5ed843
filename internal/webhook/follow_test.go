package webhook

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// followed runs a store on the cluster, until the end of the test.
func followed(t testing.TB, from *api) *cachedAccounts {
	t.Helper()
	known := newStore(newInterest("eks.amazonaws.com/role-arn"))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	one := newFollower(from, accountsPath, firstSync{known, logr.Discard()}, logr.Discard())
	go func() { defer close(done); one.run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return newAccounts(known, from.readAccount, 10*time.Second, newMetrics())
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for !is() {
		select {
		case <-limit:
			t.Fatalf("it never came to be that %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

func roleOf(t testing.TB, known *cachedAccounts) string {
	t.Helper()
	found, _, err := known.find(t.Context(), app, withRoleName)
	if err != nil {
		t.Fatal(err)
	}
	return (orNone(found)).Annotations["eks.amazonaws.com/role-arn"]
}

func orNone(found *inject.ServiceAccount) *inject.ServiceAccount {
	if found == nil {
		return &inject.ServiceAccount{}
	}
	return found
}

// TestADelayedWatchCostsNoRole: the ServiceAccount is made, annotated, and its
// pod comes, while the watch has told of nothing, of the first, or of both.
func TestADelayedWatchCostsNoRole(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	known := followed(t, reader)
	watch := c.nextWatch(accountsPath)
	eventually(t, "it is watched", func() bool { return known.holding().watched })

	made := c.set("shop", "app", nil)
	if got := roleOf(t, known); got != "" {
		t.Errorf("before it is annotated it has role %q", got)
	}
	watch.send(t, "ADDED", made)
	eventually(t, "it is known", func() bool { return known.holding().accounts == 1 })
	annotated := c.set("shop", "app", withRole)
	if got := roleOf(t, known); got != role {
		t.Errorf("annotated, with only the making told, it has role %q", got)
	}
	c.change(func(c *cluster) { c.down = true }) // what is known now needs no look
	watch.send(t, "MODIFIED", account("shop", "app", made.ResourceVersion, map[string]string{"x": "y"}))
	watch.send(t, "BOOKMARK", account("", "", made.ResourceVersion, nil))
	if got := roleOf(t, known); got != role {
		t.Errorf("after an event from before the look it has role %q", got)
	}
	watch.send(t, "MODIFIED", annotated)
	eventually(t, "it has opted in", func() bool { return known.holding().optedIn == 1 })
	if got := roleOf(t, known); got != role {
		t.Errorf("with all told it has role %q", got)
	}
}

// TestWatchesGoOnWhereTheyEnded, and what is too old is read anew.
func TestWatchesGoOnWhereTheyEnded(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "app", withRole)
	c.set("shop", "old", withRole)
	known := followed(t, reader)
	first := c.nextWatch(accountsPath)
	if first.from != "102" {
		t.Errorf("the first watch begins at %s, want the list's version 102", first.from)
	}
	first.send(t, "BOOKMARK", account("", "", "150", nil))
	close(first.events)
	second := c.nextWatch(accountsPath)
	if second.from != "150" {
		t.Errorf("the second watch begins at %s, want the bookmark's version 150", second.from)
	}
	c.change(func(c *cluster) {
		delete(c.objects, "/api/v1/namespaces/shop/serviceaccounts/old")
		c.version, c.expired, c.down = 200, 200, true
	})
	close(second.events)
	eventually(t, "nothing is watched", func() bool { return !known.holding().watched })
	if got := roleOf(t, known); got != role {
		t.Errorf("while the API server is down it has role %q", got)
	}
	c.change(func(c *cluster) { c.down = false })
	if third := c.nextWatch(accountsPath); third.from != "200" {
		t.Errorf("the third watch begins at %s, want the second list's version 200", third.from)
	}
	if got := known.holding(); got.accounts != 1 || c.lists[accountsPath] != 2 {
		t.Errorf("%d ServiceAccounts after %d lists, want 1 after 2: the other was removed while nothing was watched", got.accounts, c.lists[accountsPath])
	}
}

// TestAnswersThatCannotBeReadAreNamed: the log must tell what is in the way.
func TestAnswersThatCannotBeReadAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		code       int
		kind, text string
		want       string
	}{
		"JSON":           {200, "application/json", "{}", "answers in \"application/json\", expected application/vnd.kubernetes.protobuf"},
		"no object":      {200, "application/vnd.kubernetes.protobuf", "xyz1", "expected an object in Kubernetes' protobuf"},
		"a refusal":      {403, "application/vnd.kubernetes.protobuf", string(encode(t, &metav1.Status{Code: 403, Message: "may not list"})), "answers 403: may not list"},
		"a proxy's page": {502, "text/html", "<html>", "answers 502: \"<html>\""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(test.code)
				_, _ = w.Write([]byte(test.text))
			}))
			defer server.Close()
			reader, err := newAPI(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			_, err = reader.readAccount(t.Context(), app)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
