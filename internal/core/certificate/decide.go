package certificate

import (
	"bytes"
	"crypto/x509"
	"slices"
	"strings"
	"time"
)

// Times of certificates.
const (
	// authorityLife and servingLife are from making to expiry. Both are renewed
	// after two thirds.
	authorityLife = 10 * 365 * 24 * time.Hour
	servingLife   = 90 * 24 * time.Hour
	// backdate is how long before its making a certificate is good, for clocks
	// that are behind.
	backdate = time.Hour
	// settle is how long API servers have to see a new authority before
	// something signed by it is served.
	settle = 10 * time.Minute
	// soon is when to look at what a step has changed, should no watch tell.
	soon = time.Second
	// patience is the longest time without looking.
	patience = 12 * time.Hour
)

// Plan is what a pass decided.
type Plan struct {
	// Step is the one change to make, nil for none: what comes after depends on
	// what it makes.
	Step Step
	// Again is when to look next, from now; zero leaves it to the watches of
	// Secret and configuration.
	Again time.Duration
	// Problem is what a person must mend, empty for none. A change of Secret or
	// configuration is looked at at once.
	Problem string
}

// Step is one change to make. Steps are small comparable values.
type Step interface{ step() }

// The steps. All but PutBundle change the Secret, by Apply.
type (
	// IssueAll makes an authority and a serving certificate afresh.
	IssueAll struct{ Names Names }
	// IssueAuthority makes a new authority, and keeps the old ones trusted.
	IssueAuthority struct{}
	// DropExpired forgets old authorities that have expired.
	DropExpired struct{}
	// IssueServing makes a serving certificate by the newest authority.
	IssueServing struct{ Names Names }
	// PutBundle makes every hook of the configuration trust exactly that.
	PutBundle struct{ Bundle string }
)

func (IssueAll) step()       {}
func (IssueAuthority) step() {}
func (DropExpired) step()    {}
func (IssueServing) step()   {}
func (PutBundle) step()      {}

// Names are DNS names and IP addresses, sorted, joined by commas so that steps
// compare.
type Names string

// Decide says what to do next.
func Decide(w World) Plan {
	names := w.names()
	switch {
	case len(w.Hooks) == 0:
		return Plan{}
	case len(w.Secret.Data) > 0 && !w.Secret.Ours:
		return Plan{Problem: "the Secret with the serving certificate was not made by Tabard, and is left alone; " +
			"delete it so that Tabard makes its own, or maintain it and the caBundle of the configuration yourself"}
	case len(names) == 0:
		return Plan{Problem: "no hook of the webhook configuration has a clientConfig with a service or a URL with a host; " +
			"there is nothing to make a certificate for"}
	}
	all := Names(strings.Join(names, ","))
	held, err := read(w.Secret.Data)
	if err != nil || !isGood(held.authority(), w.Now) {
		return Plan{Step: IssueAll{Names: all}, Again: soon}
	}
	if step := held.next(w, all); step != nil {
		return Plan{Step: step, Again: soon}
	}
	return Plan{Again: held.quiet(w.Now)}
}

// next is the first change that a sound Secret needs. The bundle comes before
// what is signed by a new authority.
func (h holding) next(w World, names Names) Step {
	authority := h.authority()
	useless := !isGood(h.serving, w.Now) || !h.serves(names)
	renew := !w.Now.Before(renewal(h.serving)) || !h.signed()
	bundle := w.Secret.Data[AuthoritiesKey]
	switch {
	case !w.Now.Before(renewal(authority)):
		return IssueAuthority{}
	case slices.ContainsFunc(h.authorities, func(a *x509.Certificate) bool { return w.Now.After(a.NotAfter) }):
		return DropExpired{}
	case slices.ContainsFunc(w.Hooks, func(hook Hook) bool { return !bytes.Equal(hook.Bundle, bundle) }):
		return PutBundle{Bundle: string(bundle)}
	case useless, renew && !w.Now.Before(settled(authority)):
		return IssueServing{Names: names}
	}
	return nil
}

// quiet is how long nothing will be due.
func (h holding) quiet(now time.Time) time.Duration {
	due := []time.Time{now.Add(patience), renewal(h.serving)}
	if !h.signed() || now.After(renewal(h.serving)) {
		due[1] = settled(h.authority())
	}
	due = append(due, renewal(h.authority()))
	for _, old := range h.authorities[1:] {
		due = append(due, old.NotAfter.Add(time.Second)) // times of certificates are whole seconds
	}
	return max(slices.MinFunc(due, time.Time.Compare).Sub(now), soon)
}

// isGood says that a certificate is within its time. One of the future was made
// by a clock that was wrong.
func isGood(certificate *x509.Certificate, now time.Time) bool {
	return !now.Before(certificate.NotBefore) && !now.After(certificate.NotAfter)
}

// renewal is when a certificate has lived two thirds of its life.
func renewal(of *x509.Certificate) time.Time {
	return of.NotBefore.Add(of.NotAfter.Sub(of.NotBefore) / 3 * 2)
}

// settled is when every API server has seen an authority.
func settled(authority *x509.Certificate) time.Time {
	return authority.NotBefore.Add(backdate + settle)
}
