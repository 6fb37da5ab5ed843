package election

import (
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// electedManager is the process's manager as one controller sees it.
type electedManager struct {
	ctrl.Manager
	candidate *candidate
}

// Add puts what may run in one process at a time to the candidate, by the rules by
// which controller-runtime does, and the rest to the process's manager.
func (m *electedManager) Add(r manager.Runnable) error {
	switch kind := r.(type) {
	case interface{ GetCache() cache.Cache }, webhook.Server:
		return m.Manager.Add(r)
	case manager.LeaderElectionRunnable:
		if !kind.NeedLeaderElection() {
			return m.Manager.Add(r)
		}
	}
	if m.candidate.closed.Load() {
		return errors.New("a controller adds what it runs before the manager starts")
	}
	m.candidate.runnables = append(m.candidate.runnables, r)
	return nil
}

// Elected is closed when the controller may act.
func (m *electedManager) Elected() <-chan struct{} { return m.candidate.elected }
