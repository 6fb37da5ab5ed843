package operators

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// The bounds of what AWS is asked. A role takes some calls of IAM, which has one limit for all
// callers of an account.
const (
	rolesPerSecond = 1
	rolesAtOnce    = 10
	rolesPerPass   = 20
	mostRoles      = 256
	roleTimeout    = 30 * time.Second
)

// errBusy ends a pass that has asked AWS for as many roles as one may. The next one goes on.
var errBusy = errors.New("the pass has read as many roles as one pass may")

// roles remembers for some minutes what was read of roles. It is not safe for concurrent use.
type roles struct {
	// read asks AWS; nil where there is no identity to ask as, and without says why.
	read    func(ctx context.Context, arn string) (sufficiency.Documents, error)
	without string
	keep    time.Duration
	limit   *rate.Limiter
	// left is how many this pass may still read.
	left  int
	known map[string]known
}

// known is what was read of a role, or why it was not.
type known struct {
	documents *sufficiency.Documents
	why       string
	until     time.Time
}

func newRoles(o Options) *roles {
	return &roles{read: o.Roles, without: o.WithoutRoles, keep: o.Recheck * 4 / 5, limit: rate.NewLimiter(rolesPerSecond, rolesAtOnce), known: map[string]known{}}
}

// begin begins a pass.
func (r *roles) begin() { r.left = rolesPerPass }

// of are the documents of a role: those of exactly this ARN, else nil and why.
func (r *roles) of(ctx context.Context, arn string) (*sufficiency.Documents, string, error) {
	if !identity.IsRoleARN(arn) {
		return nil, fmt.Sprintf("%.300q is no ARN of a role in AWS", arn), nil
	}
	if r.read == nil {
		return nil, r.without, nil
	}
	if found, is := r.known[arn]; is && time.Now().Before(found.until) {
		return found.documents, found.why, nil
	}
	if r.left == 0 {
		return nil, "", errBusy
	}
	r.left--
	if err := r.limit.Wait(ctx); err != nil {
		return nil, "", err
	}
	found, err := r.ask(ctx, arn)
	if err != nil {
		return nil, "", err
	}
	r.remember(arn, found)
	return found.documents, found.why, nil
}

func (r *roles) ask(ctx context.Context, arn string) (known, error) {
	bounded, cancel := context.WithTimeout(ctx, roleTimeout)
	defer cancel()
	documents, err := r.read(bounded, arn)
	out := known{until: time.Now().Add(r.keep)}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		out.why = line.Of(err.Error())
	case documents.ARN != arn:
		out.why = fmt.Sprintf("what was read is of %.300q, expected %s", documents.ARN, arn)
	default:
		out.documents = &documents
	}
	return out, nil
}

// remember keeps what was read, in the place of what would be forgotten next.
func (r *roles) remember(arn string, found known) {
	for len(r.known) >= mostRoles {
		var oldest string
		for each, k := range r.known {
			if oldest == "" || k.until.Before(r.known[oldest].until) {
				oldest = each
			}
		}
		delete(r.known, oldest)
	}
	r.known[arn] = found
}
