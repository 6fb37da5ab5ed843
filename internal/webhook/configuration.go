package webhook

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// configuration is what the cluster's administrators say at the moment. It is
// safe for concurrent use. What is not followed is empty, and known.
type configuration struct {
	identities source[inject.Identities]
	mapping    source[inject.Mapping]
	// namespaces has the labels of namespaces; nil where nothing can need them.
	namespaces accounts
	// timeout bounds a look at one of them in this moment.
	timeout time.Duration
}

// looked says that everything has been looked for once. The identities file is
// looked at before anything is served.
func (c *configuration) looked() bool { return !c.mapping.awaited.Load() }

// fill adds what is said now to a subject.
func (c *configuration) fill(s *inject.Subject) {
	s.Identities, s.IdentitiesUnread = c.identities.current.Load(), c.identities.unread.Load()
	s.Mapping, s.MappingUnread = c.mapping.current.Load(), c.mapping.unread.Load()
}

// source is one part of the configuration.
type source[T any] struct {
	current atomic.Pointer[T]
	// awaited says that it has not been looked for yet.
	awaited atomic.Bool
	// unread says that it is there, and has never been readable.
	unread atomic.Bool
	// latest looks at it in this moment; nil if it is not followed.
	latest *latest
}

// renew looks at a source in this moment.
func (s *source[T]) renew(ctx context.Context, timeout time.Duration) error {
	if s.latest == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.latest.now(ctx)
}

// document takes the text of one part over, whenever it changes. It is safe for
// concurrent use.
type document[T any] struct {
	// name labels metrics.
	name string
	// parse answers nil if the text as a whole cannot be read.
	parse func([]byte) (*T, []string)
	// length is the number of entries.
	length  func(*T) int
	into    *source[T]
	metrics *metrics
	log     logr.Logger

	mu sync.Mutex
	// last is the text that was read last, if seen; failure is why there was none
	// the last time.
	seen    bool
	last    []byte
	failure string
}

// take reads a text, if it is another than the last. One that cannot be read
// leaves what was there.
func (d *document[T]) take(text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen && bytes.Equal(text, d.last) {
		return
	}
	d.seen, d.last, d.failure = true, bytes.Clone(text), ""
	parsed, problems := d.parse(text)
	if parsed == nil {
		d.refuse(problems)
		return
	}
	d.tell(problems)
	d.into.current.Store(parsed)
	d.into.unread.Store(false)
	d.metrics.configurationReads.WithLabelValues(d.name, "applied").Inc()
	d.metrics.configurationEntries.WithLabelValues(d.name).Set(float64(d.length(parsed)))
	d.log.Info("configuration applied", "source", d.name, "entries", d.length(parsed))
}

// fail says that there is something, of which the text cannot be had.
func (d *document[T]) fail(problem error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure == problem.Error() {
		return // told once, not every second
	}
	d.seen, d.last, d.failure = false, nil, problem.Error()
	d.refuse([]string{d.failure})
}

// refuse leaves what was there. If there was nothing ever, it is not known what
// should be.
func (d *document[T]) refuse(problems []string) {
	d.tell(problems)
	d.metrics.configurationReads.WithLabelValues(d.name, "refused").Inc()
	if d.into.current.Load() == nil {
		d.into.unread.Store(true)
	}
	d.log.Info("the configuration stays as it was", "source", d.name)
}

// absent says that there is no such document, now or any more; the problem is
// what is there instead, empty for nothing. What it said stays; if it could never
// be read, it said nothing.
func (d *document[T]) absent(problem string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.seen && d.failure == problem {
		return
	}
	d.seen, d.last, d.failure = false, nil, problem
	d.into.unread.Store(false)
	var problems []string
	if problem != "" {
		problems = []string{problem}
	}
	d.tell(problems)
	d.log.Info("there is no configuration; what it said before stays", "source", d.name)
}

// maxProblems bounds what is logged of one document.
const maxProblems = 20

func (d *document[T]) tell(problems []string) {
	d.metrics.configurationProblems.WithLabelValues(d.name).Set(float64(len(problems)))
	for _, problem := range problems[:min(len(problems), maxProblems)] {
		d.log.Info("problem in the configuration", "source", d.name, "problem", problem, "problems", len(problems))
	}
}
