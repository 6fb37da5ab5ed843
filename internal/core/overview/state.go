package overview

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// states are the links in their order.
func (s Seen) states() (out []State) {
	for _, link := range Links() {
		state := s.byReport(link)
		if link == chain.Binding {
			state = s.binding()
		}
		state.Link = link
		state.Since = s.since(state)
		out = append(out, state)
	}
	return out
}

// byReport is a link as the chain of the workload has it.
func (s Seen) byReport(link chain.Link) State {
	step := s.stepOf(link)
	if step == nil {
		return s.unread()
	}
	out := State{State: step.State, Text: step.Text, Needs: step.Needs, By: &s.Chain.Subject}
	switch step.State {
	case chain.Sound:
		return out
	case chain.Broken:
		out.Finding = &step.Findings[0]
		return out
	case chain.Unseen, chain.Unreached, chain.Unasked:
	}
	switch {
	case s.Chain.Unread != "" && link != chain.Issuer:
		return s.unread()
	case step.State == chain.Unreached && (link == chain.Provider || link == chain.Webhook) && s.Chain.Report.Role == "":
		return s.unnamed()
	}
	return out
}

// unread is a link of a workload that was not read.
func (s Seen) unread() State {
	return State{State: chain.Unseen, Text: "it was not looked at: " + cmp.Or(s.Chain.Unread, "no workload was read"), Needs: s.Chain.Needs}
}

// stepOf is a link of the report; nil where there is none.
func (s Seen) stepOf(link chain.Link) *chain.Step {
	if s.Chain.Report == nil {
		return nil
	}
	links := s.Chain.Report.Links
	at := slices.IndexFunc(links, func(step chain.Step) bool { return step.Link == link })
	if at < 0 {
		return nil
	}
	return &links[at]
}

// unnamed is a link that only a workload with a role has, where none is known that has one.
func (s Seen) unnamed() State {
	switch {
	case s.Accounts.Unknown != "":
		return State{State: chain.Unseen, Text: "no workload was read that names a role: " + s.Accounts.Unknown, Needs: s.Accounts.Needs}
	case s.Accounts.Named > 0:
		return State{State: chain.Unseen, Text: "the workloads that name a role are gone, or changed while they were looked at", Needs: "another look"}
	case s.Accounts.Slip != nil:
		return State{State: chain.Unreached, Text: "no ServiceAccount names a role in a way that counts"}
	}
	return State{State: chain.Unreached, Text: "no ServiceAccount names a role yet"}
}

// binding is which roles the ServiceAccounts are bound to, of all that were read.
func (s Seen) binding() State {
	a := s.Accounts
	switch {
	case a.Slip != nil:
		return State{State: chain.Broken, Text: a.Slip.Text, By: &a.Slip.Subject, Finding: a.SlipFinding}
	case a.Unknown != "" && a.Total == 0:
		return State{State: chain.Unseen, Text: "which roles the ServiceAccounts name: " + a.Unknown, Needs: a.Needs}
	case a.Unknown != "":
		return State{State: chain.Unseen, Text: fmt.Sprintf("%d of %d ServiceAccounts that were read name a role; there may be others: %s", a.Named, a.Total, a.Unknown), Needs: a.Needs}
	case a.Named == 0:
		return State{State: chain.Unreached, Text: "no ServiceAccount names a role yet"}
	}
	return State{State: chain.Sound, Text: fmt.Sprintf("%d of %d ServiceAccounts name a role", a.Named, a.Total)}
}
