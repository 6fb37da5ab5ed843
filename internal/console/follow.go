package console

import (
	"context"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// following are the installs that are followed, by namespace and name: the one that was asked for last
// counts.
type following struct {
	mu  sync.Mutex
	all map[string]*followed
}

// followed is one install, and how it is no longer followed.
type followed struct{ cancel context.CancelFunc }

// begin is the context of an install that is followed from now on, in place of an earlier one. Its end leaves a
// later one of the same name alone.
func (f *following) begin(ctx context.Context, at string) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), followFor)
	f.mu.Lock()
	defer f.mu.Unlock()
	if before := f.all[at]; before != nil {
		before.cancel()
	}
	if f.all == nil {
		f.all = map[string]*followed{}
	}
	own := &followed{cancel}
	f.all[at] = own
	return ctx, func() {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.all[at] == own {
			delete(f.all, at)
		}
	}
}

// follow approves the plan of an install in the background, as the person went on now.
func (s *Server) follow(ctx context.Context, planned installing.Planned, client olm.Client, going installing.Going) {
	checked := operator.Checked{Verdict: going.Verdict, Digest: planned.Judged.Digest, At: time.Now()}
	ctx, end := s.following.begin(ctx, planned.Install.Namespace+"/"+planned.Install.Wanted.Subscription)
	go func() {
		defer end()
		if err := s.safely(func() { s.approveOwn(ctx, planned, client, checked, going) }); err != nil {
			s.audit("approve", "Subscription", planned.Install.Namespace, planned.Install.Wanted.Subscription, "", installing.Going{}, err)
		}
	}()
}

// followFor is how long an install is followed until its plan waits for an approval.
const followFor = 15 * time.Minute

// approveOwn approves the plan of an install that a person has started, as "tabard operators install
// --wait" does: only one that installs this operator alone. What else waits is left for the person, who
// sees it in the stages.
func (s *Server) approveOwn(ctx context.Context, planned installing.Planned, client olm.Client, checked operator.Checked, going installing.Going) {
	for ctx.Err() == nil {
		objects, err := client.Observe(ctx, planned.Install.Wanted)
		if err == nil {
			stages := operator.Progress(objects, time.Now())
			switch last := stages[len(stages)-1]; last.State {
			case operator.YourTurn:
				if approved, err := planned.ApproveOwn(ctx, client, objects, checked); approved || err != nil {
					s.audit("approve", "Subscription", planned.Install.Namespace, planned.Install.Wanted.Subscription, checked.Digest, going, err)
					return
				}
			case operator.Failed:
				return
			case operator.Done, operator.Waiting, operator.Unknown:
			}
			if operator.IsInstalled(objects, stages) {
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(glance):
		}
	}
}
