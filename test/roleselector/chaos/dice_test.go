package chaos

import (
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// dice make selectors, choices and labels that the API server takes, few enough of
// each that they meet often.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 6))} }

// one in n.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

func pickOf[T any](d dice, list ...T) T { return list[d.IntN(len(list))] }

var (
	teamRoles     = []string{alphaRole, otherRole, betaRole}
	homes         = []string{"prod", "test", "edge"}
	teams         = []string{"a", "b", "c"}
	apps          = []string{"x", "y"}
	selectorNames = []string{"s0", "s1", "s2", "s3", "s4", "s5"}
)

func (d dice) homeLabels() map[string]string {
	labels := map[string]string{"team": pickOf(d, teams...)}
	if d.one(2) {
		labels["stage"] = pickOf(d, "one", "two")
	}
	return labels
}

func (d dice) ownLabels() map[string]string {
	if d.one(3) {
		return map[string]string{}
	}
	return map[string]string{"app": pickOf(d, apps...)}
}

// selector is everything of a selector but its role, which must stay.
func (d dice) selector(role string) *v1alpha1.IAMRoleSelectorSpec {
	spec := &v1alpha1.IAMRoleSelectorSpec{ARN: role}
	if d.one(12) {
		spec.ARN, spec.Effect = "", v1alpha1.Deny
	} else if d.one(3) {
		spec.Selection = d.selection()
	}
	if spec.ARN != "" && d.one(2) {
		spec.OnAccountChange = v1alpha1.Recreate
	}
	switch d.IntN(8) {
	case 0, 1, 2, 3:
		spec.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{pickOf(d, homes...)}}
	case 4, 5, 6:
		spec.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: d.labelSelector()}
	}
	if d.one(3) {
		spec.ResourceTypeSelector = d.types()
	}
	if d.one(3) && spec.NamespaceSelector != nil {
		spec.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": pickOf(d, apps...)}}
	}
	return spec
}

func (d dice) selection() *v1alpha1.Selection {
	s := &v1alpha1.Selection{Mode: v1alpha1.Selectable}
	switch d.IntN(3) {
	case 0:
		s.Default = true
	case 1:
		s.RequireChoice = true
	}
	switch d.IntN(3) {
	case 0:
		s.Choosers = []v1alpha1.Chooser{v1alpha1.ResourceAnnotation}
	case 1:
		s.Choosers = []v1alpha1.Chooser{v1alpha1.NamespaceChoice, v1alpha1.ResourceAnnotation}
	}
	return s
}

func (d dice) labelSelector() *v1alpha1.LabelSelector {
	team := pickOf(d, teams...)
	return &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{pickOf(d,
		v1alpha1.LabelRequirement{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{team}},
		v1alpha1.LabelRequirement{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{team}},
		v1alpha1.LabelRequirement{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{team}},
		v1alpha1.LabelRequirement{Key: "stage", Operator: metav1.LabelSelectorOpExists},
		v1alpha1.LabelRequirement{Key: "stage", Operator: metav1.LabelSelectorOpDoesNotExist},
	)}}
}

// types are of the kind that is tested three times in four.
func (d dice) types() []v1alpha1.ResourceType {
	return []v1alpha1.ResourceType{pickOf(d,
		v1alpha1.ResourceType{APIVersion: group + "/" + apiVersion, Kind: kind},
		v1alpha1.ResourceType{Group: group},
		v1alpha1.ResourceType{Kind: kind},
		v1alpha1.ResourceType{Group: "ec2.services.k8s.aws"},
	)}
}

func (d dice) choice() identityv1alpha1.IAMRoleChoiceSpec {
	spec := identityv1alpha1.IAMRoleChoiceSpec{SelectorRef: identityv1alpha1.SelectorRef{Name: pickOf(d, selectorNames...)}}
	if d.one(3) {
		spec.ResourceTypeSelector = d.types()
	}
	if d.one(3) {
		spec.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": pickOf(d, apps...)}}
	}
	return spec
}
