// Package decode says which link of the chain a pasted text is about: an error of an SDK, a line of a
// log, an event of CloudTrail or a token. It does no I/O, and never shows a token or a signature.
package decode

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// Kind is what a text is.
type Kind string

// The kinds.
const (
	// Error is a message in words, such as an SDK's error or a line of a log.
	Error Kind = "error"
	// Event is an event of CloudTrail.
	Event Kind = "event"
	// AToken is a JSON Web Token.
	AToken Kind = "token"
	// Unknown is none of these.
	Unknown Kind = "unknown"
)

// Result is what a text says.
type Result struct {
	Kind Kind `json:"input"`
	// Seen is the part that was recognized, in one line; of a token nothing.
	Seen string `json:"seen,omitempty"`
	// Link is where to look first, Links are all in their order; none for what is not known.
	Link  chain.Link   `json:"link,omitempty"`
	Links []chain.Link `json:"links,omitempty"`
	// Means is one sentence; Causes are the likeliest first.
	Means  string   `json:"means,omitempty"`
	Causes []string `json:"causes,omitempty"`
	// Next are the commands to type, in their order. A word in upper case is to be filled in.
	Next []string `json:"next,omitempty"`
	// Unverified says that the text is known from reports, and was not provoked by a test of ours.
	Unverified bool `json:"unverified,omitempty"`
	// Facts are what the text names besides: a role, a provider, an action.
	Facts []Detail `json:"facts,omitempty"`
}

// Detail is one thing that a text names.
type Detail struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Longest is how many bytes of a text are read.
const Longest = 1 << 20

var token = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)
})

// Decode says what a text is about. Errors with a token in them are about the error.
func Decode(text string, now time.Time) Result {
	text = text[:min(len(text), Longest)]
	if found, is := event(text); is {
		return found
	}
	raw := token().FindString(text)
	rest := token().ReplaceAllString(text, "TOKEN")
	if found, is := message(rest); is {
		return found
	}
	if raw != "" {
		if found, is := decodeToken(raw, now); is {
			return found
		}
	}
	return Result{Kind: Unknown}
}

// message looks for a row whose words are in the text.
func message(text string) (Result, bool) {
	lower := strings.ToLower(text)
	for _, row := range rows() {
		at := row.find(lower)
		if at < 0 {
			continue
		}
		return Result{
			Kind: Error, Seen: around(text, at), Link: row.links[0], Links: row.links, Means: row.means, Causes: row.causes, Next: row.next, Unverified: row.unverified, Facts: facts(text),
		}, true
	}
	return Result{}, false
}

// find is where one of the row's words begin in a text in lower case, negative for nowhere.
func (r row) find(lower string) int {
	for _, words := range r.words {
		first := -1
		for part := range strings.SplitSeq(words, "…") {
			at := strings.Index(lower, part)
			if at < 0 {
				first = -1
				break
			}
			if first < 0 {
				first = at
			}
		}
		if first >= 0 {
			return first
		}
	}
	return -1
}

// around is the line of a text at a place.
func around(text string, at int) string {
	at = min(at, len(text))
	begin, end := strings.LastIndexByte(text[:at], '\n')+1, len(text)
	if next := strings.IndexByte(text[at:], '\n'); next >= 0 {
		end = at + next
	}
	return line.Of(text[begin:end])
}

// named are what is looked for in a message.
var named = sync.OnceValue(func() []struct {
	name string
	is   *regexp.Regexp
} {
	return []struct {
		name string
		is   *regexp.Regexp
	}{
		{"caller", regexp.MustCompile(`(?i)user: (arn:aws[a-z-]*:[a-z]+::[0-9]{12}:\S{1,600}?) is not authorized`)},
		{"action", regexp.MustCompile(`(?i)not authorized to perform:? ([a-z0-9-]+:[A-Za-z0-9]+)`)},
		{"resource", regexp.MustCompile(`(?i)on resource: "?(arn:[^\s"]{1,600}|\*)`)},
		{"issuer", regexp.MustCompile(`(?i)in your account for (https?://[^\s"',]{1,300})`)},
		{"role", regexp.MustCompile(`(arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]{1,512})`)},
	}
})

func facts(text string) (out []Detail) {
	for _, each := range named() {
		if found := each.is.FindStringSubmatch(text); found != nil {
			out = append(out, Detail{each.name, line.Of(found[1])})
		}
	}
	return out
}
