package fakeolm

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phase is one of a ClusterServiceVersion, with its reason.
type phase struct{ name, reason, message string }

// facts are what the next phase of a ClusterServiceVersion depends on.
type facts struct {
	// fault is how it fails; How is empty where it does not.
	fault Fault
	// failed counts how often it was Failed with InstallCheckFailed.
	failed int
	// replaced is the phase of the one that it replaces, replacement that of the one which replaces it.
	// Both are empty where there is none.
	replaced, replacement string
	// replacementName is the name of the latter.
	replacementName string
	// stale is a Deployment that is not as it should be; empty where all are.
	stale string
}

// next is the phase after another: the same where it stays.
func next(now phase, f facts) phase {
	checkFails := f.fault.How == CheckFails && (f.fault.Times == 0 || f.failed < f.fault.Times)
	switch now.name {
	case "":
		return phase{"Pending", "RequirementsUnknown", "requirements not yet checked"}
	case "Pending":
		switch {
		case f.fault.How == PlanFails:
			return phase{"Pending", "RequirementsNotMet", "one or more requirements couldn't be found"}
		case f.replaced != "" && f.replaced != "Replacing":
			return now
		}
		return phase{"InstallReady", "AllRequirementsMet", "all requirements found, attempting install"}
	case "InstallReady":
		if f.fault.How == InstallFails {
			return phase{"Failed", "InstallComponentFailedNoRetry", "install strategy failed: " + f.fault.Message}
		}
		return phase{"Installing", "InstallSucceeded", "waiting for install components to report healthy"}
	case "Installing":
		switch {
		case checkFails && now.reason != "InstallWaiting":
			return phase{"Installing", "InstallWaiting", "installing: " + f.fault.Message}
		case checkFails:
			return phase{"Failed", "InstallCheckFailed", "install timeout"}
		}
		return phase{"Succeeded", "InstallSucceeded", "install strategy completed with no errors"}
	case "Failed":
		if now.reason == "InstallCheckFailed" {
			return phase{"Pending", "NeedsReinstall", "installing: " + f.fault.Message}
		}
	case "Succeeded":
		switch {
		case f.replacementName != "":
			return phase{"Replacing", "BeingReplaced", "being replaced by csv: " + f.replacementName}
		case f.stale != "":
			return phase{"InstallReady", "ComponentUnhealthy", "installing: deployment " + f.stale + " changed, rolling update"}
		}
	case "Replacing":
		if f.replacement == "Succeeded" {
			return phase{"Deleting", "Replaced", "has been replaced by a newer ClusterServiceVersion that has successfully installed."}
		}
	}
	return now
}

// csv takes a ClusterServiceVersion one step on.
func (o *OLM) csv(ctx context.Context, ns *namespace, of *object) error {
	wanted, err := deployments(ns, of)
	if err != nil {
		return err
	}
	f := o.facts(ns, of)
	f.stale = stale(ns, wanted)
	was := phase{text(of, "status", "phase"), text(of, "status", "reason"), text(of, "status", "message")}
	now := next(was, f)
	switch {
	case was.name == "Deleting":
		return o.removeCSV(ctx, ns, of)
	case was.name == "InstallReady" && now.name == "Installing":
		err = o.makeDeployments(ctx, ns, wanted)
	case was.name == "Installing" && now.name == "Succeeded":
		err = o.makeAvailable(ctx, ns, of.GetName())
	}
	if err != nil || was == now {
		return err
	}
	changed := of.DeepCopy()
	said := map[string]any{"phase": now.name, "reason": now.reason, "message": now.message, "lastTransitionTime": instant(), "lastUpdateTime": instant()}
	for field, value := range said {
		set(changed, value, field)
	}
	set(changed, append(conditions(changed), said), "conditions")
	unset(changed, "requirementStatus")
	if now.reason == "RequirementsNotMet" {
		set(changed, []any{map[string]any{
			"group": "", "version": "v1", "kind": "ServiceAccount", "name": "default", "status": "NotPresent", "message": "Service account does not exist",
		}}, "requirementStatus")
	}
	_, err = o.setStatus(ctx, csvKind, of, changed)
	return err
}

// facts are those of a ClusterServiceVersion, but for its Deployments.
func (o *OLM) facts(ns *namespace, of *object) (f facts) {
	f.fault, _ = o.fault(of.GetName(), PlanFails, InstallFails, CheckFails)
	for _, each := range conditions(of) {
		if had, _ := each.(map[string]any); had["reason"] == "InstallCheckFailed" {
			f.failed++
		}
	}
	if replaced := named(ns.csvs, text(of, "spec", "replaces")); replaced != nil {
		f.replaced = text(replaced, "status", "phase")
	}
	for i := range ns.csvs {
		if text(&ns.csvs[i], "spec", "replaces") == of.GetName() {
			f.replacement, f.replacementName = text(&ns.csvs[i], "status", "phase"), ns.csvs[i].GetName()
		}
	}
	return f
}

// removeCSV removes a ClusterServiceVersion that was replaced, and its Deployments that the new one has
// not taken over.
func (o *OLM) removeCSV(ctx context.Context, ns *namespace, of *object) error {
	for _, each := range ns.deployments {
		if each.Labels[ownerLabel] != of.GetName() {
			continue
		}
		if err := o.kube.AppsV1().Deployments(ns.name).Delete(ctx, each.Name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("remove the Deployment %s/%s: %w", ns.name, each.Name, err)
		}
	}
	if err := o.client.Resource(csvKind).Namespace(ns.name).Delete(ctx, of.GetName(), metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("remove the ClusterServiceVersion %s/%s: %w", ns.name, of.GetName(), err)
	}
	return nil
}
