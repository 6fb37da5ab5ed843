package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// Options say whose resources are selected, and by which policy.
type Options struct {
	// Roles are the index's.
	Roles roleselector.Options
	// Kinds are those whose resources are selected. Of other kinds nothing is
	// decided.
	Kinds []schema.GroupVersionKind
	// Pulse is how often the API server is asked whether it answers: from a tenth of a
	// second to a minute; 0 is half a second. What is known counts for a second longer
	// than that after the last question that was answered, and with a Guard no call
	// begins a second and a half longer than that after its role was taken away. Each
	// process makes that many requests, of one namespace each, that the API server reads
	// from its storage: with half a second and a hundred processes 200 a second.
	Pulse time.Duration
}

// pulseTime is Pulse, or why it cannot be.
func (o Options) pulseTime() (time.Duration, error) {
	switch {
	case o.Pulse == 0:
		return beat, nil
	case o.Pulse < shortestBeat || o.Pulse > longestBeat:
		return 0, fmt.Errorf("the pulse is %v, expected from %v to %v, or 0 for %v", o.Pulse, shortestBeat, longestBeat, beat)
	}
	return o.Pulse, nil
}

// Selectors knows the selectors, choices and namespaces of a cluster, and the
// resources that its controllers have decided on. It is safe for concurrent use.
type Selectors struct {
	kinds      map[schema.GroupVersionKind]bool
	index      *roleselector.Index
	objects    *roleselector.Objects
	namespaces *namespaceFeed
	followers  []*follower
	pulse      *pulse
	waves      *waves
	sleepers   sleepers
	log        logs

	// deciding makes one of a decision and of what is said of it.
	deciding sync.Mutex
	// synced is closed when all has been read for the first time.
	synced     chan struct{}
	syncedOnce sync.Once
}

// logs are the two levels that are written: for all, and for who looks closer.
type logs struct {
	info, detail func(message string, keysAndValues ...any)
}

// New adds to the manager what follows the cluster. It reads through connections of
// its own and not through the manager's cache: see the package's decision record.
func New(mgr ctrl.Manager, options Options) (*Selectors, error) {
	if len(options.Kinds) == 0 {
		return nil, errors.New("no kinds whose resources are selected")
	}
	every, err := options.pulseTime()
	if err != nil {
		return nil, err
	}
	reader, err := newReader(mgr.GetConfig(), every+answerTime)
	if err != nil {
		return nil, fmt.Errorf("make a client that reads selectors: %w", err)
	}
	s := newSelectors(options, logs{
		info:   mgr.GetLogger().WithName("roleselector").Info,
		detail: mgr.GetLogger().WithName("roleselector").V(1).Info,
	})
	s.follow(reader, every)
	if err := mgr.Add(background{s}); err != nil {
		return nil, err
	}
	return s, nil
}

// follow says from where all is read, and how often it is asked whether it answers.
func (s *Selectors) follow(reader client.WithWatch, every time.Duration) {
	s.followers = s.newFollowers(reader)
	s.pulse = &pulse{selectors: s, reader: reader, beat: every, fresh: every + answerTime}
}

func newSelectors(options Options, log logs) *Selectors {
	index := roleselector.NewIndex(options.Roles)
	objects := roleselector.NewObjects(index)
	s := &Selectors{
		kinds: map[schema.GroupVersionKind]bool{}, index: index, objects: objects,
		namespaces: newNamespaceFeed(objects), waves: newWaves(), log: log, synced: make(chan struct{}),
	}
	for _, kind := range options.Kinds {
		s.kinds[kind] = true
		announce(kind)
	}
	return s
}

// background is what the manager runs, on every replica: who does not lead knows
// the selectors when it does.
type background struct{ *Selectors }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (b background) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (b background) Start(ctx context.Context) error {
	var running sync.WaitGroup
	for _, f := range b.followers {
		running.Go(func() { f.following.Run(ctx) })
	}
	running.Go(func() { b.pulse.run(ctx) })
	running.Go(func() { b.work(ctx) })
	running.Wait()
	return nil
}

