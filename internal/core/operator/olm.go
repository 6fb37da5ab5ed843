package operator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The reasons of conditions and phases are those of OLM
// (github.com/operator-framework/api/pkg/operators/v1alpha1).

func (o *Objects) resolved(time.Time) Stage {
	s := o.own()
	at := o.at(KindSubscription, s.Name)
	if c, bad := is(s.Conditions, "ResolutionFailed"); bad && !o.isPlanned() {
		if c.Reason == "ConstraintsNotSatisfiable" {
			return Stage{State: Failed, Since: c.Since, Sentence: because("OLM cannot resolve the Subscription", c.Message), Next: "mend what the message names: a version, a dependency, or another Subscription of the namespace", Object: at}
		}
		return Stage{State: Waiting, Since: c.Since, Sentence: because("OLM could not resolve the Subscription just now, and tries again", c.Message), Next: "kubectl get catalogsources --all-namespaces: one that is not READY stops all Subscriptions that see it", Object: at}
	}
	if o.isUnpacking() {
		return Stage{State: Done, Sentence: "OLM has chosen a version, and unpacks it", Object: at}
	}
	if s.CurrentCSV == "" && !o.isPlanned() {
		if c, bad := is(s.Conditions, "CatalogSourcesUnhealthy"); bad {
			return Stage{State: Waiting, Since: c.Since, Sentence: because("the catalogues are not healthy", c.Message), Next: "kubectl get catalogsources --all-namespaces", Object: at}
		}
		return Stage{State: Waiting, Sentence: "OLM has not chosen a version yet", Object: at}
	}
	return Stage{State: Done, Sentence: "OLM goes to " + o.Target(), Object: at}
}

// isUnpacking says that OLM unpacks a bundle, or failed to: until it has, it names no version.
func (o *Objects) isUnpacking() bool {
	_, unpacks := is(o.own().Conditions, "BundleUnpacking")
	_, failed := is(o.own().Conditions, "BundleUnpackFailed")
	return (unpacks || failed) && !o.isPlanned()
}

func (o *Objects) unpacked(time.Time) Stage {
	s := o.own()
	at := o.at(KindSubscription, s.Name)
	if o.isPlanned() {
		return Stage{State: Done, Sentence: "the bundle is unpacked", Object: at}
	}
	if c, bad := is(s.Conditions, "BundleUnpackFailed"); bad {
		return Stage{State: Failed, Since: c.Since, Sentence: because("the bundle could not be unpacked", c.Message),
			Next: "mend the image or the access to it, then delete the Job in " + o.SourceNamespace + ": OLM does not try again by itself", Object: at}
	}
	if c, bad := is(s.Conditions, "BundleUnpacking"); bad {
		return Stage{State: Waiting, Since: c.Since, Sentence: because("the bundle is being unpacked", c.Message), Object: at}
	}
	if s.Plan == "" && s.InstalledCSV == "" {
		c, _ := is(s.Conditions, "InstallPlanPending")
		return Stage{State: Waiting, Since: c.Since, Sentence: because("there is no InstallPlan yet", c.Message), Object: at}
	}
	return Stage{State: Done, Sentence: "the bundle is unpacked", Object: at}
}

// plan is that of the wanted version.
func (o *Objects) plan() *Plan { return o.planFor(o.Target()) }

// planFor is the newest InstallPlan that installs a version: that of the Subscription may be for the
// next one already, and older ones may have failed.
func (o *Objects) planFor(csv string) *Plan {
	var found *Plan
	for i := range o.Plans {
		if p := &o.Plans[i]; slices.Contains(p.CSVs, csv) && (found == nil || p.Generation > found.Generation) {
			found = p
		}
	}
	return found
}

// isPlanned says that the wanted version is past its resolution: what OLM says against a resolution is
// then about the next version. While one version replaces another, OLM says for some seconds that the
// constraints are not satisfiable.
func (o *Objects) isPlanned() bool {
	return o.Target() != "" && (o.plan() != nil || o.CSV != nil && o.CSV.Name == o.Target())
}

