// Package chain says which link of the chain from a token to a cloud's permission is broken: it takes
// evidence, which is plain data, and gives findings. It does no I/O. The links have the same names in
// commands, conditions, events and pages.
package chain

import (
	"cmp"
	"slices"
)

// Link is one question on the way from an API server's key to an answer of AWS.
type Link string

// The links, in their order.
const (
	Issuer      Link = "L0"
	Publication Link = "L1"
	Provider    Link = "L2"
	Binding     Link = "L3"
	Webhook     Link = "L4"
	Injection   Link = "L5"
	Token       Link = "L6"
	SDK         Link = "L7"
	Network     Link = "L8"
	Trust       Link = "L9"
	Session     Link = "L10"
	Permission  Link = "L11"
	Target      Link = "L12"
)

// Links are all of them, in their order.
func Links() []Link {
	return []Link{Issuer, Publication, Provider, Binding, Webhook, Injection, Token, SDK, Network, Trust, Session, Permission, Target}
}

// words are the word that stands behind the number, and what the link asks.
func (l Link) words() (name, asks string) {
	switch l {
	case Issuer:
		return "issuer", "what the API server signs as"
	case Publication:
		return "publication", "whether AWS can fetch the issuer's keys"
	case Provider:
		return "provider", "whether the role's account has the issuer's OIDC provider, with the token's audience"
	case Binding:
		return "binding", "which role the ServiceAccount is bound to"
	case Webhook:
		return "webhook", "whether a webhook gives new pods their identity"
	case Injection:
		return "injection", "whether this pod has got today's binding"
	case Token:
		return "token", "which token the pod shows"
	case SDK:
		return "sdk", "whether the SDK finds other credentials first"
	case Network:
		return "network", "whether the pod reaches STS"
	case Trust:
		return "trust", "whether the role's trust policy admits the token"
	case Session:
		return "session", "whether the session's length and tags are allowed"
	case Permission:
		return "permission", "whether the role's policies allow the call"
	case Target:
		return "target", "whether a cluster that is called knows the role"
	}
	return "", ""
}

// Name is the word behind the number.
func (l Link) Name() string {
	name, _ := l.words()
	return name
}

// Asks is what the link asks, as the end of a sentence.
func (l Link) Asks() string {
	_, asks := l.words()
	return asks
}

// State is what was found at a link.
type State string

// The states.
const (
	// Sound says that nothing is wrong with it.
	Sound State = "sound"
	// Broken says that it has a Finding.
	Broken State = "broken"
	// Unseen says that a right, or a session in AWS, is missing to tell.
	Unseen State = "unseen"
	// Unreached says that there is nothing to ask yet, as an earlier link says.
	Unreached State = "unreached"
	// Unasked says that this version does not look at the link.
	Unasked State = "unasked"
)

// Certainty says how sure a finding is.
type Certainty string

// The certainties.
const (
	// Proved is a finding that follows from what was read.
	Proved Certainty = "proved"
	// Likely is one for which there is another explanation.
	Likely Certainty = "likely"
)

// Finding is one thing that is wrong.
type Finding struct {
	// Code never changes its meaning: see Codes.
	Code      Code      `json:"code"`
	Link      Link      `json:"link"`
	Certainty Certainty `json:"certainty"`
	// Symptom is one sentence.
	Symptom string `json:"symptom"`
	// Observed and Required stand beside each other; both are empty where there is nothing to compare.
	Observed string `json:"observed,omitempty"`
	Required string `json:"required,omitempty"`
	// Mend are the commands to type, in their order.
	Mend []string `json:"mend"`
	// Blanks are the words of Mend that a person fills in, which are in upper case.
	Blanks []string `json:"blanks,omitempty"`
	// Note is what to know before; often empty.
	Note string `json:"note,omitempty"`
	// Verify is the command that shows that it is mended.
	Verify string `json:"verify"`
}

// Step is what was found at one link.
type Step struct {
	Link  Link   `json:"link"`
	Name  string `json:"name"`
	State State  `json:"state"`
	// Text is one sentence or less: what was seen.
	Text string `json:"text"`
	// Needs is the right that is missing where the state is Unseen.
	Needs    string    `json:"needs,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
}

// Verdict is the answer as a whole.
type Verdict string

// The verdicts.
const (
	// Healthy says that every link that is looked at is sound.
	Healthy Verdict = "healthy"
	// Unhealthy says that a link is broken.
	Unhealthy Verdict = "broken"
	// Undetermined says that none is broken as far as can be seen, and that not all can be.
	Undetermined Verdict = "undetermined"
)

// Report is the answer in its parts.
type Report struct {
	Subject Subject `json:"subject"`
	Verdict Verdict `json:"verdict"`
	// Role is the role that the workload is to become; empty where nothing names one.
	Role string `json:"role,omitempty"`
	// First is the first finding of the chain, which is to be mended first; nil for none.
	First *Finding `json:"first,omitempty"`
	Links []Step   `json:"links"`
}

// Explain walks the chain.
func Explain(e Evidence) Report {
	w := newWalk(e)
	r := Report{Subject: w.subject, Verdict: Healthy, Role: w.role}
	for _, link := range Links() {
		step := w.judge(link)
		step.Link, step.Name = link, link.Name()
		for i := range step.Findings {
			f := &step.Findings[i]
			f.Link, f.Certainty, f.Verify = link, cmp.Or(f.Certainty, w.certainty()), w.subject.again()
			w.keep(f)
			nameWorkload(f)
		}
		r.take(step)
	}
	return r
}

// certainty is that of a finding about role and audience: where the ServiceAccount was not read, it may
// ask for others than the pod has, and the pod is what is wrong.
func (w *walk) certainty() Certainty {
	if w.Account.Unread != "" {
		return Likely
	}
	return Proved
}

// take adds a step.
func (r *Report) take(step Step) {
	r.Links = append(r.Links, step)
	switch step.State {
	case Broken:
		r.Verdict = Unhealthy
		if r.First == nil {
			r.First = &step.Findings[0]
		}
	case Unseen:
		if r.Verdict == Healthy {
			r.Verdict = Undetermined
		}
	case Sound, Unreached, Unasked:
	}
}

// Others are the findings besides the first one: each is wrong by itself.
func (r *Report) Others() (out []Finding) {
	for _, step := range r.Links {
		out = append(out, step.Findings...)
	}
	return out[min(1, len(out)):]
}

// Lacking are the steps that could not be seen.
func (r *Report) Lacking() []Step {
	return slices.DeleteFunc(slices.Clone(r.Links), func(s Step) bool { return s.State != Unseen })
}

// judge looks at one link.
func (w *walk) judge(link Link) Step {
	switch link {
	case Issuer:
		return w.issuer()
	case Publication:
		return w.publication()
	case Provider:
		return w.provider()
	case Binding:
		return w.binding()
	case Webhook:
		return w.webhook()
	case Injection:
		return w.injection()
	case Token:
		return w.token()
	case SDK:
		return w.sdk()
	case Trust:
		return w.trust()
	case Permission:
		return w.permission()
	case Network, Session, Target:
	}
	return Step{State: Unasked, Text: link.Asks()}
}

// broken is the step of one finding.
func broken(f Finding) Step { return Step{State: Broken, Text: f.Symptom, Findings: []Finding{f}} }
