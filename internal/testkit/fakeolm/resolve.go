package fakeolm

import (
	"fmt"
	"slices"
)

// choice is the version to which a Subscription goes.
type choice struct {
	subscription *object
	csv          string
	// moves says that the Subscription did not go there before.
	moves bool
}

// resolve chooses the versions to which the Subscriptions of a namespace go and that are not there yet,
// as OLM does: of all of them together. An unsatisfiable Subscription is said by why.
func resolve(packages []Package, catalogues []object, ns *namespace) (choices []choice, why string) {
	for i := range ns.subscriptions {
		sub := &ns.subscriptions[i]
		csv, why := chosen(packages, catalogues, ns, sub)
		if why != "" {
			return nil, "constraints not satisfiable: subscription " + sub.GetName() + " exists, " + why
		}
		if named(ns.csvs, csv) == nil {
			choices = append(choices, choice{sub, csv, text(sub, "status", "currentCSV") != csv})
		}
	}
	return choices, ""
}

// chosen is the version to which a Subscription goes: the installed one if none replaces it.
func chosen(packages []Package, catalogues []object, ns *namespace, sub *object) (csv, why string) {
	source, sourceNamespace := text(sub, "spec", "source"), text(sub, "spec", "sourceNamespace")
	if !slices.ContainsFunc(catalogues, func(c object) bool { return c.GetName() == source && c.GetNamespace() == sourceNamespace }) {
		return "", fmt.Sprintf("no operators found from catalog %s in namespace %s referenced by subscription %s", source, sourceNamespace, sub.GetName())
	}
	name, channel, starting := text(sub, "spec", "name"), text(sub, "spec", "channel"), text(sub, "spec", "startingCSV")
	at := slices.IndexFunc(packages, func(p Package) bool { return p.Name == name })
	if at < 0 {
		return "", fmt.Sprintf("no operators found in package %s in the catalog referenced by subscription %s", name, sub.GetName())
	}
	of := packages[at]
	if channel != "" && channel != of.Channel {
		return "", fmt.Sprintf("no operators found in channel %s of package %s in the catalog referenced by subscription %s", channel, name, sub.GetName())
	}
	index := func(csv string) int { return slices.IndexFunc(of.CSVs, func(c CSV) bool { return c.Name == csv }) }
	for _, field := range []string{"currentCSV", "installedCSV"} {
		if has := text(sub, "status", field); has != "" && named(ns.csvs, has) != nil {
			if i := index(has); i >= 0 && i+1 < len(of.CSVs) {
				return of.CSVs[i+1].Name, ""
			}
			return has, ""
		}
	}
	if starting == "" {
		return of.CSVs[len(of.CSVs)-1].Name, ""
	}
	if index(starting) < 0 {
		return "", fmt.Sprintf("no operators found with name %s in channel %s of package %s in the catalog referenced by subscription %s", starting, channel, name, sub.GetName())
	}
	return starting, ""
}
