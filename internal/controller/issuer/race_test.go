package issuer_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// gate lets two writers meet before each PutObject. Each waits there until the other
// one does too, or has ended its pass; if one is first, the other waits for its end.
type gate struct {
	mu               sync.Mutex
	changed          sync.Cond
	running, waiting int
	meetings         int
	first            int // the writer that goes first; -1: both go at once
	done             [2]bool
}

func newGate(first int) *gate {
	g := &gate{running: 2, first: first}
	g.changed.L = &g.mu
	return g
}

func (g *gate) arrive(writer int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == writer {
		return
	}
	if g.first >= 0 {
		for !g.done[g.first] {
			g.changed.Wait()
		}
		return
	}
	g.waiting++
	g.changed.Broadcast()
	now := g.meetings
	for g.meetings == now {
		if g.waiting == g.running {
			g.meetings++
			g.waiting = 0
			g.changed.Broadcast()
			return
		}
		g.changed.Wait()
	}
}

func (g *gate) leave(writer int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.done[writer] = true
	g.changed.Broadcast()
}

// hold keeps a writer before its first PutObject, as a process does that is not given
// the processor while its lease goes to another.
type hold struct {
	once             sync.Once
	arrived, release chan struct{}
}

func (h *hold) arrive(int) {
	h.once.Do(func() { close(h.arrived) })
	<-h.release
}

// open keeps nobody.
type open struct{}

func (open) arrive(int) {}

// barrier is where a writer waits before each PutObject.
type barrier interface{ arrive(writer int) }

// memory is an API server of one issuer, which locks it as a real one does.
type memory struct {
	client.Client
	mu     sync.Mutex
	stored *v1alpha1.OIDCIssuer
	writes int
}

func (m *memory) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	m.stored = object.DeepCopyObject().(*v1alpha1.OIDCIssuer)
	m.stored.ResourceVersion = "0"
	return nil
}

func (m *memory) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stored.DeepCopyInto(into.(*v1alpha1.OIDCIssuer))
	return nil
}

func (m *memory) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	into.(*v1alpha1.OIDCIssuerList).Items = []v1alpha1.OIDCIssuer{*m.stored.DeepCopy()}
	return nil
}

func (m *memory) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return m.write(object, patch, func(now, wanted *v1alpha1.OIDCIssuer) { now.Finalizers = wanted.Finalizers })
}

func (m *memory) Status() client.SubResourceWriter { return memoryStatus{m: m} }

type memoryStatus struct {
	client.SubResourceWriter
	m *memory
}

func (s memoryStatus) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return s.m.write(object, patch, func(now, wanted *v1alpha1.OIDCIssuer) { now.Status = wanted.Status })
}

// write is refused if the patch is locked to a version that is not the one stored.
func (m *memory) write(object client.Object, patch client.Patch, change func(now, wanted *v1alpha1.OIDCIssuer)) error {
	var lock struct {
		Metadata struct{ ResourceVersion string }
	}
	text, err := patch.Data(object)
	if err == nil {
		err = json.Unmarshal(text, &lock)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if locked := lock.Metadata.ResourceVersion; locked != "" && locked != m.stored.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("oidcissuers").GroupResource(), object.GetName(), errors.New("written since"))
	}
	m.writes++
	change(m.stored, object.DeepCopyObject().(*v1alpha1.OIDCIssuer))
	m.stored.ResourceVersion = strconv.Itoa(m.writes)
	m.stored.DeepCopyInto(object.(*v1alpha1.OIDCIssuer))
	return nil
}

// racer is a writer's view of the buckets.
type racer struct {
	issuer.Buckets
	writer  int
	before  barrier
	refused int
	// blind makes it write without a condition: the violation that the reader must
	// notice.
	blind bool
}

func (r *racer) Write(ctx context.Context, id identity.Identity, b cloud.Bucket, key, body, ifMatch string) error {
	r.before.arrive(r.writer)
	err := r.Buckets.Write(ctx, id, b, key, body, ifMatch)
	known, is := errors.AsType[fault.Fault](err)
	if !is || known.Class != fault.Changed {
		return err
	}
	r.refused++
	if !r.blind {
		return err
	}
	seen, err := r.Read(ctx, id, b, key, core.MaxDocumentBytes)
	if err != nil {
		return err
	}
	return r.Buckets.Write(ctx, id, b, key, body, seen.ETag)
}

// race is two operators on one issuer, of a cluster whose keys come and go.
type race struct {
	*fixture
	cluster   *rotatingCluster
	operators [2]*issuer.Controller
	racers    [2]*racer
	reader    *reader
	random    *rand.Rand
}

