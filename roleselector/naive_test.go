package roleselector

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// The naive library decides from the objects themselves, one after the other, and
// asks Kubernetes' own label selectors. It shares nothing with the real one but
// the types of question and answer.
type naiveWorld struct {
	selectors map[string]*v1alpha1.IAMRoleSelector
	choices   map[string]*identityv1alpha1.IAMRoleChoice // by namespace/name
	policy    NoSelectorPolicy
	isStale   bool
}

var naiveRole = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)

// naiveLabels says whether labels fit; a term that Kubernetes refuses is broken,
// and fits.
func naiveLabels(s *v1alpha1.LabelSelector, has map[string]string) (fits, broken bool) {
	fits = true
	if s == nil {
		return fits, false
	}
	for key, value := range s.MatchLabels {
		broken = broken || key == ""
		got, is := has[key]
		fits = fits && (key == "" || is && got == value)
	}
	for _, e := range s.MatchExpressions {
		term := metav1.LabelSelectorRequirement{Key: e.Key, Operator: e.Operator, Values: e.Values}
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{term}})
		broken = broken || err != nil
		fits = fits && (err != nil || selector.Matches(k8slabels.Set(has)))
	}
	return fits, broken
}

var naiveAPIVersion = regexp.MustCompile(`^([^/]+)/([^/]+)$`)

