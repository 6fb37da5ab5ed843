package credentials

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// onRequest records what is told of a grant on its request, which is where people look,
// and leaves out what Ready tells besides, and what is just being made.
type onRequest struct{ events.EventRecorder }

// Eventf implements events.EventRecorder.
func (r onRequest) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if grant, is := regarding.(*v1alpha1.CredentialsGrant); is {
		if action == core.TypeReady && core.IsUnderWay(core.Reason(reason)) {
			return // a RoleDrift or TargetDrift of the plan tells of what others did
		}
		switch action {
		case core.TypeAccepted, core.TypeRolePresent, core.TypeDelivered:
			return
		case core.TypeStaticKeysPresent, core.TypeDeletionBlocked, core.TypeRoleOutOfSync: // True is the bad one
			kind = map[string]string{corev1.EventTypeNormal: corev1.EventTypeWarning, corev1.EventTypeWarning: corev1.EventTypeNormal}[kind]
		}
		regarding, related = referenceTo(grant.Spec.Request), grant
	}
	r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

func referenceTo(request v1alpha1.RequestRef) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: cloudv1.GroupVersion.String(), Kind: "CredentialsRequest",
		Namespace: request.Namespace, Name: request.Name, UID: request.UID,
	}
}

// told are the events of the last pass of each request that had any, so that what is the
// same at each pass is told once. It is safe for concurrent use.
type told struct {
	mu sync.Mutex
	of map[reconcile.Request][]core.Event
}

// news are the events that the last pass did not have.
func (t *told) news(key reconcile.Request, now []core.Event) []core.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.of[key]
	if len(now) == 0 {
		delete(t.of, key)
		return nil
	}
	if t.of == nil {
		t.of = map[reconcile.Request][]core.Event{}
	}
	t.of[key] = now
	return slices.DeleteFunc(slices.Clone(now), func(e core.Event) bool { return slices.Contains(before, e) })
}

// tell records the plan's events on the request.
func (p *pass) tell() {
	for _, e := range p.told.news(p.key, p.plan.Events) {
		ref := v1alpha1.RequestRef{Namespace: p.key.Namespace, Name: p.key.Name}
		switch {
		case p.world.Request != nil:
			ref.UID = p.world.Request.UID
		case p.world.Grant != nil:
			ref = p.world.Grant.Spec.Request
		}
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		p.kit.Events.Eventf(referenceTo(ref), nil, kind, e.Reason, Name, "%s", controller.Shorten(e.Text, "the grant"))
	}
}
