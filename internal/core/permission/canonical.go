package permission

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// FactKind says what a Fact is about.
type FactKind string

// The kinds of facts.
const (
	FactServiceAccount FactKind = "serviceAccount"
	FactAudience       FactKind = "audience"
	FactSecret         FactKind = "secret"
	FactTokenPath      FactKind = "tokenPath"
	FactTokenAuth      FactKind = "tokenAuth"
)

// Fact is what a request says besides its permissions.
type Fact struct {
	Kind FactKind `json:"kind"`
	// Request is empty for FactTokenAuth, which is the operator's.
	Request string `json:"request,omitempty"`
	// Value is NAMESPACE/NAME, an audience, a path, or a Support.
	Value string `json:"value"`
}

// compareFacts orders facts.
func compareFacts(a, b Fact) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Request, b.Request), cmp.Compare(a.Value, b.Value))
}

// Canonical is a Set in the form in which sets of one meaning are equal: what Diff compares.
type Canonical struct {
	// Known is false where nobody says what is asked for.
	Known bool `json:"known"`
	// Atoms are in canonical form, sorted, each once. Facts too.
	Atoms []Atom `json:"atoms"`
	Facts []Fact `json:"facts"`
}

// Canonical is the set's canonical form.
func (s Set) Canonical() Canonical {
	requests, known := s.Requests()
	out := Canonical{Known: known, Atoms: []Atom{}, Facts: []Fact{}}
	for _, atom := range s.Atoms() {
		out.Atoms = append(out.Atoms, atom.canonical())
	}
	for _, r := range requests {
		for _, account := range r.ServiceAccounts {
			out.Facts = append(out.Facts, Fact{FactServiceAccount, r.Name, account.Namespace + "/" + account.Name})
		}
		for _, audience := range r.Audiences {
			out.Facts = append(out.Facts, Fact{FactAudience, r.Name, audience})
		}
		if r.Secret != (Secret{}) {
			out.Facts = append(out.Facts, Fact{FactSecret, r.Name, r.Secret.Namespace + "/" + r.Secret.Name})
		}
		if r.TokenPath != "" {
			out.Facts = append(out.Facts, Fact{FactTokenPath, r.Name, r.TokenPath})
		}
	}
	if s.TokenAuth != "" {
		out.Facts = append(out.Facts, Fact{Kind: FactTokenAuth, Value: string(s.TokenAuth)})
	}
	return out.sorted()
}

// sorted puts atoms and facts in order, each once.
func (c Canonical) sorted() Canonical {
	slices.SortFunc(c.Atoms, compareAtoms)
	c.Atoms = slices.Compact(c.Atoms)
	slices.SortFunc(c.Facts, compareFacts)
	c.Facts = slices.Compact(c.Facts)
	return c
}

// of are the facts of a kind.
func (c Canonical) of(kind FactKind) []Fact {
	out := []Fact{}
	for _, f := range c.Facts {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}

// Digest is the SHA-256 of the canonical JSON of what a role needs: atoms, ServiceAccounts and
// audiences. Secrets and paths of tokens do not count: the cloud does not know them. It
// is empty where nothing is known.
func (c Canonical) Digest() string {
	if !c.Known {
		return ""
	}
	text := encoded(struct {
		Atoms     []Atom `json:"atoms"`
		Subjects  []Fact `json:"subjects"`
		Audiences []Fact `json:"audiences"`
	}{append([]Atom{}, c.Atoms...), c.of(FactServiceAccount), c.of(FactAudience)})
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Digest is that of the canonical form.
func (s Set) Digest() string { return s.Canonical().Digest() }

// In is the set of an operator that is installed in a namespace: the namespace stands wherever
// InstallNamespace stood.
func (s Set) In(namespace string) Set {
	requests, known := s.Requests()
	if !known {
		return s
	}
	in := func(value string) string {
		if value == InstallNamespace {
			return namespace
		}
		return value
	}
	own := []Request{}
	for _, r := range requests {
		r.Secret.Namespace = in(r.Secret.Namespace)
		accounts := []ServiceAccount{}
		for _, account := range r.ServiceAccounts {
			accounts = append(accounts, ServiceAccount{in(account.Namespace), account.Name})
		}
		r.ServiceAccounts = accounts
		own = append(own, r)
	}
	return s.with(own)
}

// ForCloud is the set with the requests to one cloud only. A source that asks other clouds alone
// says nothing of this one.
func (s Set) ForCloud(cloud Cloud) Set {
	requests, known := s.Requests()
	s.Cloud = cloud
	if !known || len(requests) == 0 {
		return s
	}
	own := []Request{}
	for _, r := range requests {
		if r.Cloud() == cloud {
			own = append(own, r)
		}
	}
	if len(own) > 0 {
		return s.with(own)
	}
	s.requests, s.Certainty, s.Source.Digest = nil, Unknown, ""
	s.Findings = append(slices.Clone(s.Findings), Finding{CodeOtherCloud, "", "all requests are to other clouds than " + strings.ToUpper(string(cloud)) + ": what the operator asks of this one is unknown"})
	return s
}

// with is the set with these requests.
func (s Set) with(requests []Request) Set {
	s.requests = &requests
	s.Certainty = s.Source.Kind.certainty()
	s.Source.Digest = s.Digest()
	return s
}
