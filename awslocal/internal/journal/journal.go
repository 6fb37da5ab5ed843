// Package journal remembers the calls that were answered, in the order of their
// answers, so that tests and demonstrations can show who really asked for what.
package journal

import (
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// The bounds of a server that runs for days, and of what callers can make it
// remember.
const (
	// limit is how many entries there are at most.
	limit = 10000
	// maxText is how many bytes of a field are kept, more than any name, ARN or
	// key of AWS has.
	maxText = 4 << 10
	// overhead is what an entry takes besides its texts, its token and decision
	// included.
	overhead = 640
	// maxAudiences is how many audiences of a token are kept; AWS takes one.
	maxAudiences = 8
	// maxBytes is what all entries take together. There is room for limit calls
	// about objects with the longest keys.
	maxBytes = 16 << 20
)

// Journal is safe for concurrent use.
type Journal struct {
	noted func(call.Entry)

	mu sync.Mutex
	// ring has the entries from the place first on, after its end from its begin
	// on. It grows until it has limit places.
	ring         []call.Entry
	first, count int
	// bytes is what the entries take.
	bytes int
}

// New returns an empty journal. It tells noted of each entry; nil: nobody. The
// zero value is a journal too, which tells nobody.
func New(noted func(call.Entry)) *Journal { return &Journal{noted: noted} }

// Add appends an entry. The oldest ones go when there are too many, or when they
// take too much memory together.
func (j *Journal) Add(entry call.Entry) {
	if j.noted != nil {
		j.noted(entry)
	}
	unshare(&entry)
	size := own(&entry)
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.count == limit || j.bytes+size > maxBytes {
		j.drop()
	}
	if j.count == len(j.ring) {
		j.grow()
	}
	*j.at(j.count) = entry
	j.count++
	j.bytes += size
}

// own cuts an entry's texts and copies them together, away from the request that
// they are part of, which would stay in memory with them. It returns what the
// entry takes.
func own(entry *call.Entry) int {
	fields, size := texts(entry), 0
	for _, field := range fields {
		if len(*field) > maxText {
			*field = strings.ToValidUTF8((*field)[:maxText], "") + "…"
		}
		size += len(*field)
	}
	var together strings.Builder
	together.Grow(size)
	for _, field := range fields {
		together.WriteString(*field)
	}
	rest := together.String()
	for _, field := range fields {
		*field, rest = rest[:len(*field)], rest[len(*field):]
	}
	return overhead + size
}

func texts(entry *call.Entry) []*string {
	fields := []*string{
		&entry.ID, &entry.Service, &entry.Operation, &entry.Region,
		&entry.Caller, &entry.AccessKeyID, &entry.Resource, &entry.Error,
	}
	if t := entry.Token; t != nil {
		fields = append(fields, &t.Issuer, &t.Subject)
		for i := range t.Audience {
			fields = append(fields, &t.Audience[i])
		}
	}
	if d := entry.Decision; d != nil {
		fields = append(fields, &d.Action, &d.Resource, &d.Policy, &d.Sid, &d.Reason)
	}
	return fields
}

// unshare copies what an entry points to, so that its texts can be cut.
func unshare(entry *call.Entry) {
	if entry.Token != nil {
		token := *entry.Token
		token.Audience = slices.Clone(token.Audience[:min(len(token.Audience), maxAudiences)])
		entry.Token = &token
	}
	if entry.Decision != nil {
		decision := *entry.Decision
		entry.Decision = &decision
	}
}

// at is the place of the entry that has i entries before it.
func (j *Journal) at(i int) *call.Entry { return &j.ring[(j.first+i)%len(j.ring)] }

// drop forgets the oldest entry.
func (j *Journal) drop() {
	oldest := j.at(0)
	j.bytes -= overhead
	for _, field := range texts(oldest) {
		j.bytes -= len(*field)
	}
	*oldest = call.Entry{}
	j.first = (j.first + 1) % len(j.ring)
	j.count--
}

// grow makes a full ring twice as large.
func (j *Journal) grow() {
	larger := make([]call.Entry, min(limit, max(64, 2*len(j.ring))))
	copy(larger[copy(larger, j.ring[j.first:]):], j.ring[:j.first])
	j.ring, j.first = larger, 0
}

// Since returns the entries after the one with the given request ID; all of
// them when the ID is empty or no longer known.
func (j *Journal) Since(id string) []call.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	from := 0
	for i := j.count; id != "" && i > 0 && from == 0; i-- {
		if j.at(i-1).ID == id {
			from = i
		}
	}
	entries := make([]call.Entry, 0, j.count-from)
	for i := from; i < j.count; i++ {
		entries = append(entries, *j.at(i))
	}
	return entries
}

// Clear forgets all entries.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ring, j.first, j.count, j.bytes = nil, 0, 0, 0
}
