package credentials

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// known is what is followed of the cluster: names and marks of many things, and the few
// boundaries and issuers as they are. It wakes the requests that a change concerns. It is
// safe for concurrent use.
type known struct {
	requests   *follow.Store[mark]
	grants     *follow.Store[grantMark]
	namespaces *follow.Store[*metav1.PartialObjectMetadata]
	boundaries *follow.Store[*v1alpha1.CredentialsBoundary]
	issuers    *follow.Store[*v1alpha1.OIDCIssuer]
	// followers are waited for.
	followers []follower
	secrets   *secrets
	metrics   *Metrics
	// issuerChanged is called before requests are woken for an OIDCIssuer.
	issuerChanged func()

	mu sync.Mutex
	// wake adds a request to the queue; nil before there is one.
	wake func(reconcile.Request)
	// byTarget and byRole are the requests that a target, its namespace, or a role
	// concerns; of has the same by request.
	byTarget map[core.Target]map[types.NamespacedName]bool
	byRole   map[string]types.NamespacedName
	of       map[types.NamespacedName]concern
	// marks are those of targets as they were seen last.
	marks map[core.Target]uint64
	// order are the requests of each namespace.
	order order
}

// concern is what a request goes by.
type concern struct {
	targets []core.Target
	role    string
}

// mark is an object by name, with a digest of what wakes a pass.
type mark struct {
	name   types.NamespacedName
	digest uint64
	// created is when it was made, in seconds.
	created int64
}

// grantMark is a grant.
type grantMark struct {
	mark
	request types.NamespacedName
	resync  string
	state   State
	// holds says that the request has something.
	holds bool
}

// follower is what follows one resource.
type follower interface {
	Run(ctx context.Context)
	Read() <-chan struct{}
}

func newKnown(followed Followed, metrics *Metrics) *known {
	k := &known{
		requests:   &follow.Store[mark]{Key: func(m mark) string { return m.name.String() }},
		grants:     &follow.Store[grantMark]{Key: func(g grantMark) string { return g.name.Name }},
		namespaces: &follow.Store[*metav1.PartialObjectMetadata]{Key: (*metav1.PartialObjectMetadata).GetName},
		boundaries: &follow.Store[*v1alpha1.CredentialsBoundary]{Key: (*v1alpha1.CredentialsBoundary).GetName},
		issuers:    &follow.Store[*v1alpha1.OIDCIssuer]{Key: (*v1alpha1.OIDCIssuer).GetName},
		metrics:    metrics, issuerChanged: func() {},
		byTarget: map[core.Target]map[types.NamespacedName]bool{}, byRole: map[string]types.NamespacedName{},
		of: map[types.NamespacedName]concern{}, marks: map[core.Target]uint64{},
	}
	k.requests.Changed = func(before, now *mark, _ bool) {
		k.add(k.order.set(one(before, now), now != nil)...)
		if before == nil || now == nil || before.digest != now.digest {
			k.add(one(before, now).name)
		}
	}
	k.grants.Changed = func(before, now *grantMark, _ bool) {
		k.add(k.order.note(one(before, now).request, now != nil && now.holds, now != nil && now.state.Reason == string(core.ReasonTooManyRequests))...)
		if now != nil {
			metrics.granted(now.request, now.state)
		} else {
			metrics.forget(before.request)
		}
		if before == nil || now == nil || before.digest != now.digest {
			k.add(one(before, now).request)
		}
	}
	k.namespaces.Changed = k.namespaceChanged
	k.boundaries.Changed = func(before, now **v1alpha1.CredentialsBoundary, first bool) {
		if !first && (before == nil || now == nil || (*before).Generation != (*now).Generation) {
			k.addAll()
		}
	}
	k.issuers.Changed = func(before, now **v1alpha1.OIDCIssuer, first bool) {
		if !first && (before == nil || now == nil || !sameIssuer(*before, *now)) {
			k.issuerChanged()
			k.addAll()
		}
	}
	k.followers = followed.followers(k)
	k.secrets = newSecrets(followed.Metadata.Resource(corev1.SchemeGroupVersion.WithResource("secrets")), func(target core.Target, digest uint64) { k.targetChanged(target, digest) })
	return k
}

func one[T any](before, now *T) T {
	if now != nil {
		return *now
	}
	return *before
}

// run follows until the context ends, and hands requests that are concerned to wake.
func (k *known) run(ctx context.Context, wake func(reconcile.Request)) {
	k.mu.Lock()
	k.wake = wake
	k.mu.Unlock()
	for _, each := range k.followers {
		go each.Run(ctx)
	}
	go k.secrets.run(ctx)
}

// start is run as a source of a controller.
func (k *known) start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	k.run(ctx, queue.Add)
	return nil
}

