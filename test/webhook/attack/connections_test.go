package attack

import "testing"

// Of the attack that the row of ten thousand connections describes.
const (
	connections = 10_000
	mostMemory  = 128 // MiB
)

// TestSlowConnectionsKeepNobodyOut: ten thousand connections that announce a review and
// send one byte of it, and come back when they are ended. They come from the address
// of the API server, so that nothing but their behaviour tells them from it.
func TestSlowConnectionsKeepNobodyOut(t *testing.T) {
	c, w := attacked(t)
	before := w.peak(t)
	a := begin(t, "-address", w.address, "-kind", "slow", "-connections", "10000", "-for", "3m")
	a.await(t, "that all have come", func(opened, _ int64) bool { return opened >= connections })
	lost, longest := createPods(c, "small", 200, 4, 0)
	after := w.peak(t)
	t.Logf("200 pods: %d without identity, the slowest took %v; the flood: %s; memory at its peak %d MiB, before %d MiB; displaced %v",
		lost, longest, quote(&a.said), after, before, w.value(t, "tabard_webhook_connections_displaced_total"))
	if lost > 0 {
		t.Errorf("%d of 200 pods lost their identity", lost)
	}
	if after > mostMemory {
		t.Errorf("the webhook took %d MiB, want at most %d", after, mostMemory)
	}
}

// TestConnectionsOfManyAddressesKeepNobodyOut: three hundred new connections a second, of six
// hundred addresses, as one client among the cluster's pods may have them, each of which stays
// as far as it is.
func TestConnectionsOfManyAddressesKeepNobodyOut(t *testing.T) {
	for _, kind := range []string{"silent", "slow", "idle"} {
		t.Run(kind, func(t *testing.T) {
			c, w := attacked(t)
			a := begin(t, "-address", w.address, "-kind", kind, "-arriving", "-rate", "300", "-sources", "600", "-connections", "2000", "-for", "3m")
			a.await(t, "that they fill the places", func(opened, _ int64) bool { return opened >= 1000 })
			lost, longest := createPods(c, "crowd-"+kind, 400, 2, 0)
			t.Logf("400 pods: %d without identity, the slowest took %v; the flood: %s; displaced %v",
				lost, longest, quote(&a.said), w.value(t, "tabard_webhook_connections_displaced_total"))
			if lost > 0 {
				t.Errorf("%d of 400 pods lost their identity", lost)
			}
			if w.value(t, "tabard_webhook_connections_displaced_total") == 0 {
				t.Error("no connection was displaced: the flood is none")
			}
		})
	}
}
