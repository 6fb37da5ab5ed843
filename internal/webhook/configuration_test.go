package webhook

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	otherRole = "arn:aws:iam::111122223333:role/other"
	byName    = `{"shop/app":{"RoleARN":"` + role + `"}}`
	byOther   = `{"*/app":{"RoleARN":"` + otherRole + `"}}`
	// A role for ServiceAccounts with the label that all of account's have, and
	// one for those in namespaces with a label.
	byAccountLabel   = `{"tabard.dev/bindings":{"items":[{"serviceAccountSelector":{"matchLabels":{"a":"b"}},"RoleARN":"` + role + `"}]}}`
	byNamespaceLabel = `{"tabard.dev/bindings":{"items":[{"namespaceSelector":{"matchLabels":{"team":"shop"}},"RoleARN":"` + role + `"}]}}`
)

// running is a server that follows a cluster and its config map until the end of
// the test.
func running(t *testing.T, from *api, change func(*Options)) *server {
	t.Helper()
	o := defaultOptions(t)
	o.Namespace, o.WatchConfigMap = "eks", true
	folder := t.TempDir()
	o.TLSCert, o.TLSKey = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	chain, key := pair(t, farAway)
	write(t, o.TLSCert, string(chain))
	write(t, o.TLSKey, string(key))
	if change != nil {
		change(&o)
	}
	on := must.Get(newClouds(o))(t)
	s, followed := assemble(on, from, o, logr.Discard())
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	runs := must.Get(s.follow(ctx, o, from, followed))(t)
	done := make(chan struct{}, len(runs))
	for _, run := range runs {
		go func() { run(ctx); done <- struct{}{} }()
	}
	t.Cleanup(func() {
		cancel()
		for range runs {
			<-done
		}
	})
	return s
}

// given is what the server answers for a pod of shop/app: the role, nothing, or
// the status other than 200.
func given(t *testing.T, s *server, serviceAccount string) string {
	t.Helper()
	answer, recorder := mutate(t, s, reviewOf("v1", "shop", strings.ReplaceAll(pod, `"app"`, fmt.Sprintf("%q", serviceAccount))))
	if recorder.Code != http.StatusOK {
		return fmt.Sprint(recorder.Code)
	}
	patch := string(answer.Response.Patch)
	for _, known := range []string{role, otherRole, "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if strings.Contains(patch, `"`+known+`"`) {
			return known
		}
	}
	return patch
}

func expectGiven(t *testing.T, s *server, when, serviceAccount, want string) {
	t.Helper()
	if got := given(t, s, serviceAccount); got != want {
		t.Errorf("%s, a pod of shop/%s is given %q, want %q", when, serviceAccount, got, want)
	}
}

// awaitReads waits until the config map was applied or refused so often.
func awaitReads(t *testing.T, s *server, result string, times int) {
	t.Helper()
	awaitMetric(t, s, fmt.Sprintf(`tabard_webhook_configuration_reads_total{result=%q,source="config-map"} %d`, result, times))
}

func awaitMetric(t *testing.T, s *server, line string) {
	t.Helper()
	eventually(t, line, func() bool {
		_, text := get(t, s.observer(), "/metrics")
		return strings.Contains(text+"\n", line+"\n")
	})
}

func configMapOf(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "eks", Name: configMapName}, Data: map[string]string{configMapKey: text}}
}

