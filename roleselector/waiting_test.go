package roleselector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Each step is RESOURCE:SESSION, where no session is a release. What is woken is written
// behind the step.
func TestWhoWasRefusedIsWokenWhenThereIsRoom(t *testing.T) {
	for what, steps := range map[string][]string{
		"the first that waits":                     {"a:1", "b:2", "c:3", "d:4", "a: > c", "c:3", "b: > d"},
		"all of the session that is next":          {"a:1", "b:2", "c:3", "d:4", "e:3", "a: > c e", "e:3 > c", "c:3", "b: > d"},
		"nobody while another uses the session":    {"a:1", "b:2", "c:1", "d:3", "a:", "c: > d"},
		"who asks again keeps the place":           {"a:1", "b:2", "c:3", "d:4", "c:3", "a: > c"},
		"a turn that is not taken passes on":       {"a:1", "b:2", "c:3", "d:4", "a: > c", "c: > d"},
		"a turn passes on once":                    {"a:1", "b:2", "c:3", "d:4", "e:5", "a: > c", "c: > d", "d:4", "b: > e"},
		"who left before waits for nothing":        {"a:1", "b:2", "c:3", "c:", "a:", "b:"},
		"a newcomer was faster":                    {"a:1", "b:2", "c:3", "d:4", "a: > c", "e:5", "c:3", "b: > d", "d:4", "e: > c"},
		"room by a change of session":              {"a:1", "b:2", "c:3", "a:2 > c"},
		"it joins one that is there":               {"a:1", "b:2", "c:3", "c:2", "a:", "b:"},
		"two rooms at once":                        {"a:1", "b:2", "c:3", "d:4", "a: > c", "b: > d", "d:4", "c:3"},
		"it wants another session, and waits anew": {"a:1", "b:2", "c:3", "d:4", "c:5", "a: > d", "d:4", "b: > c"},
	} {
		t.Run(what, func(t *testing.T) {
			sessions := NewSessions(2)
			var woken []string
			sessions.OnRoom(func(o Object) { woken = append(woken, o.Name) })
			for _, step := range steps {
				woken = nil
				asked, want, _ := strings.Cut(step, " > ")
				resource, session, _ := strings.Cut(asked, ":")
				if session == "" {
					sessions.Release(bucketNamed(resource))
				} else {
					sessions.Admit(bucketNamed(resource), Reference{Name: "team"}, sessionNamed(session))
				}
				slices.Sort(woken)
				if got := strings.Join(woken, " "); got != want {
					t.Fatalf("%s wakes %q, want %q", asked, got, want)
				}
			}
		})
	}
}

// Whatever resources do, once all that were woken have asked again none waits at a
// selector that has room, and nothing is kept of those that do not wait.
func TestNobodyWaitsWhereThereIsRoom(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		w := newWishes(1+random.IntN(4), 1+random.IntN(20))
		for range 300 {
			resource := fmt.Sprint(random.IntN(w.resources))
			w.wants[resource] = wish{selector: fmt.Sprint(random.IntN(2)), session: []string{"", "1", "2", "3", "4", "5", "6"}[random.IntN(7)]}
			w.ask(resource)
			if random.IntN(3) > 0 { // others ask before the woken do
				w.settle(t)
			}
		}
		w.settle(t)
		for resource := range w.wants {
			w.wants[resource] = wish{}
			w.ask(resource)
		}
		w.settle(t)
		if s := w.sessions; len(s.waits.groups)+len(s.waits.queues)+s.Open() > 0 {
			t.Fatalf("seed %d: with nothing wanted it holds %+v", seed, s.waits)
		}
	}
}

type wish struct{ selector, session string }

// wishes are resources that ask when they are woken.
type wishes struct {
	sessions  *Sessions
	resources int
	wants     map[string]wish
	refused   map[string]bool
	woken     []string
}

func newWishes(limit, resources int) *wishes {
	w := &wishes{sessions: NewSessions(limit), resources: resources, wants: map[string]wish{}, refused: map[string]bool{}}
	w.sessions.OnRoom(func(o Object) { w.woken = append(w.woken, o.Name) })
	return w
}

func (w *wishes) ask(resource string) {
	want := w.wants[resource]
	if want.session == "" {
		w.sessions.Release(bucketNamed(resource))
		w.refused[resource] = false
		return
	}
	w.refused[resource] = w.sessions.Admit(bucketNamed(resource), Reference{Name: want.selector}, sessionNamed(want.session)) != nil
}

func (w *wishes) settle(t *testing.T) {
	t.Helper()
	for asked := 0; len(w.woken) > 0; asked++ {
		if asked > 1000 {
			t.Fatal("waking does not end")
		}
		next := w.woken[0]
		w.woken = w.woken[1:]
		w.ask(next)
	}
	for resource, refused := range w.refused {
		if at := (maker{name: w.wants[resource].selector}); refused && !w.sessions.isFull(at) {
			t.Fatalf("%s waits for %+v, where %d sessions are open of %d", resource, w.wants[resource], len(w.sessions.open[at]), w.sessions.limit)
		}
	}
}
