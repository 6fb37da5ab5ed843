package credentials

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

const (
	// lookWithin is how long it takes to look at each Secret that is not followed.
	lookWithin = 5 * time.Minute
	// lookPause is between two looks at least, however many Secrets there are.
	lookPause = 200 * time.Millisecond
	// lookTime bounds one look.
	lookTime = 30 * time.Second
)

// secrets notices what others do to the Secrets that requests name. It follows them by Tabard's
// label, with one watch for each namespace in which an administrator lets the controller list
// Secrets, and looks at each in turn elsewhere. It keeps names, and reads metadata alone. It is
// safe for concurrent use.
type secrets struct {
	client metadata.Getter
	// changed is told of each that was seen; a digest of 0 is of one that is not there. It
	// is not called with mu held.
	changed func(target core.Target, digest uint64)
	// within is lookWithin.
	within time.Duration
	// more says that there is one more to look at.
	more chan struct{}

	mu sync.Mutex
	// begin begins to follow; nil before it may.
	begin func(follower) (end func())
	in    map[string]*secretsOf
	// turn are those to look at, the next one first.
	turn []*secret
}

// secret is one that requests name.
type secret struct {
	target core.Target
	// unlabelled ones are not among those that are followed; queued ones have a turn.
	unlabelled, queued bool
}

// secretsOf are those of one namespace, and the sink of what follows them.
type secretsOf struct {
	all       *secrets
	namespace string
	// The fields below are held by the mutex of all.
	named    map[string]*secret
	followed bool
	end      func()
}

func newSecrets(client metadata.Getter, changed func(core.Target, uint64)) *secrets {
	return &secrets{client: client, changed: changed, within: lookWithin, more: make(chan struct{}, 1), in: map[string]*secretsOf{}}
}

// run follows and looks until the context ends.
func (s *secrets) run(ctx context.Context) {
	s.mu.Lock()
	s.begin = func(f follower) func() {
		ctx, end := context.WithCancel(ctx)
		go f.Run(ctx)
		return end
	}
	for _, of := range s.in {
		of.end = s.begin(of.follower())
	}
	s.mu.Unlock()
	s.looks(ctx)
}

// note has a Secret noticed from now on, as a pass has read it; nil is none.
func (s *secrets) note(target core.Target, object metav1.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.in[target.Namespace]
	if of == nil {
		of = &secretsOf{all: s, namespace: target.Namespace, named: map[string]*secret{}}
		s.in[target.Namespace] = of
		if s.begin != nil {
			of.end = s.begin(of.follower())
		}
	}
	if of.named[target.Name] == nil {
		of.named[target.Name] = &secret{target: target}
	}
	of.labelled(of.named[target.Name], object == nil || object.GetLabels()[core.ManagedLabel] == "true")
}

// forget ends that. With the last Secret of a namespace nothing of it is followed.
func (s *secrets) forget(target core.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.in[target.Namespace]
	if of == nil || of.named[target.Name] == nil {
		return
	}
	gone := of.named[target.Name]
	delete(of.named, target.Name)
	s.turn = slices.DeleteFunc(s.turn, func(each *secret) bool { return each == gone })
	if len(of.named) > 0 {
		return
	}
	delete(s.in, target.Namespace)
	if of.end != nil {
		of.end()
	}
}

// labelled notes whether a Secret bears Tabard's label. The mutex is held.
func (of *secretsOf) labelled(each *secret, is bool) {
	each.unlabelled = !is
	if each.queued || of.sees(each) {
		return
	}
	each.queued = true
	of.all.turn = append(of.all.turn, each)
	select {
	case of.all.more <- struct{}{}:
	default:
	}
}

// sees says that a change of a Secret comes by the watch. The mutex is held.
func (of *secretsOf) sees(each *secret) bool { return of.followed && !each.unlabelled }

