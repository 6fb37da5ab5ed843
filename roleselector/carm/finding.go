package carm

// Severity says what a finding means for the migration.
type Severity string

// The severities.
const (
	// Refused: no selectors can give what CARM gives. A person must act first.
	Refused Severity = "refused"
	// Warning: the same today, and something to know or to watch.
	Warning Severity = "warning"
	// Note: handled, or a change that comes with selectors by design.
	Note Severity = "note"
)

// Case is the number of a case that selectors cannot express exactly.
type Case string

// The cases.
const (
	NoRole            Case = "U1"
	NotARole          Case = "U2"
	StatusOnly        Case = "U3"
	FutureNamespaces  Case = "U4"
	IgnoredNamespace  Case = "U5"
	FutureControllers Case = "U6"
	DifferentMaps     Case = "U7"
	SingleNamespace   Case = "U8"
	OtherSelectors    Case = "U9"
	SelfService       Case = "U10"
	Drift             Case = "U11"
	OtherSettings     Case = "U12"
	NoOverlap         Case = "U13"
	ObjectSize        Case = "U14"
)

// Cases are all cases in their order.
func Cases() []Case {
	return []Case{
		NoRole, NotARole, StatusOnly, FutureNamespaces, IgnoredNamespace, FutureControllers, DifferentMaps,
		SingleNamespace, OtherSelectors, SelfService, Drift, OtherSettings, NoOverlap, ObjectSize,
	}
}

// Finding is a case that was found.
type Finding struct {
	Case     Case     `json:"case"`
	Severity Severity `json:"severity"`
	// Seen is what was found, Why it matters, Do what to do about it.
	Seen string `json:"seen"`
	Why  string `json:"why"`
	Do   string `json:"do"`
	// Objects are what it is about: namespaces, resources, selectors.
	Objects []string `json:"objects,omitempty"`
}

// why says for each case why selectors cannot express it.
var why = map[Case]string{
	NoRole:            "CARM waits where it has no role; where no selector matches, a controller uses the identity that it runs as.",
	NotARole:          "CARM reports an error; ACK forgets a selector whose role it cannot read, or tries to assume what is no role.",
	StatusOnly:        "CARM remembers the account in the status of each resource; a selector does not look there.",
	FutureNamespaces:  "CARM reads the annotation of any namespace that comes; a selector by names knows today's.",
	IgnoredNamespace:  "CARM never looks at these namespaces, whatever their annotations say; selectors ignore none.",
	FutureControllers: "A key without an alias holds for every service, also for one that is installed later; a selector lists its groups.",
	DifferentMaps:     "A selector holds in the whole cluster: two controllers of one group cannot have different roles in one namespace.",
	SingleNamespace:   "With exactly one watched namespace CARM is not started, though its flag is on; selectors do work there.",
	OtherSelectors:    "Two selectors that match one resource are a conflict, even with the same role, and nothing is done until it ends.",
	SelfService:       "Whoever may edit a namespace chooses its key today. With selectors by name only those who may write selectors choose; with labels those who may write the labels.",
	Drift:             "A controller refuses to manage a resource with a role of another account than the one in its status.",
	OtherSettings:     "Annotations for region, endpoint and deletion policy that CARM passes over take effect with selectors.",
	NoOverlap:         "A controller does not start with both mechanisms on, so that each changes over at a restart.",
	ObjectSize:        "A selector that lists very many namespaces grows beyond what the API server stores in one object.",
}

// remedy says for each case what to do, where that is always the same.
var remedy = map[Case]string{
	NotARole:          "Correct the entry, or remove it and decide what these namespaces get.",
	StatusOnly:        "Annotate the namespace again with the account, or write a selector with a resourceLabelSelector for these resources.",
	FutureControllers: "Run this again before you install a controller of another service.",
	DifferentMaps:     "Give both controllers the same maps and gates, or make their watched namespaces disjoint.",
	SingleNamespace:   "Decide what the namespace shall get: remove the annotation, or leave this controller out and write its selector by hand.",
	SelfService:       "Tell the teams. Selectable selectors give them back a choice among those that an administrator offers.",
	Drift:             "Find out which account is right before you migrate, and correct the map, the annotation or the resource.",
	OtherSettings:     "Remove the annotations if they shall not take effect.",
	NoOverlap:         "Controller by controller: apply the selectors (inert while the gate is off), verify, change both values in one upgrade, verify again.",
}

// found makes a finding with the case's usual texts.
func found(c Case, severity Severity, seen string, objects ...string) Finding {
	return Finding{Case: c, Severity: severity, Seen: seen, Why: why[c], Do: remedy[c], Objects: objects}
}

// instead gives a finding another remedy.
func (f Finding) instead(do string) Finding {
	f.Do = do
	return f
}

// findings collect objects under one case and sentence, in the order of coming.
type findings struct {
	list []Finding
	at   map[string]int
}

// add adds a finding, or its objects to the one that says the same.
func (f *findings) add(one Finding) {
	if f.at == nil {
		f.at = map[string]int{}
	}
	key := string(one.Case) + "|" + one.Seen
	if i, there := f.at[key]; there {
		f.list[i].Objects = append(f.list[i].Objects, one.Objects...)
		return
	}
	f.at[key] = len(f.list)
	f.list = append(f.list, one)
}

// refused says whether a finding of a case stops the migration.
func (f *findings) refused(c Case) bool {
	for _, one := range f.list {
		if one.Case == c && one.Severity == Refused {
			return true
		}
	}
	return false
}