func (o *Objects) approved(time.Time) Stage {
	p := o.plan()
	switch {
	case p != nil && p.Approved:
		return Stage{State: Done, Sentence: "the InstallPlan is approved", Object: o.at(KindPlan, p.Name)}
	case o.CSV != nil && o.CSV.Name == o.Target() && o.CSV.Phase == "Succeeded":
		return Stage{State: Done, Sentence: o.Target() + " is installed already", Object: o.at(KindCSV, o.Target())}
	case p == nil:
		return Stage{State: Waiting, Sentence: "no InstallPlan is for " + o.Target() + " yet", Object: o.at(KindSubscription, o.Wanted.Subscription)}
	case p.Phase == "Planning" || p.Phase == "":
		return Stage{State: Waiting, Sentence: "OLM is planning what to install", Object: o.at(KindPlan, p.Name)}
	}
	sentence := "the InstallPlan " + p.Name + " waits for an approval, and installs " + p.CSVs[0]
	if len(p.CSVs) > 1 {
		sentence = fmt.Sprintf("the InstallPlan %s waits for an approval, and installs all of %s", p.Name, strings.Join(p.CSVs, ", "))
	}
	return Stage{State: YourTurn, Sentence: sentence, Next: fmt.Sprintf("tabard operators approve %s -n %s", o.Wanted.Subscription, o.Namespace), Object: o.at(KindPlan, p.Name)}
}

// final are reasons of a ClusterServiceVersion that only a person can mend.
var final = []string{
	"InstallComponentFailedNoRetry", "InvalidInstallStrategy", "InvalidInstallModes", "InvalidWebhookDescription", "OwnerConflict",
	"InterOperatorGroupOwnerConflict", "UnsupportedOperatorGroup", "NoOperatorGroup", "TooManyOperatorGroups", "NoTargetNamespaces",
	"CannotModifyStaticOperatorGroupProvidedAPIs",
}

func (o *Objects) installed(time.Time) Stage {
	if p := o.plan(); p != nil && p.Phase == "Failed" {
		message := p.Message
		for _, c := range p.Conditions {
			if c.Type == "Installed" && c.Status == "False" && c.Message != "" {
				message = c.Message
			}
		}
		return Stage{State: Failed, Sentence: because("the InstallPlan failed", message), Next: "mend what the message names, then delete the InstallPlan and the ClusterServiceVersion: OLM plans anew", Object: o.at(KindPlan, p.Name)}
	}
	csv := o.CSV
	at := o.at(KindCSV, o.Target())
	switch {
	case csv == nil || csv.Name != o.Target():
		return Stage{State: Waiting, Sentence: "the ClusterServiceVersion is not there yet", Object: at}
	case csv.Phase == "Succeeded":
		return Stage{State: Done, Since: csv.Since, Sentence: csv.Name + " is installed, and its Deployments are available", Object: at}
	case slices.Contains(final, csv.Reason):
		return Stage{State: Failed, Since: csv.Since, Sentence: because("OLM cannot install it ("+csv.Reason+")", csv.Message), Next: "mend what the message names", Object: at}
	case csv.Reason == "OperatorConditionNotUpgradeable":
		return Stage{State: Waiting, Since: csv.Since, Sentence: because("the installed operator says by its OperatorCondition that it must not be upgraded now", csv.Message), Next: "kubectl -n " + o.Namespace + " get operatorconditions -o yaml says why", Object: at}
	case len(csv.Unmet) > 0:
		return Stage{State: Waiting, Since: csv.Since, Sentence: "requirements are missing: " + strings.Join(csv.Unmet, ", "), Next: "install what is missing, if no Subscription of this namespace brings it", Object: at}
	}
	next := ""
	// OLM goes from Failed over NeedsReinstall and InstallReady to Installing again.
	if slices.Contains([]string{"Failed", "Installing", "InstallReady"}, csv.Phase) || csv.Reason == "NeedsReinstall" {
		next = "kubectl -n " + o.Namespace + " get pods: OLM tries again, and the pods say why they do not start"
	}
	return Stage{State: Waiting, Since: csv.Since, Sentence: because(fmt.Sprintf("the ClusterServiceVersion is %s (%s)", orNone(csv.Phase), orNone(csv.Reason)), csv.Message), Next: next, Object: at}
}

func orNone(text string) string {
	if text == "" {
		return "not looked at yet"
	}
	return text
}

// Next is the version to which an upgrade waits for an approval; empty for none.
func (o *Objects) Next() string {
	s := o.own()
	if s == nil || s.CurrentCSV == o.Target() {
		return ""
	}
	if p := o.planFor(s.CurrentCSV); p == nil || !p.Waits() {
		return ""
	}
	return s.CurrentCSV
}

// Waiting is the InstallPlan of the wanted version, if it waits for an approval.
func (o *Objects) Waiting() *Plan {
	if p := o.plan(); p != nil && p.Waits() {
		return p
	}
	return nil
}