func TestTheConfigMapIsFollowed(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "app", nil)
	s := running(t, reader, nil)
	watch := c.nextWatch(configMapsPath)
	c.nextWatch(accountsPath)
	eventually(t, "all has been looked for", func() bool { return s.config.looked() && s.accounts.synced() })
	applied, refused := 0, 0
	put := func(kind, text string, fine bool) {
		t.Helper()
		watch.send(t, kind, keep(c, configMapOf(text)))
		if fine {
			applied++
			awaitReads(t, s, "applied", applied)
			return
		}
		refused++
		awaitReads(t, s, "refused", refused)
	}
	awaitUnchanged := func(when string) { eventually(t, when, func() bool { return given(t, s, "app") == "" }) }

	awaitUnchanged("without a config map nothing is injected")
	put("ADDED", byName, true)
	expectGiven(t, s, "made", "app", role)
	put("MODIFIED", byOther, true)
	expectGiven(t, s, "changed", "app", otherRole)
	put("MODIFIED", "garbage", false)
	expectGiven(t, s, "garbage", "app", otherRole)
	put("MODIFIED", `{"shop":{"RoleARN":"x"},"shop/app":{"RoleARN":"`+role+`"}}`, true)
	expectGiven(t, s, "with a key that is wrong", "app", role)
	watch.send(t, "DELETED", keep(c, configMapOf("")))
	put("ADDED", byOther, true)
	expectGiven(t, s, "deleted and made anew", "app", otherRole)
	without := configMapOf("")
	without.Data = map[string]string{"config.json": byName}
	watch.send(t, "MODIFIED", keep(c, without))
	awaitMetric(t, s, `tabard_webhook_configuration_problems{source="config-map"} 1`)
	expectGiven(t, s, "under another key", "app", otherRole)
	gone := keep(c, configMapOf(""))
	c.change(func(c *cluster) { delete(c.objects, configMapsPath+"/"+configMapName) })
	watch.send(t, "DELETED", gone)
	close(watch.events)
	c.nextWatch(configMapsPath)
	expectGiven(t, s, "deleted", "app", otherRole)
}

// TestAConfigMapIsEmptiedByBraces, not by being deleted: see above.
func TestAConfigMapIsEmptiedByBraces(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "app", nil)
	keep(c, configMapOf(byName))
	s := running(t, reader, nil)
	watch := c.nextWatch(configMapsPath)
	c.nextWatch(accountsPath)
	awaitReads(t, s, "applied", 1)
	eventually(t, "the ServiceAccounts are read", s.accounts.synced)
	expectGiven(t, s, "at the start", "app", role)
	watch.send(t, "MODIFIED", keep(c, configMapOf("{}")))
	awaitReads(t, s, "applied", 2)
	eventually(t, "nothing is injected", func() bool { return given(t, s, "app") == "" })
}

// TestAConfigMapThatWasNeverReadable: pods that it may name fail; others do not.
func TestAConfigMapThatWasNeverReadable(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "app", nil)
	c.set("shop", "annotated", withRole)
	c.set("shop", "listed", nil)
	keep(c, configMapOf("garbage"))
	identities := filepath.Join(t.TempDir(), "identities.json")
	write(t, identities, strings.Replace(listsApp, "app", "listed", 1))
	s := running(t, reader, func(o *Options) { o.WatchIdentities = identities })
	c.nextWatch(accountsPath)
	watch := c.nextWatch(configMapsPath)
	eventually(t, "the ServiceAccounts are watched", func() bool { return s.accounts.(*cachedAccounts).holding().watched }) //nolint:forcetypeassert // running makes them
	expectGiven(t, s, "garbage", "app", "500")
	expectGiven(t, s, "garbage", "unknown", "500")
	expectGiven(t, s, "garbage", "annotated", role)
	expectGiven(t, s, "garbage", "listed", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
	_, text := get(t, s.observer(), "/metrics")
	if !strings.Contains(text, `tabard_webhook_admissions_total{cloud="aws",outcome="failed",reason="Undecided"} 2`) {
		t.Errorf("metrics:\n%s", grep(text, "admissions_total"))
	}
	without := configMapOf("")
	without.Data = nil
	watch.send(t, "MODIFIED", keep(c, without))
	eventually(t, "a config map without the key names nobody", func() bool { return given(t, s, "app") == "" })
	watch.send(t, "MODIFIED", keep(c, configMapOf("garbage")))
	awaitReads(t, s, "refused", 2)
	expectGiven(t, s, "garbage again", "app", "500")
	gone := keep(c, configMapOf("garbage"))
	c.change(func(c *cluster) { delete(c.objects, configMapsPath+"/"+configMapName) })
	watch.send(t, "DELETED", gone)
	eventually(t, "a config map that is gone names nobody", func() bool { return given(t, s, "app") == "" })
}