func naiveTypes(list []v1alpha1.ResourceType, q Query, catchAll bool) (fits, broken bool) {
	fits = len(list) == 0 && catchAll
	for _, e := range list {
		aims := [][2]string{{e.Group, e.Version}}
		if parts := naiveAPIVersion.FindStringSubmatch(e.APIVersion); parts != nil {
			group, version := parts[1], parts[2]
			broken = broken || e.Group != "" && e.Group != group || e.Version != "" && e.Version != version
			aims = [][2]string{{group, version}, {or(e.Group, group), or(e.Version, version)}}
		} else {
			broken = broken || e.APIVersion != "" || e == (v1alpha1.ResourceType{})
		}
		for _, aim := range aims {
			fits = fits || (aim[0] == q.Group || aim[0] == "" && catchAll) && or(aim[1], q.Version) == q.Version && or(e.Kind, q.Kind) == q.Kind
		}
	}
	return fits, broken
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

// naiveSelects is the whole rule.
func naiveSelects(o *v1alpha1.IAMRoleSelector, q Query) (fits Verdict, broken bool) {
	if o.Spec == nil {
		return yesIf(strings.HasSuffix(q.Group, ".services.k8s.aws")), true
	}
	s := *o.Spec
	n := v1alpha1.NamespaceSelector{}
	if s.NamespaceSelector != nil {
		n = *s.NamespaceSelector
	}
	typeFits, typeBroken := naiveTypes(s.ResourceTypeSelector, q, strings.HasSuffix(q.Group, ".services.k8s.aws"))
	ownFits, ownBroken := naiveLabels(s.ResourceLabelSelector, q.Labels)
	labelsFit, labelsBroken := naiveLabels(n.LabelSelector, q.NamespaceLabels)
	broken = typeBroken || ownBroken || labelsBroken || s.Effect != v1alpha1.Deny && !naiveRole.MatchString(s.ARN)
	if !typeFits || !ownFits || len(n.Names) > 0 && (q.Namespace == "" || !slices.Contains(n.Names, q.Namespace)) {
		return No, broken
	}
	if !q.NamespaceKnown && naiveHasTerms(n.LabelSelector) {
		return Unknown, broken
	}
	return yesIf(labelsFit), broken
}

func naiveIsEmpty(s *v1alpha1.LabelSelector) bool {
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// naiveIsNameless says whether a selector has labels to select by and none of them, and
// names no namespace.
func naiveIsNameless(o *v1alpha1.IAMRoleSelector) bool {
	if o.Spec == nil || o.Spec.Effect == v1alpha1.Deny {
		return false
	}
	n := o.Spec.NamespaceSelector
	if n == nil {
		return naiveIsEmpty(o.Spec.ResourceLabelSelector)
	}
	return len(n.Names) == 0 && !naiveHasTerms(n.LabelSelector) && (naiveIsEmpty(n.LabelSelector) || naiveIsEmpty(o.Spec.ResourceLabelSelector))
}

// naiveHasTerms says whether a selector has a term that is not broken.
func naiveHasTerms(s *v1alpha1.LabelSelector) bool {
	if s == nil {
		return false
	}
	for key := range s.MatchLabels {
		if key != "" {
			return true
		}
	}
	return slices.ContainsFunc(s.MatchExpressions, func(e v1alpha1.LabelRequirement) bool {
		_, broken := naiveLabels(&v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{e}}, nil)
		return !broken
	})
}

// naiveChoice is what the user chose: the name, the pin, whether by annotation,
// and a reason if the choice blocks.
func naiveChoice(w naiveWorld, q Query) (name, uid string, annotated bool, blocks Reason) {
	if q.Choice != "" {
		return q.Choice, "", true, ""
	}
	best, count := -1, 0
	for _, c := range w.choices {
		typeFits, typeBroken := naiveTypes(c.Spec.ResourceTypeSelector, q, true)
		labelsFit, labelsBroken := naiveLabels(c.Spec.ResourceLabelSelector, q.Labels)
		if c.Namespace != q.Namespace || !typeFits || !labelsFit {
			continue
		}
		rank := 0
		if naiveHasTerms(c.Spec.ResourceLabelSelector) {
			rank = 2
		}
		if len(c.Spec.ResourceTypeSelector) > 0 {
			rank++
		}
		switch {
		case rank == best:
			count++
		case rank > best:
			best, count = rank, 1
			name, uid, blocks = c.Spec.SelectorRef.Name, string(c.Spec.SelectorRef.UID), ""
			if typeBroken || labelsBroken {
				blocks = ReasonChoiceInvalid
			}
		}
	}
	if count > 1 {
		return "", "", false, ReasonAmbiguousChoice
	}
	return name, uid, false, blocks
}

// naiveDecision is what the tests compare of a decision.
type naiveDecision struct {
	Reason Reason
	By     DecidedBy
	Used   string
	Names  string
}

func naivelyOf(d Decision) naiveDecision {
	return naiveDecision{d.Reason, d.DecidedBy, d.Selector.Name, strings.Join(d.Names(), ",")}
}

// naiveDecide leaves selectors that name nothing out, and comes back to them only where
// no other was found.
func naiveDecide(w naiveWorld, q Query) naiveDecision {
	var nameless []string
	rest := w
	rest.selectors = map[string]*v1alpha1.IAMRoleSelector{}
	for name, o := range w.selectors {
		if fits, _ := naiveSelects(o, q); fits == Yes && naiveIsNameless(o) {
			nameless = append(nameless, name)
			continue
		}
		rest.selectors[name] = o
	}
	d := naiveDecideAmong(rest, q)
	switch {
	case len(nameless) == 0:
	case d.Reason == ReasonNoSelector, d.Reason == ReasonNoSelectorPolicy, d.Reason == ReasonChoiceNotPermitted:
		slices.Sort(nameless)
		return naiveDecision{Reason: ReasonSelectorInvalid, Names: strings.Join(nameless, ",")}
	}
	return d
}

func naiveDecideAmong(w naiveWorld, q Query) naiveDecision {
	var matching, denying, broken, exclusive, offered, defaults []string
	unknown := false
	for name, o := range w.selectors {
		fits, isBroken := naiveSelects(o, q)
		unknown = unknown || fits == Unknown
		if fits != Yes {
			continue
		}
		matching = append(matching, name)
		s := v1alpha1.Selection{}
		if o.Spec != nil && o.Spec.Selection != nil {
			s = *o.Spec.Selection
		}
		if o.Spec != nil && o.Spec.Effect == v1alpha1.Deny {
			denying = append(denying, name)
		}
		if isBroken {
			broken = append(broken, name)
		}
		if s.Mode != v1alpha1.Selectable {
			exclusive = append(exclusive, name)
		}
		if !s.RequireChoice {
			offered = append(offered, name)
			if s.Default {
				defaults = append(defaults, name)
			}
		}
	}
	named := func(r Reason, names []string) naiveDecision {
		slices.Sort(names)
		return naiveDecision{Reason: r, Names: strings.Join(names, ",")}
	}
	used := func(name string, by DecidedBy) naiveDecision {
		d := named(ReasonSelected, matching)
		d.Used, d.By = name, by
		return d
	}
	choice, uid, annotated, blocks := naiveChoice(w, q)
	isChoice := func(name string) bool { return choice == name && (uid == "" || uid == string(w.selectors[name].UID)) }
	switch {
	case w.isStale:
		return naiveDecision{Reason: ReasonNotSynced}
	case unknown:
		return naiveDecision{Reason: ReasonNamespaceUnknown}
	case len(denying) > 0:
		return named(ReasonDenied, denying)
	case len(broken) > 0:
		return named(ReasonSelectorInvalid, broken)
	case blocks != "":
		return named(blocks, matching)
	case len(exclusive) > 0 && len(matching) > 1:
		return named(ReasonConflict, matching)
	case len(exclusive) == 1 && (choice == "" || isChoice(exclusive[0])):
		return used(exclusive[0], Unique)
	case choice != "":
		by, channel := NamespaceChoice, v1alpha1.NamespaceChoice
		if annotated {
			by, channel = ResourceChoice, v1alpha1.ResourceAnnotation
		}
		if slices.Contains(matching, choice) && isChoice(choice) && len(exclusive) == 0 {
			choosers := w.selectors[choice].Spec.Selection.Choosers
			if slices.Contains(choosers, channel) || len(choosers) == 0 && !annotated {
				return used(choice, by)
			}
		}
		return named(ReasonChoiceNotPermitted, matching)
	case len(offered) == 1:
		return used(offered[0], Unique)
	case len(defaults) == 1:
		return used(defaults[0], AdminDefault)
	case len(offered) > 1:
		return named(ReasonConflict, offered)
	case w.policy == PolicyDeny:
		return naiveDecision{Reason: ReasonNoSelectorPolicy}
	}
	return naiveDecision{Reason: ReasonNoSelector, By: DefaultRole}
}
