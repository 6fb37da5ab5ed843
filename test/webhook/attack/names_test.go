package attack

import (
	"fmt"
	"testing"
	"time"
)

// mostReads is how many reads a second unknown names may cause; the first two seconds
// twice as many.
const mostReads = 50

// TestUnknownNamesStarveNobody: a thousand names a second that do not exist, of one
// namespace, of namespaces that do not exist, and of the namespace itself in which
// ServiceAccounts are made, each with a pod right after it.
func TestUnknownNamesStarveNobody(t *testing.T) {
	c, w := attacked(t)
	c.MakeNamespaces("crowded", "honest")
	account(c, "crowded", "default") // which a controller makes in a cluster
	account(c, "honest", "default")
	for _, of := range []string{"crowded", "", "honest"} {
		before, began := w.looks(t), time.Now()
		a := begin(t, "-address", w.address, "-kind", "names", "-namespace", of, "-rate", "1000", "-connections", "200", "-for", "1m")
		a.await(t, "that it has begun", func(opened, _ int64) bool { return opened >= 3000 })
		lost := 0
		for i := range 40 {
			name := fmt.Sprintf("fresh-%d", i)
			account(c, "honest", name+of)
			made := podOf(name+of, name+of, 0)
			made.Namespace = "honest"
			c.Make(made)
			if !hasIdentity(made) {
				lost++
			}
		}
		took, reads := time.Since(began), w.looks(t)-before
		t.Logf("names of %q: %d of 40 pods without identity in %v; %v reads; the flood: %s", of, lost, took, reads, quote(&a.said))
		if lost > 0 {
			t.Errorf("names of %q: %d of 40 pods lost their identity", of, lost)
		}
		// Those of the honest pods come on top: at most one each, and one more.
		if most := (took.Seconds()+2)*mostReads + 80; reads > most {
			t.Errorf("names of %q: %v reads in %v, want at most %v", of, reads, took, most)
		}
		a.end(t)
	}
}

// looks is how many reads at the API server there were.
func (w *webhook) looks(t *testing.T) (sum float64) {
	t.Helper()
	for _, result := range []string{"found", "absent", "failed"} {
		sum += w.value(t, fmt.Sprintf("tabard_webhook_lookups_total{result=%q}", result))
	}
	return sum
}
