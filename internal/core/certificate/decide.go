package certificate

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
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
	// settle is how long API servers have to see a new authority where nobody can
	// say whether they have.
	settle = 10 * time.Minute
	// longestRequest is how long an API server works on one request at most. One
	// that it has begun before it knew the new authority knows only the old.
	longestRequest = time.Minute
	// lookEvery is the time between two looks at whether all trust.
	lookEvery = 10 * time.Second
	// lastCall is how long before its expiry a certificate makes way also for one
	// that an API server is seen not to trust.
	lastCall = 7 * 24 * time.Hour
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
	// Phase is where in the life of the certificate this is.
	Phase Phase
	// Notice is what people should know, zero for nothing. What a person must mend
	// is looked at again when Secret or configuration change.
	Notice Notice
}

// Phase is where in the life of the certificate a pass found it.
type Phase string

// The phases.
const (
	// Absent: there is no webhook configuration.
	Absent Phase = "absent"
	// External: somebody else keeps the certificate.
	External Phase = "external"
	// Blocked: a person must mend something.
	Blocked Phase = "blocked"
	// Changing: there is a step to make.
	Changing Phase = "changing"
	// Proving: the new authority waits for the proof that it is trusted.
	Proving Phase = "proving"
	// Waiting: the new authority waits for its time, since it cannot be proved.
	Waiting Phase = "waiting"
	// Steady: nothing is due.
	Steady Phase = "steady"
)

// Phases lists them all.
func Phases() []Phase { return []Phase{Absent, External, Blocked, Changing, Proving, Waiting, Steady} }

// Notice is what people should know. Two of the same reason are the same, seen
// twice.
type Notice struct {
	// Warning says that it is nothing good.
	Warning      bool
	Reason, Note string
}

// Step is one change to make, or one look to take. Steps are small comparable
// values.
type Step interface {
	// String is the step's name.
	String() string
}

// The steps. All but Publish, PutBundle and Probe change the Secret, by Apply.
type (
	// IssueAll makes an authority and a serving certificate afresh.
	IssueAll struct{ Names Names }
	// TakeOver goes on from what is served, with a new authority: the key of the
	// one that signed it is lost, or was where others could read it.
	TakeOver struct{}
	// Publish writes the Secret that the webhook reads.
	Publish struct{}
	// IssueAuthority makes a new authority, and keeps the old ones trusted.
	IssueAuthority struct{}
	// DropExpired forgets old authorities that have expired.
	DropExpired struct{}
	// IssueProbe makes a probe certificate by the newest authority.
	IssueProbe struct{ Names Names }
	// IssueServing makes a serving certificate by the newest authority. Basis says
	// why that one is trusted.
	IssueServing struct {
		Names Names
		Basis Basis
	}
	// PutBundle makes every hook of the configuration trust exactly that.
	PutBundle struct{ Bundle string }
	// Probe looks through every API server whether it accepts the probe
	// certificate of that fingerprint.
	Probe struct{ Certificate string }
)

// String is the step's name.
func (IssueAll) String() string { return "IssueAll" }

// String is the step's name.
func (IssueAuthority) String() string { return "IssueAuthority" }

// String is the step's name.
func (TakeOver) String() string { return "TakeOver" }

// String is the step's name.
func (Publish) String() string { return "Publish" }

// String is the step's name.
func (DropExpired) String() string { return "DropExpired" }

// String is the step's name.
func (IssueProbe) String() string { return "IssueProbe" }

// String is the step's name.
func (IssueServing) String() string { return "IssueServing" }

// String is the step's name.
func (PutBundle) String() string { return "PutBundle" }

// String is the step's name.
func (Probe) String() string { return "Probe" }

// Basis is why an authority is taken for trusted when it signs a serving
// certificate.
type Basis string

// The bases.
const (
	// Served: it has signed the certificate that is served already, or there is
	// none that anybody could trust.
	Served Basis = "served"
	// Proven: every API server was seen to trust it.
	Proven Basis = "proven"
	// Waited: not everybody was seen to, and the time to wait is over.
	Waited Basis = "waited"
)

// Decide says what to do next.
func Decide(w World) Plan {
	names := w.names()
	switch {
	case len(w.Hooks) == 0:
		return Plan{Phase: Absent}
	case w.Injector != "" && w.Served.filled() && w.Served.Ours:
		return blocked("TwoKeepers", "the configuration's annotation "+w.Injector+" asks somebody else to set its caBundles, "+
			"and the Secret with the serving certificate was made by Tabard; delete the Secret, or the annotation")
	case w.Injector != "":
		return Plan{Phase: External}
	case w.Served.isForeign(), w.Secret.isForeign():
		return blocked("SecretNotOurs", "the Secret with the serving certificate was not made by Tabard, and is left alone; "+
			"delete it so that Tabard makes its own, or maintain it and the caBundle of the configuration yourself")
	case names == "":
		return blocked("NoAddress", "no hook of the webhook configuration has a clientConfig with a service or a URL with a host; "+
			"there is nothing to make a certificate for")
	}
	held, err := read(w.Secret.Data)
	sound := err == nil && isGood(held.authority(), w.Now)
	switch {
	case !sound && w.Handover() != nil:
		return do(TakeOver{}, Notice{Reason: "AuthorityRenewed", Note: "the webhook's CA is made anew; the one that signed the certificate " +
			"which is served now stays trusted until it expires"})
	case !sound:
		return do(IssueAll{Names: names}, Notice{})
	case !maps.EqualFunc(Published(w.Secret.Data), w.Served.Data, bytes.Equal):
		return do(Publish{}, Notice{})
	}
	return held.next(w, names)
}

