package election

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// refusals are the leases that the process has no right to, which would be waited
// for without a word.
type refusals struct {
	mu   sync.Mutex
	errs map[string]error
}

// wait waits while a lease is refused, and tells of it in the log once.
func (r *refusals) wait(ctx context.Context, lock resourcelock.Interface, every time.Duration) {
	_ = wait.PollUntilContextCancel(ctx, every, true, func(ctx context.Context) (bool, error) {
		_, _, err := lock.Get(ctx)
		return r.note(lock, err), nil
	})
}

// note keeps what an attempt to read a lease said, and says whether it was let.
func (r *refusals) note(lock resourcelock.Interface, err error) (let bool) {
	name := lock.Describe()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !apierrors.IsForbidden(err) {
		delete(r.errs, name)
		return true
	}
	if r.errs[name] == nil {
		r.errs[name] = fmt.Errorf("no right to the lease %s: %w; let the process get and update the lease of that name, and create leases", name, err)
		ctrl.Log.WithName("leases").Error(r.errs[name], "waiting")
	}
	return false
}

// check is a part of /readyz.
func (r *refusals) check(*http.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all error
	for _, name := range slices.Sorted(maps.Keys(r.errs)) {
		all = errors.Join(all, r.errs[name])
	}
	return all
}

// lockName is the lease's name without its namespace.
func lockName(lock resourcelock.Interface) string {
	_, name, _ := strings.Cut(lock.Describe(), "/")
	return name
}