// Decide enters the resource as it is now and says with which role it is managed.
// The kind is the one that the controller declares.
func (s *Selectors) Decide(kind schema.GroupVersionKind, object client.Object) roleselector.Decision {
	if !s.kinds[kind] {
		return roleselector.Decision{
			Outcome: roleselector.Invalid, Reason: roleselector.ReasonTypeUnknown,
			Detail: fmt.Sprintf("%s is not among the kinds that the controller named at its start.", kind),
		}
	}
	ref := refOf(kind, client.ObjectKeyFromObject(object))
	s.deciding.Lock()
	old, _ := s.objects.Decision(ref)
	d, changed := s.objects.Put(ref, maps.Clone(object.GetLabels()), object.GetAnnotations()[v1alpha1.ChoiceAnnotation])
	if changed {
		s.count(ref, old, d)
	}
	s.deciding.Unlock()
	decisions.WithLabelValues(kindLabel(kind), string(d.Outcome)).Inc()
	if changed {
		s.logChange(ref, old, d)
	}
	return d
}

// Forget drops a resource that is gone.
func (s *Selectors) Forget(kind schema.GroupVersionKind, key client.ObjectKey) {
	ref := refOf(kind, key)
	s.deciding.Lock()
	defer s.deciding.Unlock()
	old, entered := s.objects.Decision(ref)
	s.objects.Delete(ref)
	if entered {
		s.count(ref, old, roleselector.Decision{})
	}
}

// LastUsed is what roleselector.Situation wants to know of a resource that is to
// be deleted where it is: a selector with the role on record that selects the resource.
// Call Decide before.
func (s *Selectors) LastUsed(kind schema.GroupVersionKind, object client.Object, recorded roleselector.Recorded) *roleselector.Selector {
	query, entered := s.objects.Query(refOf(kind, client.ObjectKeyFromObject(object)))
	if !entered {
		return nil
	}
	return s.index.LastUsed(query, recorded)
}

// Subject is for whom a role is assumed, as far as the cluster knows: all but
// ClusterID and ControllerNamespace. The service is the beginning of the group.
func (s *Selectors) Subject(kind schema.GroupVersionKind, object client.Object) roleselector.Subject {
	service, _, _ := strings.Cut(kind.Group, ".")
	uid, labels := s.namespaces.get(object.GetNamespace())
	return roleselector.Subject{
		Service: service, Kind: kind.Kind,
		Namespace: object.GetNamespace(), NamespaceUID: uid, NamespaceLabels: labels,
		Name: object.GetName(), UID: string(object.GetUID()), Labels: maps.Clone(object.GetLabels()),
	}
}

// Ready is a healthz.Checker: an error says what has not been read, and why.
func (s *Selectors) Ready(*http.Request) error {
	missing := []error{s.pulse.missing()}
	for _, f := range s.followers {
		missing = append(missing, f.missing())
	}
	return errors.Join(missing...)
}

// Index is the index that decides.
func (s *Selectors) Index() *roleselector.Index { return s.index }

// Objects are the resources that have been decided on.
func (s *Selectors) Objects() *roleselector.Objects { return s.objects }

func refOf(kind schema.GroupVersionKind, key client.ObjectKey) roleselector.Object {
	return roleselector.Object{Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespace: key.Namespace, Name: key.Name}
}

func kindOf(ref roleselector.Object) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: ref.Group, Version: ref.Version, Kind: ref.Kind}
}

// count keeps the gauge of conflicts; it is called under deciding.
func (s *Selectors) count(ref roleselector.Object, old, d roleselector.Decision) {
	was, is := old.Outcome == roleselector.Conflict, d.Outcome == roleselector.Conflict
	switch gauge := conflicts.WithLabelValues(kindLabel(kindOf(ref))); {
	case is && !was:
		gauge.Inc()
	case was && !is:
		gauge.Dec()
	}
}

// logChange tells a change of decision. The first decision after a start is no
// change: who looks closer sees it.
func (s *Selectors) logChange(ref roleselector.Object, old, d roleselector.Decision) {
	log := s.log.info
	if old.Outcome == "" || old.Outcome == roleselector.NotYetKnown {
		log = s.log.detail
	}
	log("the decision on a resource has changed",
		"kind", kindLabel(kindOf(ref)), "namespace", ref.Namespace, "name", ref.Name,
		"outcome", d.Outcome, "reason", d.Reason, "decidedBy", d.DecidedBy, "selectors", d.Names(),
		"selector", d.Selector.Name, "selectorUID", d.Selector.UID, "generation", d.Selector.Generation,
		"oldOutcome", old.Outcome, "oldReason", old.Reason, "oldDecidedBy", old.DecidedBy, "oldSelectors", old.Names(),
		"oldSelector", old.Selector.Name, "oldSelectorUID", old.Selector.UID, "oldGeneration", old.Selector.Generation)
}
