package operator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is how a stage is.
type State string

// The states.
const (
	Done State = "done"
	// Waiting passes by itself.
	Waiting State = "waiting"
	// YourTurn and Failed need a person: to decide, and to mend.
	YourTurn State = "yourTurn"
	Failed   State = "failed"
	// Unknown is a stage whose objects could not be read.
	Unknown State = "unknown"
)

// Stage is one of the ten.
type Stage struct {
	// N counts from 1.
	N     int    `json:"n"`
	Name  string `json:"name"`
	State State  `json:"state"`
	// Since is when it came to this state; zero where that is not known.
	Since time.Time `json:"since,omitzero"`
	// Sentence says what is seen, and Next what to type or do; Next is empty where nothing is to do.
	Sentence string `json:"sentence"`
	Next     string `json:"next,omitempty"`
	// Object is what the sentence is about, as in "Subscription ns/p".
	Object string `json:"object,omitempty"`
}

// stage is what is found of one stage.
type stage struct {
	name  string
	kinds []Kind
	look  func(*Objects, time.Time) Stage
}

// The stages in their order. The last three are those of an operator with a role.
var stages = []stage{
	{"catalogue", []Kind{KindCatalogue}, (*Objects).catalogue},
	{"namespace", []Kind{KindNamespace, KindGroup}, (*Objects).namespace},
	{"subscription", []Kind{KindSubscription}, (*Objects).subscription},
	{"resolved", []Kind{KindSubscription}, (*Objects).resolved},
	{"unpacked", []Kind{KindSubscription}, (*Objects).unpacked},
	{"approved", []Kind{KindPlan}, (*Objects).approved},
	{"installed", []Kind{KindPlan, KindCSV}, (*Objects).installed},
	{"values", []Kind{KindDeployment}, (*Objects).values},
	{"request", []Kind{KindRequest}, (*Objects).request},
	{"credentials", []Kind{KindRequest, KindSecret}, (*Objects).credentials},
}

// withoutRole is how many stages an operator without a role has.
const withoutRole = 7

// stages are those of the install: all of them only with a role.
func (o *Objects) stages() []stage {
	if len(o.Values) == 0 {
		return stages[:withoutRole]
	}
	return stages
}

// Stages is how many stages the install has.
func Stages(o *Objects) int { return len(o.stages()) }

// StageNames are the names of the stages that the install has, in their order.
func StageNames(o *Objects) (out []string) {
	for _, s := range o.stages() {
		out = append(out, s.name)
	}
	return out
}

// Progress is the stages up to the first that is not done, or all of them.
func Progress(o *Objects, now time.Time) []Stage {
	var out []Stage
	for i, s := range o.stages() {
		var found Stage
		if unread := o.FirstUnread(s.kinds...); unread != nil {
			found = Stage{State: Unknown, Sentence: unread.Error(), Next: "ask for the right to read it, then look again", Object: string(unread.Kind)}
		} else {
			found = s.look(o, now)
		}
		found.N, found.Name = i+1, s.name
		out = append(out, found)
		if found.State != Done {
			break
		}
	}
	return out
}

// IsInstalled says that all stages are done.
func IsInstalled(o *Objects, all []Stage) bool {
	wanted := len(o.stages())
	return len(all) == wanted && all[wanted-1].State == Done
}

// at names an object of the namespace.
func (o *Objects) at(kind Kind, name string) string {
	return string(kind) + " " + o.Namespace + "/" + name
}

// Target is the version that is followed: the one that is asked for, or that OLM chose; empty where
// it has chosen none yet.
func (o *Objects) Target() string {
	if o.Wanted.CSV != "" {
		return o.Wanted.CSV
	}
	if s := o.own(); s != nil {
		return s.CurrentCSV
	}
	return ""
}

// own is the Subscription, nil if it is not there.
func (o *Objects) own() *Subscription {
	for i := range o.Subscriptions {
		if o.Subscriptions[i].Name == o.Wanted.Subscription {
			return &o.Subscriptions[i]
		}
	}
	return nil
}

// is finds a condition that is True.
func is(all []Condition, kind string) (Condition, bool) {
	for _, c := range all {
		if c.Type == kind && c.Status == "True" {
			return c, true
		}
	}
	return Condition{}, false
}

// because adds a reason's message to a sentence.
func because(sentence, message string) string {
	if message = strings.TrimSpace(message); message == "" {
		return sentence
	}
	return sentence + ": " + message
}

