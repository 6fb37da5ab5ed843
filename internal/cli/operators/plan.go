package operators

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
)

// planned is an InstallPlan that waits, and what is said of each operator that it installs.
type planned struct {
	namespace     string
	plan          operator.Plan
	subscriptions []operator.Subscription
	judged        []operator.Judgement
	warnings      []string
}

// waiting is the newest plan that waits for an approval for a Subscription, or the plan of the name.
func waiting(o *operator.Objects, name string) (operator.Plan, error) {
	for _, p := range o.Plans {
		if p.Name == name {
			switch {
			case p.Approved:
				return p, fmt.Errorf("the InstallPlan %s is approved already", catalogue.Quoted(name))
			case !p.Waits():
				return p, fmt.Errorf("the InstallPlan %s does not wait for an approval: its phase is %s", catalogue.Quoted(name), orDash(p.Phase))
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
		return operator.Plan{}, fmt.Errorf("no InstallPlan waits for an approval for the Subscription %s: tabard operators status %s -n %s shows how far it is", catalogue.Quoted(name), line.Word(name), s.Namespace)
	}
	return operator.Plan{}, usage.Wrong(fmt.Errorf("there is no Subscription %s in the namespace %s, and no InstallPlan: tabard operators status -A shows the Subscriptions", catalogue.Quoted(name), o.Namespace))
}

// judgePlan reads a waiting plan, by the name of the plan or of a Subscription, and judges each
// operator of it by the role in its Subscription.
func (r *roleFlags) judgePlan(ctx context.Context, streams command.Streams, world World, client olm.Client, namespace, name string) (planned, error) {
	out := planned{namespace: namespace}
	objects, err := client.Observe(ctx, operator.Wanted{Namespace: namespace, Subscription: name})
	if err != nil {
		return out, streams.Refuse(command.Found, err)
	}
	for _, kind := range []operator.Kind{operator.KindSubscription, operator.KindPlan} {
		if why := objects.Unread[kind]; why != "" {
			return out, streams.Refuse(command.Found, fmt.Errorf("the %s cannot be read: %s", kind, why))
		}
	}
	out.subscriptions = objects.Subscriptions
	if out.plan, err = waiting(objects, name); err != nil {
		return out, streams.Refuse(command.CodeOf(err, command.Found), err)
	}
	var bundles map[string]catalogue.Bundle
	var whys map[string]string
	if out.plan, bundles, whys, err = client.Waiting(ctx, namespace, out.plan.Name); err != nil {
		return out, streams.Refuse(command.Found, err)
	}
	if !out.plan.Waits() {
		return out, streams.Refuse(command.Found, fmt.Errorf("the InstallPlan %s/%s does not wait for an approval any more: it was approved or deleted in between", namespace, command.Plain(out.plan.Name)))
	}
	issuer, err := r.issuerOf(ctx, streams, client)
	if err != nil {
		return out, err
	}
	for _, name := range out.plan.CSVs {
		u, warning, err := client.Upgrade(ctx, namespace, objects.Subscriptions, bundles[name])
		if err != nil {
			return out, streams.Refuse(command.Found, err)
		}
		if warning != "" {
			out.warnings = append(out.warnings, warning)
		}
		u.Issuer, u.NotRead = issuer, whys[name]
		judgement, err := r.judge(ctx, streams, world, u)
		if err != nil {
			return out, err
		}
		out.judged = append(out.judged, judgement)
	}
	return out, nil
}

// isAs says whether a plan that was read anew installs the same, and is judged the same.
func (p planned) isAs(again planned) bool {
	verdict, digest := operator.Sum(p.judged)
	now, nowDigest := operator.Sum(again.judged)
	return p.plan.UID == again.plan.UID && slices.Equal(p.plan.CSVs, again.plan.CSVs) && verdict == now && digest == nowDigest
}

// text is what is said of the plan for people.
func (p planned) text() string {
	var out lines
	out.say("The InstallPlan %s/%s waits for an approval, and installs:", p.namespace, p.plan.Name)
	for _, j := range p.judged {
		out.sayJudgement(j)
	}
	for _, warning := range p.warnings {
		out.say("! %s", warning)
	}
	verdict, digest := operator.Sum(p.judged)
	out.say("%s %s", verdict, orDash(digest))
	return out.String()
}

// unchanged says that no Subscription of the plan has got another role since it was read.
func (p planned) unchanged(now []operator.Subscription) bool {
	values := func(all []operator.Subscription) map[string]map[string]string {
		out := map[string]map[string]string{}
		for _, s := range all {
			if slices.Contains(p.plan.CSVs, s.CurrentCSV) {
				out[s.Name], _ = operator.ValuesOf(s)
			}
		}
		return out
	}
	return maps.EqualFunc(values(p.subscriptions), values(now), maps.Equal[map[string]string, map[string]string])
}
