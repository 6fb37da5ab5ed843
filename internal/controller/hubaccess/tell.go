package hubaccess

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// onCluster records what is told of a HubAccess on its ManagedCluster, which is where
// people look.
type onCluster struct{ events.EventRecorder }

// Eventf implements events.EventRecorder.
func (r onCluster) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if record, is := regarding.(*v1alpha1.HubAccess); is {
		regarding, related = referenceTo(record.Name, record.Spec.ClusterUID), record
	}
	r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

func referenceTo(name string, uid types.UID) *corev1.ObjectReference {
	version, kind := clusterKind.ToAPIVersionAndKind()
	return &corev1.ObjectReference{APIVersion: version, Kind: kind, Name: name, UID: uid}
}

// told are the events of the last pass of each cluster that had any, so that what is the
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

// tell records the plan's events on the cluster.
func (p *pass) tell() {
	for _, e := range p.told.news(p.key, p.plan.Events) {
		var uid types.UID
		switch {
		case p.world.Record != nil:
			uid = p.world.Record.Spec.ClusterUID
		case p.world.Cluster != nil:
			uid = p.world.Cluster.UID
		}
		p.kit.Events.Eventf(referenceTo(p.key.Name, uid), nil, corev1.EventTypeWarning, string(e.Reason), Name, "%s", controller.Shorten(e.Text, "the HubAccess"))
	}
}
