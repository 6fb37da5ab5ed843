package capacity

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/awsauth/identity"
	kit "github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/roleselector"
)

// Selectors know the cluster's IAMRoleSelectors. Objects are entered by Decide, and
// of those Source wakes the ones whose decision has changed.
type Selectors interface {
	Decide(kind schema.GroupVersionKind, object client.Object) roleselector.Decision
	Subject(kind schema.GroupVersionKind, object client.Object) roleselector.Subject
	Forget(kind schema.GroupVersionKind, name client.ObjectKey)
	Source(kind schema.GroupVersionKind) source.Source
	Wake(resource roleselector.Object)
}

// Kinds are the kinds that are annotated, in each version in which they can be
// read: those whose objects IAMRoleSelectors select.
func Kinds() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, k := range kinds {
		if k.annotated == "" {
			continue
		}
		for _, version := range k.versions {
			out = append(out, k.WithVersion(version))
		}
	}
	return out
}

// selected asks the selectors about an object, if there are any to ask.
func (r *run) selected(k *kind, o *object) core.Selected {
	selectors := r.options.Selectors
	if selectors == nil {
		return core.Selected{}
	}
	gvk := r.served.of(k)
	out := core.Selected{Decision: selectors.Decide(gvk, o), Subject: selectors.Subject(gvk, o), Settings: r.options.AssumeRole}
	out.Subject.Service, out.Subject.Kind = "capacity", k.Kind
	out.Subject.ClusterID = r.options.Process.ClusterID
	out.Subject.ControllerNamespace = r.options.Process.ControllerNamespace
	return out
}

// admit enters which role is assumed for an object, if one is, and takes the
// credentials back where that would be one session too many.
func (r *run) admit(request Request, selected core.Selected, who identity.Identity, credentials core.Credentials) core.Credentials {
	if !credentials.Assumed {
		r.sessions.Release(r.resource(request))
		return credentials
	}
	if problem := r.sessions.Admit(r.resource(request), selected.Decision.Selector, who.Roles); problem != nil {
		return core.NotAssumed(selected.Decision, *problem)
	}
	return credentials
}

// resource is what a request is about, as sessions are counted: in whatever
// version it is read.
func (r *run) resource(request Request) roleselector.Object {
	return roleselector.Object{Group: kindOf(request.Kind).Group, Kind: kindOf(request.Kind).Kind, Namespace: request.Namespace, Name: request.Name}
}

// wakeIn has an object looked at for which there is room in its selector's sessions, in
// whichever version it is read now: in the others nobody listens.
func wakeIn(selectors Selectors) func(roleselector.Object) {
	return func(resource roleselector.Object) {
		for _, k := range Kinds() {
			if k.Group == resource.Group && k.Kind == resource.Kind {
				resource.Version = k.Version
				selectors.Wake(resource)
			}
		}
	}
}

// gone forgets an object that does not exist any more.
func (r *run) gone(request Request) {
	r.memory.forget(request)
	r.metrics.Forget(request)
	r.sessions.Release(r.resource(request))
	if r.options.Selectors != nil {
		r.options.Selectors.Forget(r.served.of(kindOf(request.Kind)), request.NamespacedName)
	}
}

// waking is a source that wakes the objects of a kind whose role has become
// another.
type waking struct {
	source.Source
	kind core.Kind
}

// Start implements source.TypedSource: it hands on what the selectors' own source
// puts into a queue.
func (w waking) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[Request]) error {
	woken := workqueue.NewTypedRateLimitingQueue(&kit.Backoff[reconcile.Request]{})
	if err := w.Source.Start(ctx, woken); err != nil {
		woken.ShutDown()
		return fmt.Errorf("follow the role selectors: %w", err)
	}
	context.AfterFunc(ctx, woken.ShutDown)
	go func() {
		for {
			one, ended := woken.Get()
			if ended {
				return
			}
			queue.Add(Request{w.kind, one.NamespacedName})
			woken.Done(one)
		}
	}()
	return nil
}

// WaitForSync implements source.TypedSyncingSource.
func (w waking) WaitForSync(ctx context.Context) error {
	if syncing, is := w.Source.(source.SyncingSource); is {
		return syncing.WaitForSync(ctx)
	}
	return nil
}
