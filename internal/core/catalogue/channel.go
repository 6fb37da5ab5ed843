package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// Heads are the entries of a channel that no other entry replaces or skips, in the channel's
// order. A valid channel has exactly one. An entry that replaces or skips itself is none.
func Heads(entries []Entry) []string {
	left := make(map[string]bool, len(entries))
	for _, e := range entries {
		left[e.Replaces] = true
		for _, name := range e.Skips {
			left[name] = true
		}
	}
	var heads []string
	for _, e := range entries {
		if !left[e.Name] {
			heads = append(heads, e.Name)
		}
	}
	return heads
}

// Cycle is the names of entries that replace each other in a circle, in order, each once; nil
// if there is no circle.
func Cycle(entries []Entry) []string {
	replaces := make(map[string]string, len(entries))
	for _, e := range entries {
		replaces[e.Name] = e.Replaces
	}
	// walk is the number of the walk that saw an entry first.
	walk := make(map[string]int, len(entries))
	for i, e := range entries {
		name := e.Name
		for name != "" && walk[name] == 0 {
			walk[name] = i + 1
			name = replaces[name]
		}
		if name == "" || walk[name] != i+1 {
			continue
		}
		circle := []string{name}
		for next := replaces[name]; next != name; next = replaces[next] {
			circle = append(circle, next)
		}
		return circle
	}
	return nil
}

// By is what makes an upgrade possible.
type By string

// The three ways in which an entry names what upgrades to it.
const (
	ByReplaces  By = "replaces"
	BySkips     By = "skips"
	BySkipRange By = "skipRange"
)

// Edge is one upgrade into a bundle.
type Edge struct {
	// From is a bundle. Those of replaces and skips need not be in the catalogue.
	From string
	By   By
}

// Upgrades are the upgrades of a channel into the bundle to, each bundle once: first what it
// replaces, then what it skips in the order of the channel, then the bundles of the package in
// its skipRange, by name. They are nil if the channel's edges are not known, if it has no such
// entry, or if nothing upgrades to it.
func (p Package) Upgrades(c Channel, to string) []Edge {
	entry, ok := c.entry(to)
	if !ok || !c.EdgesKnown {
		return nil
	}
	var edges []Edge
	seen := map[string]bool{"": true, to: true}
	add := func(from string, by By) {
		if !seen[from] {
			seen[from] = true
			edges = append(edges, Edge{from, by})
		}
	}
	add(entry.Replaces, ByReplaces)
	for _, name := range entry.Skips {
		add(name, BySkips)
	}
	inside := inRange(entry.SkipRange)
	for _, b := range p.Bundles {
		if inside(b.Version) {
			add(b.Name, BySkipRange)
		}
	}
	return edges
}

// pathEffort bounds the search of Leads, in bundles that are looked at.
const pathEffort = 1 << 20

// Leads are the channels by which a bundle is upgraded to another one, at once or over others, in
// their order. Where no source tells that, or the search would take too long, known is false.
func (p Package) Leads(from, to string) (channels []string, known bool) {
	known, left := len(p.Channels) > 0, pathEffort
	for _, c := range p.Channels {
		if !c.EdgesKnown {
			known = false
			continue
		}
		seen, queue := map[string]bool{to: true}, []string{to}
		for ; len(queue) > 0 && left > 0 && !seen[from]; queue = queue[1:] {
			left -= len(p.Bundles) + len(c.Entries) + 1
			for _, edge := range p.Upgrades(c, queue[0]) {
				if !seen[edge.From] {
					seen[edge.From] = true
					queue = append(queue, edge.From)
				}
			}
		}
		if seen[from] {
			channels = append(channels, c.Name)
		}
	}
	return channels, known && left > 0 || len(channels) > 0
}

// Upgrade says whether an installed bundle upgrades to this entry, and by what. The installed
// version decides only about the skipRange; it may be empty if it is unknown.
func (e Entry) Upgrade(name, version string) (By, bool) {
	switch {
	case name == e.Name || name == "":
		return "", false
	case name == e.Replaces:
		return ByReplaces, true
	case slices.Contains(e.Skips, name):
		return BySkips, true
	case inRange(e.SkipRange)(version):
		return BySkipRange, true
	}
	return "", false
}

func (c Channel) entry(name string) (Entry, bool) {
	i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return c.Entries[i], true
}

// longestRange bounds the work of reading a range: real ones are below a hundred bytes.
const longestRange = 1024

// parseRange reads a range as OLM does, with the same library.
func parseRange(text string) (semver.Range, error) {
	if len(text) > longestRange {
		return nil, fmt.Errorf("it has %d bytes, expected %d at most", len(text), longestRange)
	}
	return semver.ParseRange(text)
}

// inRange says of a version whether it is in the range. A range or a version that cannot be
// read holds nothing.
func inRange(text string) func(version string) bool {
	none := func(string) bool { return false }
	if text == "" {
		return none
	}
	inside, err := parseRange(text)
	if err != nil {
		return none
	}
	return func(version string) bool {
		v, err := semver.Parse(version)
		return err == nil && inside(v)
	}
}

// check sets the channel's head, and returns what is wrong with the channel.
func (c *Channel) check() []Finding {
	var found []Finding
	say := func(code Code, format string, args ...any) {
		found = append(found, Finding{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if c.EdgesKnown {
		switch heads := Heads(c.Entries); len(heads) {
		case 1:
			c.Head = heads[0]
		case 0:
			c.Invalid = true
			say(ChannelWithoutHead, "the channel has no head: it has %d entries, and another replaces or skips each of them", len(c.Entries))
		default:
			c.Invalid = true
			say(ChannelWithHeads, "the channel has %d heads, expected one: nothing replaces or skips %s", len(heads), few(heads))
		}
		if circle := Cycle(c.Entries); circle != nil {
			say(ReplacesCycle, "the bundles replace each other in a circle: %s", few(circle))
		}
	}
	for _, e := range c.Entries {
		if e.SkipRange == "" {
			continue
		}
		if _, err := parseRange(e.SkipRange); err != nil {
			say(RangeBroken, "the skipRange of %s is %s, expected a range as in \">=1.0.0 <1.2.0\"; it counts as absent",
				Quoted(e.Name), Quoted(e.SkipRange))
		}
	}
	return found
}

// few are up to five names in quotes.
func few(names []string) string {
	const most = 5
	var text strings.Builder
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&text, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(Quoted(name))
	}
	return text.String()
}