func (o *Objects) catalogue(time.Time) Stage {
	name := o.SourceNamespace + "/" + o.Source
	at := string(KindCatalogue) + " " + name
	switch {
	case o.isPlanned() && (o.Catalogue == nil || o.Catalogue.State != "READY"):
		return Stage{State: Done, Sentence: "the catalogue " + name + " does not answer, and only upgrades need it", Object: at}
	case o.Catalogue == nil:
		return Stage{State: Failed, Sentence: "there is no CatalogSource " + name, Next: "kubectl get catalogsources --all-namespaces shows those that there are", Object: at}
	case o.Catalogue.State != "READY":
		state := o.Catalogue.State
		if state == "" {
			state = "without a connection yet"
		}
		return Stage{State: Waiting, Sentence: because("the catalogue "+name+" is "+state, o.Catalogue.Message), Next: fmt.Sprintf("kubectl -n %s get pods -l olm.catalogSource=%s shows its pod", o.SourceNamespace, o.Source), Object: at}
	}
	return Stage{State: Done, Sentence: "the catalogue " + name + " answers", Object: at}
}

// mode is the install mode that an OperatorGroup asks for.
func (g Group) mode(own string) string {
	switch {
	case len(g.Namespaces) == 1 && g.Namespaces[0] == "":
		return "AllNamespaces"
	case len(g.Namespaces) == 1 && g.Namespaces[0] == own:
		return "OwnNamespace"
	case len(g.Namespaces) == 1:
		return "SingleNamespace"
	}
	return "MultiNamespace"
}

func (o *Objects) namespace(time.Time) Stage {
	at := string(KindNamespace) + " " + o.Namespace
	if !o.NamespaceExists {
		return Stage{State: Failed, Sentence: "there is no namespace " + o.Namespace, Next: "kubectl create namespace " + o.Namespace, Object: at}
	}
	switch len(o.Groups) {
	case 0:
		return Stage{State: Failed, Sentence: "the namespace has no OperatorGroup, and OLM installs nothing there", Next: "make one OperatorGroup in " + o.Namespace, Object: at}
	case 1:
	default:
		var names []string
		for _, g := range o.Groups {
			names = append(names, g.Name)
		}
		slices.Sort(names)
		return Stage{State: Failed, Sentence: fmt.Sprintf("the namespace has %d OperatorGroups (%s), and OLM installs only where there is one", len(names), strings.Join(names, ", ")), Next: "delete all but one of them", Object: at}
	}
	g := o.Groups[0]
	at = o.at(KindGroup, g.Name)
	if c, bad := is(g.Conditions, "OperatorGroupServiceAccount"); bad && c.Reason == "ServiceAccountNotFound" {
		return Stage{State: Failed, Since: c.Since, Sentence: because("the ServiceAccount of the OperatorGroup does not exist", c.Message), Next: "make it, or name another one", Object: at}
	}
	if len(g.Namespaces) == 0 {
		return Stage{State: Waiting, Sentence: "OLM has not said yet which namespaces the OperatorGroup " + g.Name + " watches", Object: at}
	}
	if mode := g.mode(o.Namespace); o.InstallModes != nil && !slices.Contains(o.InstallModes, mode) {
		return Stage{State: Failed, Sentence: fmt.Sprintf("the OperatorGroup %s asks for the install mode %s, and the operator supports %s", g.Name, mode, strings.Join(o.InstallModes, ", ")), Next: "install into a namespace whose OperatorGroup fits", Object: at}
	}
	return Stage{State: Done, Sentence: "the namespace " + o.Namespace + " has one OperatorGroup that fits", Object: at}
}

func (o *Objects) subscription(time.Time) Stage {
	at := o.at(KindSubscription, o.Wanted.Subscription)
	for _, s := range o.Subscriptions {
		if s.Package == o.Package && s.Name != o.Wanted.Subscription {
			return Stage{State: Failed, Sentence: fmt.Sprintf("the Subscription %s of the same namespace is for the package %s, too", s.Name, o.Package), Next: "delete one of the two", Object: o.at(KindSubscription, s.Name)}
		}
	}
	own := o.own()
	if own == nil {
		return Stage{State: Failed, Sentence: "there is no Subscription " + o.Wanted.Subscription, Next: "tabard operators install " + o.Package + " -n " + o.Namespace, Object: at}
	}
	for _, field := range [][3]string{{"name", own.Package, o.Package}, {"source", own.Source, o.Source}, {"sourceNamespace", own.SourceNamespace, o.SourceNamespace}, {"channel", own.Channel, o.Channel}} {
		if field[2] != "" && field[1] != field[2] {
			return Stage{State: Failed, Sentence: fmt.Sprintf("spec.%s of the Subscription is %q, expected %q: somebody else made or changed it", field[0], field[1], field[2]), Next: "change the Subscription, or follow what it installs", Object: at}
		}
	}
	return Stage{State: Done, Sentence: "the Subscription is there", Object: at}
}
