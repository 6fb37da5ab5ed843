package ocm

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	core "github.com/tabard-dev/tabard/internal/core/ocmhook"
)

// operators is the group of the kinds that Open Cluster Management's operators follow.
var operators = schema.GroupVersion{Group: "operator.open-cluster-management.io", Version: "v1"}

// retry is how long to wait after so many failures, of a kind that is not served, too: it may
// come with the next installation.
var retry = follow.Doubling(800*time.Millisecond, 5*time.Second)

// world is what is known of the cluster. It is safe for concurrent use.
type world struct {
	klusterlets *kind[core.Klusterlet]
	managers    *kind[core.ClusterManager]
}

func newWorld(client dynamic.Interface, log logr.Logger) *world {
	return &world{
		klusterlets: newKind(client, "klusterlets", core.ReadKlusterlet, func(k core.Klusterlet) string { return k.Name }, log),
		managers:    newKind(client, "clustermanagers", core.ReadClusterManager, func(m core.ClusterManager) string { return m.Name }, log),
	}
}

// now is what decisions go by.
func (w *world) now() core.World {
	return core.World{Klusterlets: w.klusterlets.store.All(), Managers: w.managers.store.All()}
}

// known says what has not been read.
func (w *world) known() error {
	return errors.Join(w.klusterlets.known(), w.managers.known())
}

// kind follows the objects of one kind; one that is not served has none.
type kind[T any] struct {
	*follow.Follower[T]
	resource string
	store    *follow.Store[T]
}

func newKind[T any](client dynamic.Interface, resource string, read func([]byte) (T, error), key func(T) string, log logr.Logger) *kind[T] {
	store := &follow.Store[T]{Key: key}
	return &kind[T]{
		resource: resource, store: store,
		Follower: follow.Of(client.Resource(operators.WithResource(resource)), follow.Options[T]{
			Sink: store, Pause: retry,
			Trim: func(object runtime.Object) (T, error) {
				text, err := json.Marshal(object)
				if err != nil {
					var none T
					return none, err
				}
				return read(text)
			},
			Absent: func(err error, _ follow.Health) bool { return apierrors.IsNotFound(err) },
			Failed: func(err error) {
				if !apierrors.IsNotFound(err) {
					log.Error(err, "follow what Open Cluster Management's operators go by", "resource", resource)
				}
			},
		}),
	}
}

func (k *kind[T]) known() error {
	if health := k.Health(); !health.Counts() {
		if health.Err != nil {
			return fmt.Errorf("the %s have not been read yet: %w", k.resource, health.Err)
		}
		return fmt.Errorf("the %s have not been read yet", k.resource)
	}
	return nil
}
