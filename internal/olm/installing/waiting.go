package installing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
)

// Waiting is an InstallPlan that waits for an approval, and what is said of each operator that it
// installs.
type Waiting struct {
	Namespace string
	Plan      operator.Plan
	// Subscriptions are those of the namespace, as they were when the plan was judged.
	Subscriptions []operator.Subscription
	Judged        []operator.Judgement
	Warnings      []string
}

// Waiting reads a plan that waits, by the name of the plan or of a Subscription, and judges each
// operator of it by the role in its own Subscription.
func (p Planner) Waiting(ctx context.Context, namespace, name string) (Waiting, error) {
	out := Waiting{Namespace: namespace}
	objects, err := p.Client.Observe(ctx, operator.Wanted{Namespace: namespace, Subscription: name})
	if err != nil {
		return out, err
	}
	if unread := objects.FirstUnread(operator.KindSubscription, operator.KindPlan); unread != nil {
		return out, unread
	}
	out.Subscriptions = objects.Subscriptions
	if out.Plan, err = waiting(objects, name); err != nil {
		return out, err
	}
	var bundles map[string]catalogue.Bundle
	var whys map[string]string
	if out.Plan, bundles, whys, err = p.Client.Waiting(ctx, namespace, out.Plan.Name); err != nil {
		return out, err
	}
	if !out.Plan.Waits() {
		return out, fmt.Errorf("the InstallPlan %s/%s does not wait for an approval any more: it was approved or deleted in between", namespace, out.Plan.Name)
	}
	issuer, err := p.issuer(ctx)
	if err != nil {
		return out, err
	}
	for _, name := range out.Plan.CSVs {
		u, warning, err := p.Client.Upgrade(ctx, namespace, objects.Subscriptions, bundles[name])
		if err != nil {
			return out, err
		}
		if warning != "" {
			out.Warnings = append(out.Warnings, warning)
		}
		u.Issuer, u.NotRead = issuer, whys[name]
		judgement, err := p.judge(ctx, u)
		if err != nil {
			return out, err
		}
		out.Judged = append(out.Judged, judgement)
	}
	return out, nil
}

// waiting is the newest plan that waits for an approval for a Subscription, or the plan of the name.
func waiting(o *operator.Objects, name string) (operator.Plan, error) {
	for _, p := range o.Plans {
		if p.Name == name {
			switch {
			case p.Approved:
				return p, fmt.Errorf("the InstallPlan %s is approved already", catalogue.Quoted(name))
			case !p.Waits():
				return p, fmt.Errorf("the InstallPlan %s does not wait for an approval: its phase is %s", catalogue.Quoted(name), cmp.Or(p.Phase, "-"))
			}
			return p, nil
		}
	}
	for _, s := range o.Subscriptions {
		if s.Name != name {
			continue
		}
		o.CSV, o.Wanted.CSV, o.Wanted.Subscription = nil, s.CurrentCSV, name
		if p := o.Waiting(); p != nil {
			return *p, nil
		}
		return operator.Plan{}, refuse(NothingWaits, "no InstallPlan waits for an approval for the Subscription %s", catalogue.Quoted(name))
	}
	return operator.Plan{}, refuse(NoSubscription, "there is no Subscription %s in the namespace %s, and no InstallPlan", catalogue.Quoted(name), o.Namespace)
}

// IsAs says whether a plan that was read anew installs the same, and is judged the same.
func (w Waiting) IsAs(again Waiting) bool {
	verdict, digest := operator.Sum(w.Judged)
	now, nowDigest := operator.Sum(again.Judged)
	return w.Plan.UID == again.Plan.UID && slices.Equal(w.Plan.CSVs, again.Plan.CSVs) && verdict == now && digest == nowDigest
}

// Unchanged says that no Subscription of the plan has got another role since it was read.
func (w Waiting) Unchanged(now []operator.Subscription) bool {
	values := func(all []operator.Subscription) map[string]map[string]string {
		out := map[string]map[string]string{}
		for _, s := range all {
			if slices.Contains(w.Plan.CSVs, s.CurrentCSV) {
				out[s.Name], _ = operator.ValuesOf(s)
			}
		}
		return out
	}
	return maps.EqualFunc(values(w.Subscriptions), values(now), maps.Equal[map[string]string, map[string]string])
}
