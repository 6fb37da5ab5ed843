package fakeolm

import (
	"context"
	"fmt"
)

// The conditions of a Subscription that the fake sets.
const (
	cataloguesUnhealthy = "CatalogSourcesUnhealthy"
	resolutionFailed    = "ResolutionFailed"
	bundleUnpacking     = "BundleUnpacking"
	bundleUnpackFailed  = "BundleUnpackFailed"
	planPending         = "InstallPlanPending"
	planMissing         = "InstallPlanMissing"
	planFailed          = "InstallPlanFailed"
)

// subscriptions says how the Subscriptions of a namespace are. If that is nothing new, it goes to the
// versions that replace theirs.
func (o *OLM) subscriptions(ctx context.Context, all *seen, ns *namespace) error {
	changed, waiting := false, true
	for i := range ns.subscriptions {
		was := &ns.subscriptions[i]
		now := was.DeepCopy()
		source := text(now, "spec", "sourceNamespace") + "/" + text(now, "spec", "source")
		if exists(all.catalogues, source) {
			condition(now, cataloguesUnhealthy, "False", "AllCatalogSourcesHealthy", "all available catalogsources are healthy")
		} else {
			condition(now, cataloguesUnhealthy, "True", "UnhealthyCatalogSourceFound", "targeted catalogsource "+source+" missing")
		}
		followPlan(ns, now)
		followCSV(ns, now)
		wrote, err := o.setStatus(ctx, subscriptionKind, was, now)
		if err != nil {
			return err
		}
		ns.subscriptions[i] = *now
		changed = changed || wrote
		waiting = waiting && text(now, "status", "installPlanRef", "name") != "" && text(now, "status", "state") == "UpgradePending"
	}
	// OLM resolves nothing without exactly one OperatorGroup, and nothing new while plans wait.
	if changed || waiting || len(ns.groups) != 1 {
		return nil
	}
	return o.advance(ctx, all, ns)
}

func exists(all []object, name string) bool {
	for i := range all {
		if all[i].GetNamespace()+"/"+all[i].GetName() == name {
			return true
		}
	}
	return false
}

// followPlan says of a Subscription how its InstallPlan is. One that was deleted while it waited is
// planned anew.
func followPlan(ns *namespace, sub *object) {
	ref := text(sub, "status", "installPlanRef", "name")
	if ref == "" {
		return
	}
	without(sub, planPending, planMissing, planFailed)
	plan := named(ns.plans, ref)
	if plan == nil {
		if text(sub, "status", "state") != "UpgradePending" {
			condition(sub, planMissing, "True", "ReferencedInstallPlanNotFound", "")
			return
		}
		for _, field := range []string{"installPlanRef", "installplan", "currentCSV", "state"} {
			unset(sub, field)
		}
		return
	}
	switch phase := text(plan, "status", "phase"); phase {
	case "":
		condition(sub, planPending, "True", "InstallPlanNotYetReconciled", "")
	case "RequiresApproval", "Installing":
		condition(sub, planPending, "True", phase, "")
	case "Failed":
		condition(sub, planFailed, "True", "InstallComponentFailed", text(plan, "status", "message"))
	}
}

// followCSV says of a Subscription whether the version to which it goes exists: OLM does not ask
// whether it works.
func followCSV(ns *namespace, sub *object) {
	current := text(sub, "status", "currentCSV")
	switch {
	case current == "":
	case named(ns.csvs, current) == nil:
		set(sub, "UpgradePending", "state")
	default:
		set(sub, "AtLatestKnown", "state")
		set(sub, current, "installedCSV")
	}
}

// advance resolves the Subscriptions of a namespace, and plans what they go to.
func (o *OLM) advance(ctx context.Context, all *seen, ns *namespace) error {
	if at, fault, stopped := o.stopped(all.catalogues); stopped {
		return o.tell(ctx, ns, resolutionFailed, "ErrorPreventedResolution", fmt.Sprintf("failed to populate resolver cache from source %s: failed to list bundles: rpc error: code = Unavailable desc = %s", at, fault.Message))
	}
	choices, why := resolve(o.published(), all.catalogues, ns)
	for _, each := range choices {
		if _, hangs := o.fault(each.csv, NeverResolves); hangs {
			return nil
		}
		if fault, fails := o.fault(each.csv, Unsatisfiable); fails {
			why = "constraints not satisfiable: " + fault.Message
		}
	}
	if why != "" {
		return o.tell(ctx, ns, resolutionFailed, "ConstraintsNotSatisfiable", why)
	}
	for _, each := range choices {
		fault, faulty := o.fault(each.csv, Unpacks, UnpackFails)
		switch {
		case !faulty:
		case fault.How == UnpackFails && (has(each.subscription, bundleUnpacking) || has(each.subscription, bundleUnpackFailed)):
			return o.tell(ctx, ns, bundleUnpackFailed, "BundleUnpackFailed", "Bundle unpacking failed - DeadlineExceeded: "+fault.Message, bundleUnpacking)
		default:
			return o.tell(ctx, ns, bundleUnpacking, "UnpackingInProgress", fault.Message)
		}
	}
	return o.move(ctx, ns, choices)
}

// has says whether a condition is there.
func has(sub *object, kind string) bool {
	for _, each := range conditions(sub) {
		if had, _ := each.(map[string]any); had["type"] == kind {
			return true
		}
	}
	return false
}

// tell sets a condition on all Subscriptions of a namespace, and removes others.
func (o *OLM) tell(ctx context.Context, ns *namespace, kind, reason, message string, removed ...string) error {
	for i := range ns.subscriptions {
		now := ns.subscriptions[i].DeepCopy()
		condition(now, kind, "True", reason, message)
		without(now, removed...)
		if _, err := o.setStatus(ctx, subscriptionKind, &ns.subscriptions[i], now); err != nil {
			return err
		}
	}
	return nil
}

// move makes an InstallPlan of all choices, if a Subscription goes to another version than before, and
// ends the conditions of what failed. Only Subscriptions that move get the plan's name.
func (o *OLM) move(ctx context.Context, ns *namespace, choices []choice) error {
	to := map[string]string{}
	for _, each := range choices {
		if each.moves {
			to[each.subscription.GetName()] = each.csv
		}
	}
	var plan *object
	if len(to) > 0 {
		var err error
		if plan, err = o.makePlan(ctx, ns, choices); err != nil {
			return err
		}
	}
	for i := range ns.subscriptions {
		now := ns.subscriptions[i].DeepCopy()
		without(now, resolutionFailed, bundleUnpacking, bundleUnpackFailed)
		if csv := to[now.GetName()]; csv != "" {
			set(now, csv, "currentCSV")
			set(now, "UpgradePending", "state")
			refer(now, plan)
		}
		if _, err := o.setStatus(ctx, subscriptionKind, &ns.subscriptions[i], now); err != nil {
			return err
		}
	}
	return nil
}

// refer makes a Subscription refer to an InstallPlan.
func refer(sub, plan *object) {
	version, uid := plan.GetAPIVersion(), string(plan.GetUID())
	set(sub, map[string]any{
		"apiVersion": version, "kind": "InstallPlan", "namespace": plan.GetNamespace(), "name": plan.GetName(),
		"uid": uid, "resourceVersion": plan.GetResourceVersion(),
	}, "installPlanRef")
	set(sub, map[string]any{"apiVersion": version, "kind": "InstallPlan", "name": plan.GetName(), "uuid": uid}, "installplan")
	set(sub, number(plan, "spec", "generation"), "installPlanGeneration")
}
