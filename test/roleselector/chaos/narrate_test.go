package chaos

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// lookback is how much of what came before a violation is told.
const lookback = 8 * time.Second

// chronicle keeps what happened to the controller.
type chronicle struct {
	mu     sync.Mutex
	events []happening
}

// happening is one line of a narration.
type happening struct {
	at   time.Time
	text string
}

func (c *chronicle) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, happening{time.Now(), text})
}

// narrate tells what was stored and what happened before a violation, for a person.
func (c *chronicle) narrate(v violation, h *history) string {
	var lines []happening
	add := func(at time.Time, text string) {
		if !at.After(v.call.Time) && at.After(v.call.Time.Add(-lookback)) {
			lines = append(lines, happening{at, text})
		}
	}
	c.mu.Lock()
	for _, e := range c.events {
		add(e.at, e.text)
	}
	c.mu.Unlock()
	concerned := func(key) bool { return true }
	for _, o := range h.resources {
		if o.object != nil && o.object.bucket == v.of {
			of := o.key
			concerned = func(k key) bool {
				return k == of || k.namespace == "" || k.namespace == of.namespace && strings.HasPrefix(k.name, "c")
			}
		}
	}
	tellVersions(add, "selector", only(h.selectors, concerned))
	tellVersions(add, "choice", only(h.choices, concerned))
	tellVersions(add, "namespace", only(h.namespaces, concerned))
	tellVersions(add, "Bucket", only(h.resources, concerned))
	slices.SortStableFunc(lines, func(a, b happening) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	text := v.String()
	for _, line := range lines {
		text += "\n    " + line.at.Format("15:04:05.000") + " " + line.text
	}
	return text
}

func tellVersions[T any](add func(time.Time, string), kind string, versions []version[T]) {
	for _, v := range versions {
		what := "deleted"
		if v.object != nil {
			what = describe(v.object)
		}
		add(v.latest, fmt.Sprintf("%s %s/%s, revision %d, stored after %s: %s", kind, v.key.namespace, v.key.name, v.revision, v.earliest.Format("05.000"), what))
	}
}

// describe is what of an object decides.
func describe(object any) string {
	switch o := object.(type) {
	case *resource:
		return fmt.Sprintf("labels %v, choice %q, deleting %t, retain %t, recorded %+v, announced %q, UID %s", o.labels, o.choice, o.deleting, o.retain, o.recorded, o.announced, o.uid)
	case *namespace:
		return fmt.Sprint(o.labels)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	_, spec, _ := strings.Cut(string(text), `"spec":`)
	return spec
}
