package webhook

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// freshFor is how long after it was seen to change a ServiceAccount without an
// identity is not taken for one that has none: who makes it in one step may annotate
// it in the next, and the pod may come before the watch has told. It is long for
// a script's two steps and for a watch that lags, and short enough for pods of
// ServiceAccounts that are in use to cause no reads.
const freshFor = 10 * time.Second

// maxAhead bounds what is known by live looks before the watch tells.
const maxAhead = 4096

// store keeps of every ServiceAccount what matters of its annotations, and its
// labels that somebody asks for; of those without any nothing but the name: a
// cluster may have very many. Namespaces are kept in one, too. It is safe for
// concurrent use.
type store struct {
	interest interest
	start    time.Time
	// labels are the names of those that matter; nil is none.
	labels atomic.Pointer[labelNames]

	mu sync.RWMutex
	// entries are by NAMESPACE/NAME.
	entries map[string]entry
	// round counts lists; an entry of an earlier one is gone when a list ends.
	round uint32
	// labelled is the first round whose entries have all labels that matter; what
	// is older is not certain.
	labelled uint32
	// position is the version up to which all is known.
	position uint64
	// ahead is what live looks have found at versions after the position. The
	// watch's older events must not undo it.
	ahead map[string]ahead
	// watched says that there is a watch now, without one the store falls behind.
	watched  bool
	complete bool
	// lastEvent is when the API server was last heard of.
	lastEvent time.Time
	optedIn   int
	// tooLong is how many have more annotations than are kept.
	tooLong int
	// expected are closed when the watch tells of a name, NAMESPACE/NAME.
	expected map[string]*expected
}

// expected is a name that somebody waits for.
type expected struct {
	told chan struct{}
	by   int
}

// entry is one ServiceAccount.
type entry struct {
	// notes is nil without any that matter.
	notes *notes
	// changed is when it was seen to change, in seconds since the store's start,
	// 0 if that was before.
	changed, round uint32
}

type ahead struct {
	notes   *notes
	version uint64
}

func newStore(wanted interest) *store {
	return &store{interest: wanted, start: time.Now(), entries: map[string]entry{}, ahead: map[string]ahead{}, expected: map[string]*expected{}}
}

// wantLabels makes these labels matter from now on, beside those that do already.
// It says whether some did not: then all has to be listed again, and until that
// is done nothing is certain but identities.
func (s *store) wantLabels(names []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := labelNames{}
	if before := s.labels.Load(); before != nil {
		maps.Copy(wanted, *before)
	}
	known := len(wanted)
	for _, name := range names {
		wanted[name] = name
	}
	if len(wanted) == known {
		return false
	}
	s.labels.Store(&wanted)
	s.labelled = s.round + 1
	return true
}

// get is what is known of a ServiceAccount, if it is there. What is not certain
// needs a live look: it is not known, or may have been given an identity that was
// not told yet. Which one is asked for is said by the annotation that names it.
func (s *store) get(key types.NamespacedName, optIn string) (known *notes, there, certain bool) {
	var space [128]byte
	name := append(append(append(space[:0], key.Namespace...), '/'), key.Name...)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if found, ok := s.ahead[string(name)]; ok {
		return found.notes, true, found.notes.has(optIn)
	}
	found, ok := s.entries[string(name)]
	switch {
	case !ok:
		return nil, false, false
	case found.notes.has(optIn):
		return found.notes, true, true
	}
	fresh := found.changed > 0 && s.seconds()-found.changed < uint32(freshFor/time.Second)
	return found.notes, true, s.watched && !fresh && found.round >= s.labelled
}

// seconds since the start, from 1.
func (s *store) seconds() uint32 {
	return uint32(time.Since(s.start)/time.Second) + 1 //nolint:gosec // a century fits
}

func keyOf(seen object) string {
	var key strings.Builder
	key.Grow(len(seen.namespace) + 1 + len(seen.name))
	key.Write(seen.namespace)
	key.WriteByte('/')
	key.Write(seen.name)
	return key.String()
}

