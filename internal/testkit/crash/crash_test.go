package crash_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

// room is a model of a controller that makes a room outside for an object, records
// it before, and takes both away with the object; one thing can be wrong with it.
type room struct {
	crash.Plain
	wrong                 string
	dying, recorded, made bool
	passes, chair         int
}

func (r *room) Observe() *room {
	seen := *r
	return &seen
}

func (r *room) Decide(seen *room) (steps []string) {
	r.passes++
	switch {
	case r.wrong == "a decision that changes its world":
		seen.made = true
	case r.wrong == "no end":
		return []string{"record"}
	case seen.dying && r.wrong == "an orphan":
		return []string{"forget"}
	}
	switch {
	case seen.dying && seen.recorded:
		return []string{"remove", "forget"}
	case seen.dying || seen.made:
		return nil
	case r.wrong == "no record":
		return []string{"make", "record"}
	}
	return []string{"record", "make"}
}

func (r *room) Perform(step string, fail bool) error {
	if fail {
		return errors.New("it fails")
	}
	switch step {
	case "record":
		r.recorded = true
	case "make":
		if r.made = true; r.wrong == "a chair that is moved" {
			r.chair++
		}
	case "remove":
		r.made = false
	case "forget":
		r.recorded = false
	}
	return nil
}

func (r *room) Disturb(next func() byte) error {
	if next() == 1 {
		r.made = false
	}
	return nil
}

func (r *room) Violation() string {
	if r.made && !r.recorded {
		return "a room that nothing tells of"
	}
	return ""
}

func (r *room) Foreign() []string { return []string{"chair " + strings.Repeat("x", r.chair)} }

func (r *room) Stored() any {
	if r.wrong == "a status that counts" {
		return r.passes
	}
	return r.recorded
}

func (r *room) Rest(chapter int) (more bool, wrong string) {
	switch {
	case chapter == 0 && !r.made:
		return false, "no room"
	case chapter == 0:
		r.dying = true
		return true, ""
	case r.made:
		return false, "a room is left"
	}
	return false, ""
}

func FuzzRoom(f *testing.F) {
	start := func(byte) crash.Model[*room, string] { return &room{} }
	crash.Fuzz(f, start, []byte{0, 0, 0, 1, 0}, []byte{0, 0x20, 1, 9, 1, 15, 0}, []byte{0, 0x10})
}

func TestTheDriverFindsWhatIsWrong(t *testing.T) {
	for wrong, want := range map[string]string{
		"":                                  "",
		"a decision that changes its world": "the decision changed the world",
		"no end":                            "no rest after 20 passes",
		"an orphan":                         "a room that nothing tells of",
		"no record":                         "a room that nothing tells of",
		"a chair that is moved":             "touched what is not ours: chair",
		"a status that counts":              "a pass without steps changes what is stored",
	} {
		err := crash.Run(&room{wrong: wrong}, []byte{0, 0, 1, 0, 0x10, 1, 9, 0})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %q the driver found %v, want %q", wrong, err, want)
		}
	}
	m := &room{}
	planted := &crash.Planted[*room, string]{Model: m, Plant: func() { m.made, m.recorded = true, false }}
	if err := crash.Run(planted, nil); err == nil || !strings.Contains(err.Error(), "a room that nothing tells of") {
		t.Errorf("of what was planted the driver found %v", err)
	}
}
