package permission

import (
	"cmp"
	"encoding/json"
	"slices"
)

// DifferenceKind is the kind of a Difference in JSON.
const DifferenceKind = "OperatorPermissionsDifference"

// Class says what became of something that is asked for.
type Class string

// The classes.
const (
	// ClassAdded and ClassRemoved are atoms of one side without a counterpart on the other.
	ClassAdded   Class = "added"
	ClassRemoved Class = "removed"
	// ClassWidened is a pattern that takes in the old ones, or one whose condition was dropped.
	// ClassNarrowed is the reverse.
	ClassWidened  Class = "widened"
	ClassNarrowed Class = "narrowed"
	// ClassChanged is the same action with another resource or condition, neither of which takes
	// in the other, or the same atom in another request.
	ClassChanged Class = "changed"
	// ClassSubject is a ServiceAccount, its namespace or an audience: the role's trust must change.
	ClassSubject Class = "subject"
	// ClassSecret and ClassTokenPath change the workload, and nothing in the cloud.
	ClassSecret    Class = "secret"
	ClassTokenPath Class = "tokenPath"
	// ClassSupport is whether the operator takes tokens of the cloud.
	ClassSupport Class = "support"
	// ClassUnknown is something that one side asks for, where of the other nothing is known.
	ClassUnknown Class = "unknown"
)

// classes is the order in which changes are told; those that are sensitive come before.
var classes = []Class{
	ClassAdded, ClassWidened, ClassChanged, ClassNarrowed, ClassRemoved,
	ClassSubject, ClassSecret, ClassTokenPath, ClassSupport, ClassUnknown,
}

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts.
const (
	VerdictSame    Verdict = "Same"
	VerdictChanged Verdict = "Changed"
	// VerdictUnknown is that of one side, or both, nothing is known.
	VerdictUnknown Verdict = "Unknown"
)

// Side is one of the two that are compared.
type Side struct {
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"`
	CSV     string `json:"csv,omitempty"`
	Source  Source `json:"source"`
	// Known is false where nobody says what it asks for, Incomplete true where parts could not be
	// read.
	Known      bool `json:"known"`
	Incomplete bool `json:"incomplete,omitempty"`
}

// Change is one thing that differs. Atoms and facts of From are gone, those of To are new.
type Change struct {
	Class Class `json:"class"`
	// Marks say why it is sensitive; empty where it is not.
	Marks []string `json:"marks,omitempty"`
	From  []Atom   `json:"from,omitempty"`
	To    []Atom   `json:"to,omitempty"`
	// FactsFrom and FactsTo are those of subject, secret, tokenPath and support.
	FactsFrom []Fact `json:"factsFrom,omitempty"`
	FactsTo   []Fact `json:"factsTo,omitempty"`
	// Text is the change as a sentence.
	Text string `json:"text"`
}

// Difference is what two versions differ in.
type Difference struct {
	From, To Side
	Verdict  Verdict
	// TrustMustChange says that the role's trust policy must change, besides its permissions.
	TrustMustChange bool
	// Changes are in the order of importance: what is sensitive, then by class.
	Changes []Change
	// Findings say what could not be compared.
	Findings []Finding
}

// MarshalJSON is the difference with its apiVersion and kind.
func (d Difference) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		APIVersion      string    `json:"apiVersion"`
		Kind            string    `json:"kind"`
		From            Side      `json:"from"`
		To              Side      `json:"to"`
		Verdict         Verdict   `json:"verdict"`
		TrustMustChange bool      `json:"trustMustChange"`
		Changes         []Change  `json:"changes"`
		Findings        []Finding `json:"findings,omitempty"`
	}{APIVersion, DifferenceKind, d.From, d.To, d.Verdict, d.TrustMustChange, append([]Change{}, d.Changes...), d.Findings})
}