func newRace(t *testing.T, seed uint64, blind bool) *race {
	t.Helper()
	// The local AWS is what is raced for.
	f := onAWS(t)
	f.client = &memory{}
	f.control(t, nil)
	f.controller.Kit.Events = &events.FakeRecorder{} // nobody reads so many
	r := &race{
		fixture: f, cluster: newRotatingCluster(t, f.url, f.now), random: rand.New(rand.NewPCG(seed, 0)),
		reader: &reader{f: f, known: map[string]bool{}},
	}
	for i := range r.operators {
		observer := *f.controller.Observer
		observer.Cluster = r.cluster.observed(t)
		observer.Now = r.cluster.clock
		r.racers[i] = &racer{Buckets: observer.AWS.Buckets, writer: i, blind: blind}
		observer.AWS.Buckets = r.racers[i]
		operator := *f.controller
		operator.Observer = &observer
		r.operators[i] = &operator
	}
	f.create(t, "main", func(o *v1alpha1.OIDCIssuer) {
		o.Spec.Providers, o.Spec.Keys.Source = nil, v1alpha1.KeySourceAPIServer
		o.Spec.Publication.S3.PublicRead = v1alpha1.PublicReadBucketPolicy
	})
	for range 4 {
		r.once(t, -1)
	}
	return r
}

// once has both operators make a pass at the same time.
func (r *race) once(t *testing.T, first int) {
	t.Helper()
	meeting := newGate(first)
	var both sync.WaitGroup
	for i := range r.operators {
		r.racers[i].before = meeting
		both.Go(func() {
			defer meeting.leave(i)
			r.pass(t, i)
		})
	}
	both.Wait()
}

// pass has one operator make one.
func (r *race) pass(t *testing.T, operator int) {
	t.Helper()
	_, err := r.reconcile(t.Context(), r.operators[operator], "main")
	if known, is := errors.AsType[fault.Fault](err); err != nil && (!is || known.Class != fault.Changed) {
		t.Errorf("a pass failed: %v", err)
	}
}

// turn changes the keys, and tells the reader of which ones tokens are alive.
func (r *race) turn(t *testing.T) (signer string) {
	t.Helper()
	signer = r.cluster.turn(t, r.random)
	r.reader.expect(r.cluster.alive())
	return signer
}

// until has passes made until anybody can see the key that signs, and tells the reader
// what it may not miss from then on.
func (r *race) until(t *testing.T, signer string, pass func()) {
	t.Helper()
	for range 5 {
		pass()
		seen := must.Get(r.published(t.Context()))(t)
		if seen[signer] {
			r.reader.know(seen)
			return
		}
	}
	t.Errorf("key %s is not published after five passes", signer)
}

// meet changes the keys, and has both operators write at the same time or one after
// the other.
func (r *race) meet(t *testing.T) {
	t.Helper()
	signer := r.turn(t)
	r.until(t, signer, func() { r.once(t, r.random.IntN(3)-1) })
}

// overtake stops one operator before it writes, while the keys change again and the
// other operator publishes them.
func (r *race) overtake(t *testing.T) {
	t.Helper()
	r.turn(t)
	slow := r.random.IntN(2)
	held := &hold{arrived: make(chan struct{}), release: make(chan struct{})}
	r.racers[slow].before, r.racers[1-slow].before = held, open{}
	ended := make(chan struct{})
	go func() { defer close(ended); r.pass(t, slow) }()
	select {
	case <-held.arrived:
	case <-ended: // it had nothing to write
	}
	signer := r.turn(t)
	r.until(t, signer, func() { r.pass(t, 1-slow) })
	close(held.release)
	<-ended
	r.reader.look(t.Context())
}

// run races for a number of rounds while a reader looks, and returns what was refused.
func (r *race) run(t *testing.T, rounds int) (refused int) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); r.reader.run(t.Context(), stop) }()
	for range rounds {
		if r.random.IntN(3) == 0 {
			r.overtake(t)
		} else {
			r.meet(t)
		}
	}
	close(stop)
	<-done
	for _, one := range r.racers {
		refused += one.refused
	}
	return refused
}

// TestTwoOperatorsNeverHideAKey has two operators work on one issuer, as when a lease
// is lost and its old holder does not know yet.
func TestTwoOperatorsNeverHideAKey(t *testing.T) {
	const (
		rounds = 250
		seed   = 12
	)
	r := newRace(t, seed, false)
	start := time.Now()
	refused := r.run(t, rounds)
	last := must.Get(r.published(t.Context()))(t)
	made, taken := r.cluster.made, r.cluster.made-len(last)
	t.Logf("seed %d: %d rounds in %s, %d keys made, %d taken out again, %d writes refused, %d looks of the reader",
		seed, rounds, time.Since(start).Round(time.Second), made, taken, refused, r.reader.reads)
	if missed := r.reader.missed; len(missed) > 0 {
		t.Errorf("the reader missed %d keys, such as %s", len(missed), missed[0])
	}
	if refused < rounds*3/10 {
		t.Errorf("%d writes were refused in %d rounds, want %d at least: the operators did not meet", refused, rounds, rounds*3/10)
	}
	if r.reader.reads < rounds {
		t.Errorf("the reader looked %d times in %d rounds", r.reader.reads, rounds)
	}
	if taken < rounds/10 {
		t.Errorf("%d of %d keys were taken out again: the test shows little", taken, made)
	}
}

// TestTheReaderNoticesAHiddenKey plants what the race is about: operators that write
// whatever somebody else wrote meanwhile.
func TestTheReaderNoticesAHiddenKey(t *testing.T) {
	r := newRace(t, 1, true)
	for range 20 {
		r.run(t, 10)
		if len(r.reader.missed) > 0 {
			return
		}
	}
	t.Error("the reader noticed nothing, although each operator wrote over what the other had published")
}
