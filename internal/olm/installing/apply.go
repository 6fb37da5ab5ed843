package installing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
)

// Going is how a person goes on with what was shown.
type Going struct {
	// Verdict is what Gate let pass.
	Verdict operator.Verdict
	// Reason is why a person takes a risk, as CheckReason lets it pass; empty where nobody said. It is
	// written where the verdict is Overridden, and nowhere else.
	Reason string
	// Follows says that the plan of an install is to be approved, too, by ApproveOwn.
	Follows bool
	// Sure is asked last, when the rights are there, and nothing is written if it has an error; nil
	// where nobody is asked.
	Sure func() error
}

func (g Going) sure() error {
	if g.Sure == nil {
		return nil
	}
	return g.Sure()
}

// Apply makes what is missing, if the person may. Where a risk was accepted an Event on the Subscription
// tells of it. With an error, what was written before it is in the result all the same.
func (p Planned) Apply(ctx context.Context, client olm.Client, going Going) (out Written, err error) {
	rights := olm.Creates(p.Missing)
	if going.Follows && p.Install.Approval == operator.Manual {
		rights = append(rights, olm.Approves(p.Install.Namespace))
	}
	if err := permitted(ctx, client, rights...); err != nil || len(p.Missing) == 0 {
		return out, err
	}
	if err := going.sure(); err != nil {
		return out, err
	}
	if out.Made, err = client.Create(ctx, p.Missing, false); err != nil {
		return out, err
	}
	out.tell(ctx, client, p.Install.Namespace, p.Install.Wanted.Subscription, going,
		fmt.Sprintf("installed with a role of which the verdict was %s: %s", p.Judged.Verdict, p.Judged.Why))
	return out, nil
}

// tell tells of a risk that was accepted, by an Event on the Subscription.
func (w *Written) tell(ctx context.Context, client olm.Client, namespace, name string, going Going, what string) {
	if w.Overridden = going.Verdict == operator.VerdictOverridden; w.Overridden {
		about := olm.About{Kind: operator.KindSubscription, Namespace: namespace, Name: name}
		w.Untold = client.Record(ctx, about, "Warning", permissionsOverridden, noted(what, going.Reason))
	}
}

// ApproveOwn approves the plan that waits for an install, if it installs the operator alone, and notes on
// it what was checked. It is false where none waits, and true also where the plan has changed since it
// was seen: the next look sees it as it is then. A plan that installs or upgrades something else is
// operator.ErrNoApproval: no person saw that. So is one for a Subscription that is not as it was
// planned: the verdict was about the role that the plan gave it.
func (p Planned) ApproveOwn(ctx context.Context, client olm.Client, seen *operator.Objects, checked operator.Checked) (bool, error) {
	plan := seen.Waiting()
	if plan == nil {
		return false, nil
	}
	if !p.isPlanned(seen.Subscriptions) {
		return false, fmt.Errorf("%w: the Subscription %s/%s is another one than was planned: look at it again", operator.ErrNoApproval, p.Install.Namespace, p.Install.Wanted.Subscription)
	}
	if err := operator.MayApprove(*plan, p.Install.CSV, nil, seen.Subscriptions); err != nil {
		return false, err
	}
	if err := client.Approve(ctx, p.Install.Namespace, *plan, checked.String()); err != nil && !errors.Is(err, olm.ErrChanged) {
		return false, fmt.Errorf("approve the InstallPlan %s: %w", plan.Name, err)
	}
	return true, nil
}

// isPlanned says that the Subscription is the one of the plan, with its role and no other.
func (p Planned) isPlanned(all []operator.Subscription) bool {
	i := p.Install
	return slices.ContainsFunc(all, func(s operator.Subscription) bool {
		return s.Name == i.Wanted.Subscription && s.Package == i.Package && s.Source == i.Source && s.SourceNamespace == i.SourceNamespace && s.Channel == i.Channel &&
			!s.References && operator.HasRole(s, i.Values)
	})
}