// TestAConfigMapThatMayNotBeRead may name anybody who is not annotated, until it may
// be read.
func TestAConfigMapThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.forbidden = configMapsPath
	c.set("shop", "app", nil)
	c.set("shop", "annotated", withRole)
	keep(c, configMapOf(`{"shop/app":{"RoleARN":"`+role+`"}}`))
	s := running(t, reader, nil)
	eventually(t, "who is annotated is served", func() bool { return given(t, s, "annotated") == role })
	expectGiven(t, s, "forbidden", "app", "500")
	awaitReads(t, s, "refused", 1)
	c.change(func(c *cluster) { c.forbidden = "" })
	eventually(t, "it may be read, and is", func() bool { return given(t, s, "app") == role })
}

// TestAConfigMapIsAwaited: nothing is said before it was looked for.
func TestAConfigMapIsAwaited(t *testing.T) {
	t.Parallel()
	s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
	must.Do(t, s.serving.load(pair(t, farAway)))
	from := &api{}
	sink := s.config.followConfigMap(from, "eks", labelNeeds{}, s.metrics, s.log).sink
	code, says := get(t, s.observer(), "/readyz")
	if code != http.StatusServiceUnavailable || says != "the config map has not been looked for yet" {
		t.Errorf("before, /readyz is %d %q", code, says)
	}
	expectGiven(t, s, "before", "app", "500")
	sink.begin()
	sink.listed("1")
	if code, says := get(t, s.observer(), "/readyz"); code != http.StatusOK {
		t.Errorf("after, /readyz is %d %q", code, says)
	}
	expectGiven(t, s, "after", "app", role)
}

func TestNamespacesAreReadOnceLabelsAreAskedFor(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	for _, name := range []string{"app", "other"} {
		c.set("shop", name, nil)
	}
	c.set("shop", "annotated", map[string]string{"eks.amazonaws.com/role-arn": otherRole})
	s := running(t, reader, nil)
	watch := c.nextWatch(configMapsPath)
	c.nextWatch(accountsPath)
	eventually(t, "nothing is injected", func() bool { return given(t, s, "app") == "" })
	watch.send(t, "ADDED", keep(c, configMapOf(byName)))
	awaitReads(t, s, "applied", 1)
	if reads, lists := c.asked(namespacesPath+"/shop", namespacesPath); reads != 0 || lists != 0 {
		t.Errorf("namespaces were read %d times and listed %d times before anybody asked for labels", reads, lists)
	}
	keep(c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "shop"}}})
	c.change(func(c *cluster) { c.unlisted = namespacesPath })
	watch.send(t, "MODIFIED", keep(c, configMapOf(byNamespaceLabel)))
	awaitReads(t, s, "applied", 2)
	expectGiven(t, s, "with the namespace not watched yet", "app", role)
	expectGiven(t, s, "with an annotation", "annotated", otherRole)
	if reads, _ := c.asked(namespacesPath+"/shop", namespacesPath); reads != 1 {
		t.Errorf("the namespace was read %d times, want once: for the pod without annotation", reads)
	}
	c.change(func(c *cluster) { c.down = true })
	expectGiven(t, s, "with the API server down", "other", "500")
	expectGiven(t, s, "with the API server down", "annotated", otherRole)
}

// TestLabelsOfNamespacesAreFollowed, and a namespace that was made this moment
// is looked at live.
func TestLabelsOfNamespacesAreFollowed(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "app", nil)
	old := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", CreationTimestamp: metav1.Unix(900_000_000, 0)}}
	keep(c, old)
	keep(c, configMapOf(byNamespaceLabel))
	s := running(t, reader, nil)
	c.nextWatch(configMapsPath)
	accounts, namespaces := c.nextWatch(accountsPath), c.nextWatch(namespacesPath)
	eventually(t, "all is read", func() bool { return s.config.namespaces.synced() && s.accounts.synced() })
	eventually(t, "nothing is injected", func() bool { return given(t, s, "app") == "" })
	labelled := old.DeepCopy()
	labelled.Labels = map[string]string{"team": "shop"}
	namespaces.send(t, "MODIFIED", keep(c, labelled))
	eventually(t, "the label counts", func() bool { return given(t, s, "app") == role })

	made := keep(c, account("new", "app", "", nil))
	keep(c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new", Labels: labelled.Labels}})
	accounts.send(t, "ADDED", made)
	if _, recorder := mutate(t, s, reviewOf("v1", "new", pod)); !strings.Contains(recorder.Body.String(), `"patch"`) {
		t.Errorf("in a namespace that no watch has told of: %s", recorder.Body)
	}
}

