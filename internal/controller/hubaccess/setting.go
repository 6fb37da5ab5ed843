package hubaccess

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

	mu    sync.Mutex
	until time.Time
	known hub.Setting
}

// get is the setting as it is now, at most knownFor ago.
func (s *settings) get(ctx context.Context) hub.Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.After(s.until) {
		s.known, s.until = hub.Decide(s.flags.IAM, s.flags.HubARN, s.read(ctx)), now.Add(knownFor)
	}
	return s.known
}

// read asks the API server, past the cache. A hub without ClusterManagers has none.
func (s *settings) read(ctx context.Context) hub.ClusterManager {
	list := newList(managerKind)
	err := s.live.List(ctx, list)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return hub.ClusterManager{}
	}
	if err != nil {
		return hub.ClusterManager{Trouble: condition.Steady(err.Error())}
	}
	crd := newObject(crdKind)
	err = s.live.Get(ctx, client.ObjectKey{Name: managerCRD}, crd)
	if err != nil && !apierrors.IsNotFound(err) {
		return hub.ClusterManager{Trouble: condition.Steady(err.Error())}
	}
	return hub.ClusterManager{HasField: err == nil && hasField(crd), Drivers: managerOf(list.Items)}
}
