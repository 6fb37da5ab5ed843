package credentials

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

const (
	// readEvery is how often all roles are read, up to spread more: what others do to a
	// role is put back within the hour.
	readEvery, spread = 45 * time.Minute, 10 * time.Minute
	// readAgain is when to read them after a failure.
	readAgain = 5 * time.Minute
	// readTime bounds one reading.
	readTime = 10 * time.Minute
)

// inventory knows the digest of each role of the cluster from the last reading of all
// roles, and from what the controller has written since. It is safe for concurrent use.
type inventory struct {
	options Options
	calls   *rate.Limiter
	// first is closed when the first reading has ended, well or not.
	first chan struct{}
	once  sync.Once

	mu      sync.Mutex
	read    bool
	digests map[string]string
	// touched are the roles that were changed while all are being read; nil while they
	// are not.
	touched map[string]bool
}

func newInventory(options Options, calls *rate.Limiter) *inventory {
	return &inventory{options: options, calls: calls, first: make(chan struct{}), digests: map[string]string{}}
}

// of is what is known of a role without a call. A role that the inventory does not have
// is not taken for absent: it may lack the tag that the inventory goes by.
func (i *inventory) of(name string) core.RoleState {
	i.mu.Lock()
	defer i.mu.Unlock()
	digest, has := i.digests[name]
	if name == "" || !has {
		return core.RoleState{}
	}
	return core.RoleState{Seen: true, Exists: true, Digest: digest}
}

// look reads a role by itself.
func (i *inventory) look(ctx context.Context, name string) core.RoleState {
	role, err := i.options.AWS.Roles.Get(ctx, i.options.Operator, name)
	if err != nil {
		return core.RoleState{Fault: controller.FaultOf(err)}
	}
	out := core.RoleState{Seen: true, Live: true, Exists: role.Exists}
	if role.Exists {
		out.Role = roleOf(role)
		out.Digest = core.Digest(out.Role)
		i.set(name, out.Digest)
	} else {
		i.set(name, "")
	}
	return out
}

// set notes the digest of a role; an empty one is of a role that is gone, or of which
// nothing is known.
func (i *inventory) set(name, digest string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.touched != nil {
		i.touched[name] = true
	}
	if digest == "" {
		delete(i.digests, name)
		return
	}
	i.digests[name] = digest
}

// readAll reads all roles, and returns the names of those that are not what was known of
// them. Those that the controller changes meanwhile are left as it knows them.
func (i *inventory) readAll(ctx context.Context) (changed []string, err error) {
	defer i.once.Do(func() { close(i.first) })
	i.mu.Lock()
	i.touched = map[string]bool{}
	i.mu.Unlock()
	found := map[string]string{}
	err = i.options.AWS.Roles.All(ctx, i.options.Operator, func(role cloud.Role) error {
		if _, ours := role.Tags[core.ClusterTag]; ours {
			found[role.Name] = core.Digest(roleOf(role))
		}
		return nil
	})
	return i.replace(found, err), err
}

// replace takes a reading over.
func (i *inventory) replace(found map[string]string, err error) (changed []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	touched := i.touched
	i.touched = nil
	if err != nil {
		return nil
	}
	for name := range touched {
		delete(found, name)
		if digest, has := i.digests[name]; has {
			found[name] = digest
		}
	}
	for name, digest := range i.digests {
		if found[name] != digest {
			changed = append(changed, name)
		}
	}
	i.digests, i.read = found, true
	return changed
}

// start reads all roles now and about every hour, and wakes the requests of roles that
// changed.
func (i *inventory) start(of func(roles []string) []reconcile.Request) func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	return func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go func() {
			for ctx.Err() == nil {
				again := readEvery + rand.N(spread) //nolint:gosec // it only spreads the clusters of an account
				within, cancel := context.WithTimeout(ctx, readTime)
				changed, err := i.readAll(within)
				cancel()
				if err != nil && ctx.Err() == nil {
					ctrl.Log.WithName(Name).Error(err, "cannot read all roles; each request's role is read by itself meanwhile", "again", readAgain)
					again = readAgain
				}
				for _, request := range of(changed) {
					queue.Add(request)
				}
				pause(ctx, again)
			}
		}()
		return nil
	}
}

func pause(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
