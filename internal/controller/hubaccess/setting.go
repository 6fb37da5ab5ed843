package hubaccess

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// Flags are what the program's administrator says.
type Flags struct {
	// IAM is On, Off or empty: see hub.Decide.
	IAM hub.Switch
	// HubARN is the ARN of the hub; empty where the ClusterManager says it.
	HubARN string
	// Tags are further tags of roles and access entries.
	Tags map[string]string
}

// knownFor is how long an answer on the ClusterManager counts, however many passes ask.
const knownFor = 2 * time.Second

// settings knows what the ClusterManager says. It is safe for concurrent use.
type settings struct {
	flags Flags
	live  client.Reader
	now   func() time.Time
	// metrics are told what was learned.
	metrics *Metrics

	mu    sync.Mutex
	until time.Time
	known hub.Setting
}

// get is the setting as it is now, at most knownFor ago.
func (s *settings) get(ctx context.Context) hub.Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.After(s.until) {
		s.known, s.until = hub.Decide(s.flags.IAM, s.flags.HubARN, ReadManager(ctx, s.live)), now.Add(knownFor)
		s.metrics.now(s.known)
	}
	return s.known
}

// ReadManager asks the API server what the ClusterManager and the hub controller's pods say. A hub
// without ClusterManagers has none. The reader has to be one past a cache.
func ReadManager(ctx context.Context, live client.Reader) hub.ClusterManager {
	list := newList(managerKind)
	err := live.List(ctx, list)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return hub.ClusterManager{}
	}
	if err != nil {
		return hub.ClusterManager{Trouble: condition.Steady(err.Error())}
	}
	crd := newObject(crdKind)
	err = live.Get(ctx, client.ObjectKey{Name: hub.ManagerDefinition}, crd)
	if err != nil && !apierrors.IsNotFound(err) {
		return hub.ClusterManager{Trouble: condition.Steady(err.Error())}
	}
	out := hub.ClusterManager{
		Drivers: managerOf(list.Items), HasField: hasField(crd),
		HadField: crd.GetAnnotations()[hub.FieldsAnnotation] != "", Restored: crd.GetAnnotations()[hub.RestoredAnnotation] != "",
	}
	readPods(ctx, live, list.Items, &out)
	return out
}

// readPods asks which pods run beside the hub controller. One that is hosted by another
// cluster cannot be seen from here.
func readPods(ctx context.Context, live client.Reader, managers []unstructured.Unstructured, out *hub.ClusterManager) {
	for i := range managers {
		if isHosted(&managers[i]) {
			out.PodTrouble = "the ClusterManager " + managers[i].GetName() + " is hosted, so its hub controller runs on another cluster"
			return
		}
	}
	err := controller.Each(ctx, live, &corev1.PodList{}, hub.ControllerNamespace, func(object runtime.Object) error {
		if pod := object.(*corev1.Pod); pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed { //nolint:forcetypeassert // of such a list
			out.Pods = append(out.Pods, podOf(pod))
		}
		return nil
	})
	if err != nil {
		out.Pods, out.PodTrouble = nil, "the pods of the namespace "+hub.ControllerNamespace+": "+condition.Steady(err.Error())
	}
}
