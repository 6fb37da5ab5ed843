package credentials

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

const (
	// policyFor is how long a policy that was read counts: most roles share one.
	policyFor = time.Minute
	// policyAtMost is how long it counts while AWS does not answer: else an outage of AWS would
	// refuse requests.
	policyAtMost = time.Hour
)

// policies remembers the managed policies that are permissions boundaries. It is safe for
// concurrent use; however many ask, one is read once a while.
type policies struct {
	options Options
	// changed is called after a policy was found to be another than before.
	changed func()

	mu    sync.Mutex
	known map[string]readPolicy
}

// readPolicy is what was read of a policy: at is when AWS was asked last, good when it answered,
// and until is how long the reading counts.
type readPolicy struct {
	core.PolicyInAWS
	at, good, until time.Time
}

// isOutdated says that what was read at a time is from before a person asked for a look. One who
// asks from a clock that is ahead is not heard for ever.
func isOutdated(at, since, now time.Time) bool { return at.Before(since) && !since.After(now) }

// get is the policy of an ARN, by a reading that is no older than since where that is past.
func (p *policies) get(ctx context.Context, arn string, since time.Time) core.PolicyInAWS {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.options.Now()
	before, has := p.known[arn]
	if has && now.Before(before.until) && !isOutdated(before.at, since, now) {
		return before.PolicyInAWS
	}
	maps.DeleteFunc(p.known, func(_ string, read readPolicy) bool { return now.Sub(read.good) > policyAtMost })
	document, exists, err := p.options.AWS.Roles.Policy(ctx, p.options.Operator, arn)
	read := readPolicy{core.PolicyInAWS{Document: document, Exists: exists, Fault: controller.FaultOf(err)}, now, now, now.Add(policyFor)}
	if err != nil {
		read.until = now.Add(unknownFor)
	}
	switch {
	case has && before.Fault == nil && read.Fault != nil && read.Fault.Passing() && now.Sub(before.good) <= policyAtMost:
		read.PolicyInAWS, read.good = before.PolicyInAWS, before.good
	case has && before.Fault == nil && read.Fault == nil && before.PolicyInAWS != read.PolicyInAWS && p.changed != nil:
		go p.changed() // which may ask for this policy
	}
	p.known[arn] = read
	return read.PolicyInAWS
}
