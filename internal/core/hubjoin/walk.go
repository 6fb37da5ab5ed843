package hubjoin

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// State is how it is with a link.
type State string

const (
	// Holds is a link that was seen to be as it shall be.
	Holds State = "Holds"
	// Broken is the first link that is not as it shall be.
	Broken State = "Broken"
	// Unknown is a link that could not be read, or was not looked at.
	Unknown State = "Unknown"
	// Waits is a link behind a broken one.
	Waits State = "Waits"
)

// Finding is what was found of one link.
type Finding struct {
	// Link is its name.
	Link string `json:"link"`
	// State is how it is with it.
	State State `json:"state"`
	// Text says what was seen, for people.
	Text string `json:"text"`
	// Mend are sentences and commands, in order; of a broken link alone.
	Mend []string `json:"mend,omitempty"`
}

// The links, in the order of a join.
const (
	LinkHub        = "hub"
	LinkKlusterlet = "klusterlet"
	LinkIdentity   = "identity"
	LinkAgents     = "agents"
	LinkAsked      = "asked"
	LinkAccepted   = "accepted"
	LinkAccess     = "access"
	LinkJoined     = "joined"
	LinkAvailable  = "available"
	LinkWorks      = "works"
)

// Walk judges all links in the order of a join. At most one is Broken: the first. No link behind it
// Holds, because what was seen of it may be of a time before.
func Walk(e Evidence) []Finding {
	w := walker{e}
	out := []Finding{w.hub()}
	if e.Spoke != nil {
		out = append(out, w.klusterlet(), w.identity(), w.agents())
	}
	out = append(out, w.asked(), w.accepted(), w.access(), w.joined(), w.available(), w.works())
	first := slices.IndexFunc(out, func(f Finding) bool { return f.State == Broken })
	for i := first + 1; first >= 0 && i < len(out); i++ {
		out[i] = Finding{Link: out[i].Link, State: Waits, Text: "waits for the above" + seen(out[i].Text)}
	}
	return out
}

// seen adds what was seen of a link that waits.
func seen(text string) string {
	if text == notYet {
		return ""
	}
	return "; seen: " + text
}

// First is the broken link; false if there is none.
func First(findings []Finding) (Finding, bool) {
	at := slices.IndexFunc(findings, func(f Finding) bool { return f.State == Broken })
	if at < 0 {
		return Finding{}, false
	}
	return findings[at], true
}

// AllHold says that every link holds.
func AllHold(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.State != Holds })
}

// notYet is the text of a link that cannot be judged before another one.
const notYet = "not looked at: it comes after a link that could not be read"

// walker judges links.
type walker struct{ Evidence }

func holds(link, format string, args ...any) Finding {
	return Finding{Link: link, State: Holds, Text: say(format, args...)}
}

func unknown(link, format string, args ...any) Finding {
	return Finding{Link: link, State: Unknown, Text: say(format, args...)}
}

func broken(link string, mend []string, format string, args ...any) Finding {
	return Finding{Link: link, State: Broken, Text: say(format, args...), Mend: mend}
}

// say is a text in one line: of some, others wrote a part.
func say(format string, args ...any) string { return line.Of(fmt.Sprintf(format, args...)) }

// unread is the finding of a link of which something could not be read.
func (r Read) unread(link, what string) Finding {
	if r.Right != "" {
		return unknown(link, "%s could not be read: it needs the right to %s", what, r.Right)
	}
	return unknown(link, "%s could not be read: %s", what, r.Trouble)
}
