package operators

import (
	"context"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// judgePlan reads a waiting plan, by the name of the plan or of a Subscription, and judges each
// operator of it by the role in its Subscription.
func (r *roleFlags) judgePlan(ctx context.Context, streams command.Streams, world World, client olm.Client, namespace, name string) (installing.Waiting, error) {
	out, err := r.planner(streams, world, client).Waiting(ctx, namespace, name)
	if err != nil {
		return out, refused(streams, goOn(err, waitingHints(namespace, name)))
	}
	return out, nil
}

// planText is what is said of a plan for people.
func planText(p installing.Waiting) string {
	var out lines
	out.say("The InstallPlan %s/%s waits for an approval, and installs:", p.Namespace, p.Plan.Name)
	for _, j := range p.Judged {
		out.sayJudgement(j)
	}
	for _, warning := range p.Warnings {
		out.say("! %s", warning)
	}
	verdict, digest := operator.Sum(p.Judged)
	out.say("%s %s", verdict, orDash(digest))
	return out.String()
}
