// Package selectorreport turns decisions on resources round: who uses each
// IAMRoleSelector, who is in conflict over it, and who is left alone because of it.
package selectorreport

import (
	"cmp"
	"iter"
	"slices"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// Reports are what is reported of each selector, by its name. A resource counts
// for every selector that took part in the decision on it: as used where the role
// is the selector's, as a conflict where several are, and as denied where it gets
// no role because of the selector, also because that cannot be evaluated. What is
// not decided yet counts nowhere.
func Reports(selectors []*roleselector.Selector, decisions iter.Seq2[roleselector.Object, roleselector.Decision]) map[string]v1alpha1.IAMRoleSelectorReportStatus {
	counted := make(map[string]counts, len(selectors))
	for _, s := range selectors {
		counted[s.Reference().Name] = counts{}
	}
	for object, decision := range decisions {
		for _, name := range concerned(decision) {
			// A selector that has just gone is in a decision, and not in the list.
			if own, there := counted[name]; there {
				own.add(object, decision.Outcome)
			}
		}
	}
	reports := make(map[string]v1alpha1.IAMRoleSelectorReportStatus, len(selectors))
	for _, s := range selectors {
		ref := s.Reference()
		report := counted[ref.Name].report()
		report.SelectorUID, report.SelectorGeneration = ref.UID, ref.Generation
		reports[ref.Name] = report
	}
	return reports
}

// concerned are the selectors for which a decision counts.
func concerned(d roleselector.Decision) []string {
	switch d.Outcome {
	case roleselector.Use:
		return []string{d.Selector.Name}
	case roleselector.Conflict, roleselector.Denied, roleselector.Invalid:
		return d.Names()
	default:
		return nil
	}
}

// place is a kind in a namespace.
type place struct{ group, kind, namespace string }

// counts are those of one selector.
type counts map[place]v1alpha1.SelectorCounts

func (c counts) add(object roleselector.Object, outcome roleselector.Outcome) {
	at := place{object.Group, object.Kind, object.Namespace}
	c[at] = sum(c[at], one(outcome))
}

func one(outcome roleselector.Outcome) v1alpha1.SelectorCounts {
	switch outcome {
	case roleselector.Use:
		return v1alpha1.SelectorCounts{Used: 1}
	case roleselector.Conflict:
		return v1alpha1.SelectorCounts{Conflicts: 1}
	default:
		return v1alpha1.SelectorCounts{Denied: 1}
	}
}

func sum(a, b v1alpha1.SelectorCounts) v1alpha1.SelectorCounts {
	return v1alpha1.SelectorCounts{Used: a.Used + b.Used, Conflicts: a.Conflicts + b.Conflicts, Denied: a.Denied + b.Denied}
}

// report has the places with most resources first, as many as there is room for.
func (c counts) report() v1alpha1.IAMRoleSelectorReportStatus {
	var report v1alpha1.IAMRoleSelectorReportStatus
	for at, n := range c {
		report.SelectorCounts = sum(report.SelectorCounts, n)
		report.Resources = append(report.Resources, v1alpha1.ReportedResources{
			Group: at.group, Kind: at.kind, Namespace: at.namespace, SelectorCounts: n,
		})
	}
	slices.SortFunc(report.Resources, func(a, b v1alpha1.ReportedResources) int {
		return cmp.Or(cmp.Compare(total(b), total(a)),
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace))
	})
	if len(report.Resources) > v1alpha1.MaxReportedResources {
		report.Resources, report.Truncated = report.Resources[:v1alpha1.MaxReportedResources], true
	}
	return report
}

func total(r v1alpha1.ReportedResources) int32 { return r.Used + r.Conflicts + r.Denied }