// TestLabelsOfAccountsAreReadOnceAskedFor, each by its name: others take no memory.
func TestLabelsOfAccountsAreReadOnceAskedFor(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	labelled := account("shop", "app", "", nil)
	labelled.Labels = map[string]string{"a": "b", "tier": "web", "version": "1"}
	keep(c, labelled)
	s := running(t, reader, nil)
	watch := c.nextWatch(configMapsPath)
	c.nextWatch(accountsPath)
	known, ok := s.accounts.(*cachedAccounts)
	if !ok {
		t.Fatalf("accounts are %T", s.accounts)
	}
	expectKept := func(when string, lists int, want ...string) {
		t.Helper()
		eventually(t, when+" the ServiceAccount is certain", func() bool { _, _, certain := known.get(app, withRoleName); return certain })
		var got []string
		if kept, _, _ := known.get(app, withRoleName); kept != nil {
			got = kept.labels
		}
		if _, listed := c.asked("", accountsPath); listed != lists || !cmp.Equal(want, got) {
			t.Errorf("%s, after %d lists labels %q are kept; want %d lists, %q", when, listed, got, lists, want)
		}
	}
	expectKept("before anybody asks for labels", 1)
	expectGiven(t, s, "before", "app", "")
	watch.send(t, "ADDED", keep(c, configMapOf(byAccountLabel)))
	awaitReads(t, s, "applied", 1)
	expectGiven(t, s, "before or after all are listed again", "app", role)
	c.nextWatch(accountsPath)
	expectKept("asked for one", 2, "a", "b")
	expectGiven(t, s, "after all are listed again", "app", role)
	watch.send(t, "MODIFIED", keep(c, configMapOf(strings.Replace(byAccountLabel, `"a":"b"`, `"a":"x"`, 1))))
	awaitReads(t, s, "applied", 2)
	expectKept("asked for the same", 2, "a", "b")
	expectGiven(t, s, "with another value", "app", "")
	watch.send(t, "MODIFIED", keep(c, configMapOf(strings.Replace(byAccountLabel, `"a":"b"`, `"tier":"web"`, 1))))
	awaitReads(t, s, "applied", 3)
	c.nextWatch(accountsPath)
	expectKept("asked for another", 3, "a", "b", "tier", "web")
	expectGiven(t, s, "by another label", "app", role)
}

// TestWhatIsConfiguredInTheSameMomentCounts: a ServiceAccount, what the config
// map or the file says of it, and its pod come at once, before any watch tells.
func TestWhatIsConfiguredInTheSameMomentCounts(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "old", nil)
	keep(c, configMapOf("{}"))
	identities := filepath.Join(t.TempDir(), "identities.json")
	s := running(t, reader, func(o *Options) { o.WatchIdentities = identities })
	c.nextWatch(accountsPath)
	watch := c.nextWatch(configMapsPath)
	eventually(t, "nothing is injected", func() bool { return given(t, s, "old") == "" })
	eventually(t, "old is certain", func() bool {
		before, _ := c.asked(namespacesPath+"/shop/serviceaccounts/old", "")
		given(t, s, "old")
		after, _ := c.asked(namespacesPath+"/shop/serviceaccounts/old", "")
		return before == after
	})
	before, _ := c.asked(configMapsPath+"/"+configMapName, "")
	expectGiven(t, s, "known for long", "old", "")
	if after, _ := c.asked(configMapsPath+"/"+configMapName, ""); after != before {
		t.Error("the config map was read for a ServiceAccount that is known for long")
	}
	older := configMapOf("{}")
	older.ResourceVersion = fmt.Sprint(c.version)
	c.set("shop", "app", nil)
	keep(c, configMapOf(byName))
	expectGiven(t, s, "made and configured", "app", role)
	watch.send(t, "MODIFIED", older)
	watch.send(t, "BOOKMARK", older)
	expectGiven(t, s, "after an event from before", "app", role)
	c.set("shop", "listed", withRole)
	write(t, identities, strings.Replace(listsApp, "app", "listed", 1))
	expectGiven(t, s, "made and listed", "listed", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
	c.change(func(c *cluster) { c.down = true })
	expectGiven(t, s, "with the API server down", "app", "500")
}
