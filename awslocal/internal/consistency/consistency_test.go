package consistency

import (
	"slices"
	"testing"
	"time"
)

func TestSameSeedDrawsTheSameDelays(t *testing.T) {
	draw := func(seed uint64) []time.Duration {
		var d Dial
		d.Set(5*time.Second, seed)
		list := []time.Duration{}
		for range 20 {
			list = append(list, d.Draw())
		}
		return list
	}
	if first, second := draw(7), draw(7); !slices.Equal(first, second) {
		t.Errorf("seed 7 draws %v, then %v", first, second)
	}
	if slices.Equal(draw(7), draw(8)) {
		t.Error("the seeds 7 and 8 draw the same")
	}
	for _, delay := range draw(7) {
		if delay < 0 || delay > 5*time.Second {
			t.Errorf("a delay is %s, want at most 5s", delay)
		}
	}
}

func TestADialThatIsOffDelaysNothing(t *testing.T) {
	var d Dial
	if d.On() || d.Draw() != 0 || (*Dial)(nil).On() {
		t.Error("the zero dial delays")
	}
	d.Set(time.Second, 1)
	if !d.On() {
		t.Error("the dial is off after it was set")
	}
	d.Set(0, 1)
	if d.On() || d.Draw() != 0 {
		t.Error("a dial set to nothing delays")
	}
}

func TestThePastCountsUntilItsEnd(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var p Past[string, string]
	p.Keep("role", "one", at(0), at(10))
	p.Keep("role", "two", at(1), at(5)) // cannot be seen to end before "one" has
	p.Keep("role", "three", at(2), at(20))
	steps := []struct {
		second int
		want   string
		past   bool
	}{{0, "one", true}, {9, "one", true}, {10, "three", true}, {19, "three", true}, {20, "", false}}
	for _, step := range steps {
		if got, past := p.At("role", at(step.second)); got != step.want || past != step.past {
			t.Errorf("at second %d it is %q, %v; want %q, %v", step.second, got, past, step.want, step.past)
		}
	}
	if _, past := p.At("other", start); past {
		t.Error("a thing that never changed has a past")
	}
	p.Forget()
	if _, past := p.At("role", start); past || !p.IsEmpty() {
		t.Error("the past outlives its forgetting")
	}
}