// wait waits until all has been read once, roles included: what is not read yet must not
// be taken for absent.
func (k *known) wait(ctx context.Context, roles *inventory) error {
	waits := []<-chan struct{}{roles.first}
	for _, each := range k.followers {
		waits = append(waits, each.Read())
	}
	for _, read := range waits {
		select {
		case <-read:
		case <-ctx.Done():
			return errors.Join(errors.New("the cluster is not read yet"), ctx.Err())
		}
	}
	return nil
}

func (k *known) add(names ...types.NamespacedName) {
	k.mu.Lock()
	wake := k.wake
	k.mu.Unlock()
	for _, name := range names {
		if wake != nil {
			wake(reconcile.Request{NamespacedName: name})
		}
	}
}

// addAll wakes all requests. It is for changes that may concern each, and asks no store
// that is being changed.
func (k *known) addAll() {
	k.mu.Lock()
	names := slices.Collect(maps.Keys(k.of))
	k.mu.Unlock()
	k.add(names...)
}

// all are all requests that there are, or of which there is something.
func (k *known) all(context.Context) []reconcile.Request {
	names := map[types.NamespacedName]bool{}
	for _, m := range k.requests.All() {
		names[m.name] = true
	}
	for _, g := range k.grants.All() {
		names[g.request] = true
	}
	return requestsOf(slices.Collect(maps.Keys(names)))
}

// ofRoles are the requests of roles.
func (k *known) ofRoles(roles []string) []reconcile.Request {
	k.mu.Lock()
	defer k.mu.Unlock()
	var names []types.NamespacedName
	for _, role := range roles {
		if name, has := k.byRole[role]; has {
			names = append(names, name)
		}
	}
	return requestsOf(names)
}

func requestsOf(names []types.NamespacedName) []reconcile.Request {
	out := make([]reconcile.Request, 0, len(names))
	for _, name := range names {
		out = append(out, reconcile.Request{NamespacedName: name})
	}
	return out
}

// namespaceChanged wakes the requests of a namespace, and those that wait for it.
func (k *known) namespaceChanged(before, now **metav1.PartialObjectMetadata, first bool) {
	if first || before != nil && now != nil && maps.Equal((*before).Labels, (*now).Labels) && (*before).DeletionTimestamp.Equal((*now).DeletionTimestamp) {
		return
	}
	namespace := one(before, now).GetName()
	k.mu.Lock()
	var names []types.NamespacedName
	for name, goesBy := range k.of {
		if name.Namespace == namespace || slices.ContainsFunc(goesBy.targets, func(t core.Target) bool { return t.Namespace == namespace }) {
			names = append(names, name)
		}
	}
	k.mu.Unlock()
	k.add(names...)
}

// targetChanged wakes the requests of a target unless it is as it was seen last; the one that
// has seen it itself is not woken for it.
func (k *known) targetChanged(target core.Target, digest uint64, by ...types.NamespacedName) {
	k.mu.Lock()
	concerned := slices.Collect(maps.Keys(k.byTarget[target]))
	same := k.marks[target] == digest
	if len(concerned) > 0 {
		k.marks[target] = digest
	}
	k.mu.Unlock()
	if !same {
		k.add(slices.DeleteFunc(concerned, func(name types.NamespacedName) bool { return slices.Contains(by, name) })...)
	}
}

// saw notes the Secrets that a pass over a request could read: what others do to them from now
// on wakes it.
func (k *known) saw(name types.NamespacedName, states []core.TargetState, objects seen) {
	for _, state := range states {
		if state.Target.Kind != core.KindSecret || state.NamespaceMissing || state.Error != "" {
			continue
		}
		digest := uint64(0)
		if object := objects[state.Target]; object != nil {
			digest = secretMark(object).digest
		}
		k.targetChanged(state.Target, digest, name)
		k.secrets.note(state.Target, objects[state.Target])
	}
}

// goesBy notes what a request goes by; nil for one that is gone.
func (k *known) goesBy(name types.NamespacedName, goesBy *concern) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, now := k.of[name], concern{}
	if goesBy != nil {
		now = *goesBy
	}
	for _, target := range now.targets {
		if k.byTarget[target] == nil {
			k.byTarget[target] = map[types.NamespacedName]bool{}
		}
		k.byTarget[target][name] = true
	}
	for _, target := range before.targets {
		if slices.Contains(now.targets, target) {
			continue
		}
		if delete(k.byTarget[target], name); len(k.byTarget[target]) == 0 {
			delete(k.byTarget, target)
			delete(k.marks, target)
			k.secrets.forget(target)
		}
	}
	if before.role != "" && k.byRole[before.role] == name {
		delete(k.byRole, before.role)
	}
	delete(k.of, name)
	if goesBy == nil {
		return
	}
	k.of[name] = now
	if now.role != "" {
		k.byRole[now.role] = name
	}
}