// Diff is what the set to asks for that from does not, and the reverse. Where of one side nothing
// is known, the other one is listed whole. Two texts for one namespace are two namespaces: see
// Set.In.
func Diff(from, to Set) Difference {
	a, b := from.Canonical(), to.Canonical()
	d := Difference{From: sideOf(from, a), To: sideOf(to, b)}
	old, added := without(a.Atoms, b.Atoms), without(b.Atoms, a.Atoms)
	if a.Known && b.Known {
		p := &pairing{old: old, added: added, left: pairEffort}
		d.Changes = p.changes()
		if p.left < 0 {
			d.Findings = append(d.Findings, Finding{CodeNotCompared, "", "there are too many patterns to compare all of them: some that are told as added and removed may be widened or narrowed"})
		}
	} else {
		for _, atom := range append(old, added...) {
			d.Changes = append(d.Changes, Change{Class: ClassUnknown, From: within(atom, old), To: within(atom, added)})
		}
	}
	d.Changes = append(d.Changes, factChanges(a, b)...)
	spelt := spelling(from, to)
	for i := range d.Changes {
		d.Changes[i].spell(spelt)
		if d.Changes[i].isAudience() && (from.assumes() || to.assumes()) {
			d.Changes[i].Text += "; one of the two is assumed, since no source tells it"
		}
	}
	d.TrustMustChange = slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Class == ClassSubject })
	slices.SortStableFunc(d.Changes, func(x, y Change) int {
		return cmp.Or(
			cmp.Compare(min(1, len(y.Marks)), min(1, len(x.Marks))),
			cmp.Compare(slices.Index(classes, x.Class), slices.Index(classes, y.Class)),
		)
	})
	switch {
	case !a.Known || !b.Known:
		d.Verdict = VerdictUnknown
	case len(d.Changes) > 0:
		d.Verdict = VerdictChanged
	case from.Incomplete || to.Incomplete:
		d.Verdict = VerdictUnknown
	default:
		d.Verdict = VerdictSame
	}
	return d
}

// Apply is what the second side of a difference asks for, given the first.
func (d Difference) Apply(from Canonical) Canonical {
	var goneAtoms, newAtoms []Atom
	var goneFacts, newFacts []Fact
	for _, c := range d.Changes {
		for _, atom := range c.From {
			goneAtoms = append(goneAtoms, atom.canonical())
		}
		for _, atom := range c.To {
			newAtoms = append(newAtoms, atom.canonical())
		}
		goneFacts, newFacts = append(goneFacts, c.FactsFrom...), append(newFacts, c.FactsTo...)
	}
	out := Canonical{
		Known: d.To.Known,
		Atoms: append(without(from.Atoms, goneAtoms), newAtoms...),
		Facts: append(without(from.Facts, goneFacts), newFacts...),
	}
	return out.sorted()
}

func sideOf(s Set, c Canonical) Side {
	return Side{s.Package, s.Version, s.CSV, s.Source, c.Known, s.Incomplete}
}

// without is what is in all and not in others.
func without[T comparable](all, others []T) []T {
	known := make(map[T]bool, len(others))
	for _, one := range others {
		known[one] = true
	}
	out := []T{}
	for _, one := range all {
		if !known[one] {
			out = append(out, one)
		}
	}
	return out
}

// within is the atom in a list if it is in the other one.
func within(atom Atom, all []Atom) []Atom {
	if slices.Contains(all, atom) {
		return []Atom{atom}
	}
	return nil
}

// spelling is how each canonical atom is written, in the newer set where it is in both.
func spelling(from, to Set) map[Atom]Atom {
	out := map[Atom]Atom{}
	for _, s := range []Set{from, to} {
		for _, atom := range s.Atoms() {
			out[atom.canonical()] = atom
		}
	}
	return out
}

// spell gives the atoms of a change as they are written, and says what it is in words.
func (c *Change) spell(spelt map[Atom]Atom) {
	for _, all := range [][]Atom{c.From, c.To} {
		for i, atom := range all {
			all[i] = spelt[atom]
		}
	}
	marked := c.To
	if len(marked) == 0 {
		marked = c.From
	}
	for _, atom := range marked {
		for _, mark := range atom.Marks() {
			if !slices.Contains(c.Marks, mark) {
				c.Marks = append(c.Marks, mark)
			}
		}
	}
	if c.deniesLess() {
		c.Marks = append(c.Marks, "less is denied")
	}
	c.Text = c.sentence()
}

// deniesLess says that something was denied that may not be any more.
func (c *Change) deniesLess() bool {
	return (c.Class == ClassRemoved || c.Class == ClassNarrowed || c.Class == ClassChanged) &&
		slices.ContainsFunc(c.From, func(a Atom) bool { return a.Effect == "Deny" })
}
