package webhook

import (
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// configMapStep is what happens to the config map, and what is known after.
type configMapStep struct {
	what string
	do   func(t *testing.T, s sink)
	// entries are those known, -1 that there is something that cannot be read.
	entries int
}

// TestTheNewestConfigMapCounts, in whatever order it is seen: a live look may be
// ahead of the watch, and a list may tell of a cluster that was set back.
func TestTheNewestConfigMapCounts(t *testing.T) {
	t.Parallel()
	put := func(version, text string) func(*testing.T, sink) {
		return func(t *testing.T, s sink) { t.Helper(); putConfigMap(t, s.put, version, text) }
	}
	remove := func(version string) func(*testing.T, sink) {
		return func(t *testing.T, s sink) { t.Helper(); putConfigMap(t, s.remove, version, "") }
	}
	list := func(version, text string) func(*testing.T, sink) {
		return func(t *testing.T, s sink) {
			t.Helper()
			s.begin()
			if version != "" {
				putConfigMap(t, s.put, version, text)
			}
			s.listed("1000")
		}
	}
	const one, two = `{"shop/app":{"RoleARN":"` + role + `"}}`, `{"shop/app":{"RoleARN":"` + role + `"},"shop/web":{"RoleARN":"` + role + `"}}`
	tests := map[string][]configMapStep{
		"a look ahead of the watch": {
			{"a look", put("110", two), 2}, {"an older event", put("105", one), 2}, {"the event", put("110", two), 2}, {"a newer event", put("115", one), 1}},
		"a cluster that was set back": {
			{"the first list", list("110", two), 2}, {"a list of older versions", list("50", one), 1}, {"an event", put("55", two), 2}},
		"a removal that nobody saw": {
			{"garbage", list("110", "garbage"), -1}, {"a list without it", list("", ""), 0}, {"garbage again", put("120", "garbage"), -1}},
		"a look from before a removal": {
			{"garbage", list("110", "garbage"), -1}, {"it is removed", remove("120"), 0}, {"the look", put("110", "garbage"), 0}},
		"versions that are no numbers": {
			{"a list", list("x", one), 1}, {"an event", put("a", two), 2}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c configuration
			follower := c.followConfigMap(&api{}, "eks", labelNeeds{}, newMetrics(), logr.Discard())
			for _, step := range steps {
				step.do(t, follower.sink)
				got := c.mapping.current.Load().Len()
				if c.mapping.unread.Load() {
					got = -1
				}
				if got != step.entries {
					t.Errorf("%s: %d entries, want %d", step.what, got, step.entries)
				}
			}
		})
	}
}

func putConfigMap(t *testing.T, call func(object) error, version, text string) {
	t.Helper()
	made := configMapOf(text)
	made.ResourceVersion = version
	must.Do(t, call(seen(t, made)))
}

// TestTheCacheIsReadAnewWhenAsked by the debugging handler; it is not emptied.
func TestTheCacheIsReadAnewWhenAsked(t *testing.T) {
	t.Parallel()
	c, reader := newCluster(t)
	c.set("shop", "app", withRole)
	s := running(t, reader, func(o *Options) { o.DebuggingHandlers = true })
	c.nextWatch(accountsPath)
	if code, says := get(t, s.observer(), "/debug/alpha/cache/clear"); code != http.StatusOK || says != "ok" {
		t.Errorf("%d %q", code, says)
	}
	expectGiven(t, s, "while it is read anew", "app", role)
	c.nextWatch(accountsPath)
	if _, lists := c.asked("", accountsPath); lists != 2 {
		t.Errorf("%d lists, want 2", lists)
	}
}

// TestLabelsAreNotCertainBeforeTheyAreListed, and that they are then is no change
// of the ServiceAccount.
func TestLabelsAreNotCertainBeforeTheyAreListed(t *testing.T) {
	t.Parallel()
	bare, annotated := account("shop", "app", "5", nil), account("shop", "annotated", "6", withRole)
	known := filled(t, bare, annotated)
	certain := func(of *corev1.ServiceAccount) bool {
		_, _, is := known.get(types.NamespacedName{Namespace: of.Namespace, Name: of.Name}, withRoleName)
		return is
	}
	if !certain(bare) || !certain(annotated) {
		t.Error("before, they are not certain")
	}
	if !known.wantLabels([]string{"a"}) {
		t.Error("a new label needs no list")
	}
	if certain(bare) || !certain(annotated) {
		t.Errorf("before the list, the one without a role is certain: %t, the one with: %t; want only the latter", certain(bare), certain(annotated))
	}
	known.watching(false)
	relist(t, known, "110", bare, annotated)
	known.watching(true)
	if !certain(bare) || !certain(annotated) {
		t.Error("after the list, they are not certain")
	}
	if known.wantLabels([]string{"a"}) {
		t.Error("a known label needs a list")
	}
}