// follower follows those of the namespace that Tabard's label selects. Where it is refused it
// tries again every five minutes or so: the right may be given, and taken back, at any time.
func (of *secretsOf) follower() follower {
	return follow.Of(selected{of.all.client.Namespace(of.namespace)}, follow.Options[mark]{
		Sink: of, Pause: rarelyRefused, Refused: apierrors.IsForbidden, Told: of.told,
		Trim: func(o runtime.Object) (mark, error) {
			return secretMark(o.(*metav1.PartialObjectMetadata)), nil //nolint:forcetypeassert // the client's
		},
		Failed: func(err error) {
			if !apierrors.IsForbidden(err) {
				says("secrets of " + of.namespace)(err)
			}
		},
	})
}

// told has those looked at that are not followed any more.
func (of *secretsOf) told(_, now follow.Health) {
	of.all.mu.Lock()
	defer of.all.mu.Unlock()
	if of.followed = now.Known; !now.Known {
		for _, each := range of.named {
			of.labelled(each, !each.unlabelled)
		}
	}
}

// Replace implements follow.Sink. What went while nothing was followed is not among the
// objects; nor is what never had the label.
func (of *secretsOf) Replace(objects []mark) {
	there := map[string]bool{}
	for _, m := range objects {
		there[m.name.Name] = true
		of.Set(m)
	}
	of.all.mu.Lock()
	var gone []core.Target
	for name, each := range of.named {
		if !there[name] && !each.unlabelled {
			gone = append(gone, each.target)
		}
	}
	of.all.mu.Unlock()
	for _, target := range gone {
		of.all.changed(target, 0)
	}
}

// Set implements follow.Sink. Of a Secret that no request names nothing is kept.
func (of *secretsOf) Set(m mark) {
	if of.has(m) {
		of.all.changed(core.Target{Kind: core.KindSecret, Namespace: of.namespace, Name: m.name.Name}, m.digest)
	}
}

// Delete implements follow.Sink. One that loses the label is deleted, as far as is seen here.
func (of *secretsOf) Delete(m mark) {
	m.digest = 0
	of.Set(m)
}

func (of *secretsOf) has(m mark) bool {
	of.all.mu.Lock()
	defer of.all.mu.Unlock()
	each := of.named[m.name.Name]
	if each != nil {
		of.labelled(each, true)
	}
	return each != nil
}

// rarelyRefused is the pause after failures: long where only an administrator ends them.
func rarelyRefused(failures int, err error) time.Duration {
	if apierrors.IsForbidden(err) {
		return 5 * time.Minute
	}
	return follow.Doubling(time.Second, 30*time.Second)(failures, err)
}

// selected are the objects that Tabard's label selects. One that loses it is deleted, as
// far as is seen here.
type selected struct{ metadata.ResourceInterface }

const ours = core.ManagedLabel + "=true"

// List implements follow.Client.
func (s selected) List(ctx context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	o.LabelSelector = ours
	return s.ResourceInterface.List(ctx, o)
}

// Watch implements follow.Client.
func (s selected) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.LabelSelector = ours
	return s.ResourceInterface.Watch(ctx, o)
}

// looks looks at those in turn that are not followed. The pause follows from how many they
// are, so that the API server is not asked for all of them at once.
func (s *secrets) looks(ctx context.Context) {
	last := time.Now()
	for ctx.Err() == nil {
		if rest := s.pause() - time.Since(last); rest > 0 {
			select {
			case <-ctx.Done():
			case <-s.more:
			case <-time.After(rest):
			}
			continue
		}
		last = time.Now()
		if target, is := s.next(); is {
			s.look(ctx, target)
		}
	}
}

func (s *secrets) pause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.within/time.Duration(max(1, len(s.turn))), lookPause)
}

// next is the one whose turn it is. It has its next turn after all others.
func (s *secrets) next() (target core.Target, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.turn) > 0 {
		each := s.turn[0]
		s.turn = s.turn[1:]
		if each.queued = !s.in[each.target.Namespace].sees(each); each.queued {
			s.turn = append(s.turn, each)
			return each.target, true
		}
	}
	return core.Target{}, false
}

// look reads the metadata of one. If that cannot be read nothing is known of it, and the
// next pass over its request says why.
func (s *secrets) look(ctx context.Context, target core.Target) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	object, err := s.client.Namespace(target.Namespace).Get(ctx, target.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		s.changed(target, 0)
	case err == nil:
		s.changed(target, secretMark(object).digest)
	}
}
