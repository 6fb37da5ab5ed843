// Package journal remembers the calls that were answered, in the order of their
// answers, so that tests and demonstrations can show who really asked for what.
package journal

import (
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// limit bounds the memory of a server that runs for days.
const limit = 10000

// Journal is safe for concurrent use.
type Journal struct {
	noted   func(call.Entry)
	mu      sync.Mutex
	entries []call.Entry
}

// New returns an empty journal. It tells noted of each entry; nil: nobody. The
// zero value is a journal too, which tells nobody.
func New(noted func(call.Entry)) *Journal { return &Journal{noted: noted} }

// Add appends an entry; the oldest one goes when there are too many.
func (j *Journal) Add(entry call.Entry) {
	if j.noted != nil {
		j.noted(entry)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) == limit {
		j.entries = append(j.entries[:0], j.entries[1:]...)
	}
	j.entries = append(j.entries, entry)
}

// Since returns the entries after the one with the given request ID; all of
// them when the ID is empty or no longer known.
func (j *Journal) Since(id string) []call.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	from := 0
	for i, entry := range j.entries {
		if id != "" && entry.ID == id {
			from = i + 1
		}
	}
	return append([]call.Entry{}, j.entries[from:]...)
}

// Clear forgets all entries.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = nil
}