func blocked(reason, note string) Plan {
	return Plan{Phase: Blocked, Notice: Notice{Warning: true, Reason: reason, Note: note}}
}

func do(step Step, notice Notice) Plan {
	return Plan{Step: step, Again: soon, Phase: Changing, Notice: notice}
}

// next is the first change that a sound Secret needs. The bundle comes before
// what is signed by a new authority.
func (h holding) next(w World, names Names) Plan {
	bundle := w.Secret.Data[AuthoritiesKey]
	good := isGood(h.serving, w.Now)
	switch {
	case !w.Now.Before(renewal(h.authority())):
		return do(IssueAuthority{}, Notice{Reason: "AuthorityRenewed",
			Note: "the webhook's CA is renewed; the old one stays trusted until it expires"})
	case slices.ContainsFunc(h.authorities, func(a *x509.Certificate) bool { return w.Now.After(a.NotAfter) }):
		return do(DropExpired{}, Notice{})
	case slices.ContainsFunc(w.Hooks, func(hook Hook) bool { return !bytes.Equal(hook.Bundle, bundle) }):
		return do(PutBundle{Bundle: string(bundle)}, replaced(w.Hooks))
	case good && h.signed() && serves(h.serving, names) && w.Now.Before(renewal(h.serving)):
		return Plan{Again: h.quiet(w.Now), Phase: Steady}
	case !good, h.signed(), !servesAny(h.serving, names): // no trust can be lost
		return do(IssueServing{Names: names, Basis: Served}, Notice{})
	}
	return h.prove(w, names)
}

// replaced tells of caBundles that are about to be overwritten.
func replaced(hooks []Hook) Notice {
	if !slices.ContainsFunc(hooks, func(hook Hook) bool { return isForeign(hook.Bundle) }) {
		return Notice{}
	}
	return Notice{Warning: true, Reason: "BundleReplaced", Note: "a caBundle of the configuration held something that Tabard had not put there; " +
		"it was replaced by Tabard's CA, by which the webhook serves"}
}

// prove goes on from a serving certificate that is trusted to one by a new
// authority, once that is trusted too.
func (h holding) prove(w World, names Names) Plan {
	probe, proof := w.probeNames(), w.Memory.Proof
	waited := !w.Now.Before(w.Memory.Since.Add(settle))
	switch {
	case probe == "" && waited:
		return h.goUnproven(names, "the configuration has no hook "+ProbeHook+" with a DNS name of its own to prove it by")
	case probe == "":
		return Plan{Again: max(w.Memory.Since.Add(settle).Sub(w.Now), soon), Phase: Waiting}
	case !h.proves(probe, w.Now):
		return do(IssueProbe{Names: probe}, Notice{})
	}
	fingerprint := Fingerprint(h.probe.Raw)
	plan, due := Plan{Phase: Proving}, proof.Last.Add(lookEvery)
	if waited && proof.Certificate == fingerprint && proof.Since.IsZero() {
		due = proof.Last.Add(settle) // what did not come so far does not come in seconds
		plan.Notice = Notice{Warning: true, Reason: "TrustNotProven", Note: "the webhook goes on serving with a certificate of its old CA, " +
			"because trust in the new one is not proven: " + proof.missing()}
	}
	switch {
	case proof.Certificate == fingerprint && proof.complete():
		return do(IssueServing{Names: names, Basis: Proven}, Notice{Reason: "TrustProven",
			Note: fmt.Sprintf("every API server (%d) was seen to trust the webhook's new CA; now it serves with a certificate of it", len(proof.Servers))})
	case proof.Certificate != fingerprint || !w.Now.Before(due):
		plan.Step, plan.Again = Probe{Certificate: fingerprint}, soon
	case waited && proof.Since.IsZero() && (!proof.refused() || w.Now.After(h.serving.NotAfter.Add(-lastCall))):
		return h.goUnproven(names, proof.missing())
	default:
		plan.Again = max(due.Sub(w.Now), soon)
	}
	return plan
}

// goUnproven changes the certificate after the time that it usually takes.
func (h holding) goUnproven(names Names, why string) Plan {
	return do(IssueServing{Names: names, Basis: Waited}, Notice{Warning: true, Reason: "ServedUnproven",
		Note: "the webhook now serves with a certificate of its new CA, without proof that every API server trusts it: " + why})
}

// quiet is how long nothing will be due.
func (h holding) quiet(now time.Time) time.Duration {
	due := []time.Time{now.Add(patience), renewal(h.serving), renewal(h.authority())}
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