// learn takes what a live look has found. Only what opts in is kept: all else is
// asked for again until the watch has told.
func (s *store) learn(seen object, found *notes) {
	version, err := strconv.ParseUint(string(seen.version), 10, 64)
	if err != nil || !s.interest.optsIn(found) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if version > s.position && len(s.ahead) < maxAhead {
		s.ahead[keyOf(seen)] = ahead{found.only(s.labels.Load().filter()), version}
	}
}

// begun says that a first list has begun.
func (s *store) begun() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.round > 0
}

func (s *store) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.round++
	clear(s.ahead) // the list will be newer
}

func (s *store) put(seen object) error {
	found, err := s.interest.read(seen, s.labels.Load().filter())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastEvent = time.Now()
	var space [128]byte
	name := append(append(append(space[:0], seen.namespace...), '/'), seen.name...)
	old, known := s.entries[string(name)]
	next := entry{notes: found, round: s.round, changed: s.seconds()}
	switch {
	case s.watched: // an event: it has changed now
	case known && old.notes.equal(found):
		next.notes, next.changed = old.notes, old.changed
	case known && old.round < s.labelled && old.notes.annotatedAs(found):
		next.changed = old.changed // only its labels were not kept before
	case !s.complete && time.Since(time.Unix(seen.created, 0)) > freshFor:
		next.changed = 0
	}
	s.count(old.notes, -1)
	s.count(found, 1)
	s.tell(name)
	if known {
		s.entries[string(name)] = next // the name stays where it is
		return nil
	}
	s.entries[keyOf(seen)] = next
	return nil
}

func (s *store) count(of *notes, by int) {
	switch {
	case of != nil && of.tooLong:
		s.tooLong += by
	case s.interest.optsIn(of):
		s.optedIn += by
	}
}

// expect returns what is closed when the watch tells of a name. Who does not wait any
// more calls forget.
func (s *store) expect(key types.NamespacedName) (told <-chan struct{}, forget func()) {
	name := key.Namespace + "/" + key.Name
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.expected[name]
	if one == nil {
		one = &expected{told: make(chan struct{})}
		s.expected[name] = one
	}
	one.by++
	return one.told, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if one.by--; one.by == 0 && s.expected[name] == one {
			delete(s.expected, name)
		}
	}
}

// tell wakes who waits for a name.
func (s *store) tell(name []byte) {
	if one := s.expected[string(name)]; one != nil {
		close(one.told)
		delete(s.expected, string(name))
	}
}

// hasNamespace says whether a namespace is known: each has a ServiceAccount "default",
// which Kubernetes makes.
func (s *store) hasNamespace(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, known := s.entries[name+"/default"]
	return known
}

func (s *store) remove(seen object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastEvent = time.Now()
	name := keyOf(seen)
	s.count(s.entries[name].notes, -1)
	delete(s.entries, name)
	return nil
}

func (s *store) listed(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, found := range s.entries {
		if found.round != s.round {
			s.count(found.notes, -1)
			delete(s.entries, name)
		}
	}
	s.complete = true
	s.advance(version)
}

func (s *store) reached(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(version)
}

// advance forgets what live looks have found up to a version. A version that is
// no number leaves nothing ahead: learn keeps nothing then.
func (s *store) advance(version string) {
	s.lastEvent = time.Now()
	reached, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return
	}
	s.position = reached
	for name, found := range s.ahead {
		if found.version <= reached {
			delete(s.ahead, name)
		}
	}
}

func (s *store) watching(now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = now
}

// synced says that all ServiceAccounts have been read once.
func (s *store) synced() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.complete
}

// holding is what the store tells the metrics.
type holding struct {
	accounts, optedIn, tooLong int
	watched                    bool
	lastEvent                  time.Time
}

func (s *store) holding() holding {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return holding{len(s.entries), s.optedIn, s.tooLong, s.watched, s.lastEvent}
}
