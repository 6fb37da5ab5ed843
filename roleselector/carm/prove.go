package carm

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Result is the outcome of comparing both sides.
type Result string

// The results.
const (
	// Equal: both sides do the same.
	Equal Result = "equal"
	// Different: they do not.
	Different Result = "different"
	// Warned: the role is the same; region, endpoint or deletion policy are not,
	// because CARM passes over annotations of the namespace (case U12).
	Warned Result = "warning"
	// Pending: the status of a resource does not say yet which selector was used.
	Pending Result = "pending"
)

// Holds says whether a proof stands with this result in it.
func (r Result) Holds() bool { return r == Equal || r == Warned }

// Line is one line of a proof.
type Line struct {
	Controller string `json:"controller"`
	Namespace  string `json:"namespace"`
	// GVK is GROUP/VERSION/KIND.
	GVK string `json:"gvk"`
	// Resource is the name of an existing one; empty for the kind as such.
	Resource string `json:"resource,omitempty"`
	// CARM and IRS are what both sides give: an ARN, or an outcome.
	CARM    string `json:"carm"`
	IRS     string `json:"irs"`
	Verdict Result `json:"verdict"`
	// Reason says where both answers come from, or what is different.
	Reason string `json:"reason,omitempty"`
}

// ProofOptions say what is compared.
type ProofOptions struct {
	// Semantics is how the controllers read selectors; nil is Shipped.
	Semantics Semantics
	// Live compares what resources' status says of the selector used last, too. It
	// is for after the change-over.
	Live bool
}

// Prove compares CARM with selectors: for every kind of every controller in every
// namespace that it reconciles, in namespaces to come as far as the selectors can
// tell them apart, and for every resource that is there. The selectors are all
// that the cluster has or will have; those of cluster are not looked at.
//
// The lines come in a fixed order and are made as they are read. The error says
// what is missing in the input.
func Prove(cluster Cluster, controllers []Controller, selectors []Selector, options ProofOptions) (iter.Seq[Line], error) {
	w, err := newWorld(cluster, controllers)
	if err != nil {
		return nil, err
	}
	decide := Options{Semantics: options.Semantics}.semantics()(selectors)
	return func(yield func(Line) bool) {
		for e := range w.kinds(selectors) {
			if !yield(w.line(e, decide(e.object()), false)) {
				return
			}
		}
		for e := range w.resources() {
			if !yield(w.line(e, decide(e.object()), options.Live)) {
				return
			}
		}
	}, nil
}

// line compares one element.
func (w *world) line(e element, v Verdict, live bool) Line {
	r := w.carm(e)
	line := Line{
		Controller: e.controller.Name, Namespace: e.namespace.Name, GVK: kindName(e.kind),
		CARM: r.Answer(), IRS: v.Answer(), Verdict: Equal,
	}
	if e.resource != nil {
		line.Resource = e.resource.Name
	}
	if e.namespace.Name == unknownNamespace && len(e.namespace.Labels) > 0 {
		line.Namespace += " with " + labelText(e.namespace.Labels)
	}
	now, then := e.settings()
	switch {
	case !same(r, v):
		line.Verdict, line.Reason = Different, reason(r, v)
	case moved(e, v):
		line.Verdict = Different
		line.Reason = fmt.Sprintf("the resource is in account %s", e.ownerAccount())
	case now != then:
		line.Verdict, line.Reason = Warned, fmt.Sprintf("settings %s become %s", now, then)
	}
	if live && line.Verdict.Holds() {
		if result, why := recorded(e.resource.Recorded, v); result != Equal {
			line.Verdict, line.Reason = result, why
		}
	}
	return line
}

// settings are those of the element under CARM and with selectors.
func (e element) settings() (now, then Settings) {
	now, then = e.controller.Settings(e.namespace), e.controller.SelectorSettings(e.namespace)
	if e.resource != nil {
		now, then = now.Of(*e.resource), then.Of(*e.resource)
	}
	return now, then
}

// String is how settings are called in reports.
func (s Settings) String() string {
	return fmt.Sprintf("{region %q, endpoint %q, deletion policy %q}", s.Region, s.Endpoint, s.DeletionPolicy)
}

// reason says where two answers come from.
func reason(r Resolution, v Verdict) string {
	from := "CARM looks nothing up"
	switch {
	case r.Cause != "":
		from = fmt.Sprintf("%q in %s: %s", r.Key, r.Map, r.Cause)
	case r.Map != "":
		from = fmt.Sprintf("%q in %s", r.Entry, r.Map)
	}
	if len(v.Selectors) == 0 {
		return from + "; no selector matches"
	}
	return from + "; selectors " + strings.Join(v.Selectors, ", ")
}

// recorded compares what a status says with the selectors' verdict.
func recorded(status Recorded, v Verdict) (Result, string) {
	switch {
	case v.Outcome == Default && status != (Recorded{}):
		return Different, fmt.Sprintf("the status names the selector %q, and none matches", status.Selector)
	case v.Outcome != Role || v.blocks():
		return Equal, ""
	case status == Recorded{}:
		return Pending, "the status names no selector yet"
	case status.Selector != "" && !slices.Contains(v.Selectors, status.Selector):
		return Different, fmt.Sprintf("the status names the selector %q", status.Selector)
	case status.Role != "" && status.Role != v.Role:
		return Different, fmt.Sprintf("the status names the role %s", status.Role)
	default:
		return Equal, ""
	}
}

// labelText is KEY=VALUE for all labels, sorted.
func labelText(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}
