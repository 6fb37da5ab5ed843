package hubaccess_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

var (
	lives = flag.Int("lives", 3000, "how many random lives TestRandomLives runs")
	seed  = flag.Uint64("seed", 1, "the seed of TestRandomLives")
)

// TestRandomLives runs lives of FuzzConverge without its search for coverage, which are
// many more in the same time: go test ./internal/core/hubaccess -run RandomLives -lives 1000000.
func TestRandomLives(t *testing.T) {
	chance := rand.New(rand.NewPCG(*seed, 0))
	ready := map[string]int{}
	for n := range *lives {
		script := make([]byte, 1+3*chance.IntN(14))
		for i := range script {
			script[i] = byte(chance.UintN(256))
		}
		m := newModel(script[0])
		if err := crash.Run(crash.Model[hubaccess.World, hubaccess.Step](m), script[1:]); err != nil {
			t.Fatalf("life %d of seed %d, script %#v: %v", n, *seed, script, err)
		}
		for reason := range m.said {
			ready[reason]++
		}
	}
	t.Logf("in how many lives each reason was said: %v", ready)
	// The one is an event's; the other stands only where the API server fails.
	ready[string(hubaccess.ReasonAccessDiffers)]++
	ready[string(hubaccess.ReasonRemoving)]++
	for _, reason := range hubaccess.Reference().Reasons {
		if ready[string(reason.Reason)] == 0 {
			t.Errorf("no life has said %s", reason.Reason)
		}
	}
}
