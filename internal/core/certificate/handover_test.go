package certificate_test

import (
	"bytes"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/certificate"
)

// takenOver are the steps from what is served to a new authority: as in each
// rotation, nothing is served that is not trusted.
var takenOver = []string{"TakeOver", "PutBundle", "IssueProbe", "Probe", "IssueServing proven"}

// earlier is the world as a version left it that kept everything in one Secret.
func earlier(w certificate.World) certificate.World {
	w.Previous, w.Secret, w.Served = certificate.Secret{Ours: true, Data: maps.Clone(w.Secret.Data)}, certificate.Secret{}, certificate.Secret{}
	return w
}

// TestPublish demands that the webhook's replicas read each change, and that no key
// of an authority is ever among it.
func TestPublish(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	renewed := false
	for range 100 {
		plan := c.decide()
		c.world.Now = c.world.Now.Add(plan.Again)
		if plan.Step == nil && plan.Phase == certificate.Steady {
			if renewed {
				return
			}
			renewAuthority(t, &c.world)
			renewed = true
			continue
		}
		if plan.Step == nil {
			continue
		}
		c.perform(plan.Step)
		if c.world.Served.Data["ca.key"] != nil {
			t.Fatalf("after %v the authority's key is published", plan.Step)
		}
		if diff := cmp.Diff(certificate.Published(c.world.Secret.Data), c.world.Served.Data); plan.Step == (certificate.Publish{}) && diff != "" {
			t.Fatalf("published is another (-want +got):\n%s", diff)
		}
	}
	t.Fatal("no end of steps")
}

// TestUpgrade goes from the one Secret of an earlier version to two, while replicas
// of that version still serve from the first: these are trusted until they are gone,
// and the authority whose key they could read signs nothing any more.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.settle()
	old := maps.Clone(c.world.Secret.Data)
	c.world = earlier(c.world)
	for range 100 {
		plan := c.decide()
		if plan.Phase == certificate.Steady {
			break
		}
		c.world.Now = c.world.Now.Add(plan.Again)
		if plan.Step != nil {
			c.perform(plan.Step)
		}
		c.spread()
		for _, served := range []map[string][]byte{old, c.world.Served.Data} {
			if err := c.trustedWith(served); err != nil && served != nil {
				t.Fatalf("after %v: %v", plan.Step, err)
			}
		}
	}
	if bytes.Equal(c.world.Secret.Data["ca.key"], old["ca.key"]) || bytes.Equal(c.world.Served.Data["tls.crt"], old["tls.crt"]) {
		t.Error("the authority of the earlier version is used on")
	}
}
