package kube_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// TestOnOneCluster are the tests that need an API server: with the kinds of selectors and
// choices, and then without.
func TestOnOneCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, world)
	}{
		{"resources follow what decides on their role", resourcesFollow},
		{"what is not installed keeps only selection waiting", onlySelectionWaits},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, world{w.In(t)}) })
	}
}

// resourcesFollow drives one controller through every change that decides, each of which
// wakes the resource by itself.
func resourcesFollow(t *testing.T, w world) {
	t.Helper()
	prod := namespace("prod", nil)
	logs := bucket("prod", "logs")
	w.Make(prod, logs)
	i := w.start(t, with)
	i.untilReady()
	w.says("prod", "logs", "NoSelectorPolicy", "does not allow the controller's own role")

	byLabel := selector("by-label", "111111111111", func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}}
	})
	w.Make(byLabel)
	w.patch(prod, func() { prod.Labels["team"] = "a" })
	w.says("prod", "logs", "Selected", "roleARN: arn:aws:iam::111111111111:role/by-label, selectorName: by-label, selectorResourceVersion: ")

	second := selector("another", "111111111111", inNamespaces("prod"))
	w.Make(second)
	w.says("prod", "logs", "Conflict", "Conflicting IAMRoleSelectors: [another, by-label]")
	checkConflict(w)
	w.patch(second, func() { second.Spec.NamespaceSelector.Names = []string{"dev"} })
	w.says("prod", "logs", "Selected", "selectorName: by-label")
	if got := w.condition("prod", "logs", kube.ConditionRecoverable); got.Type != "" {
		t.Errorf("the conflict is over, and the status still says %+v", got)
	}
	w.Await(func() error {
		if !i.logged(`"outcome"="Use"`, `"oldOutcome"="Conflict"`, `"selectorUID"="`+string(byLabel.UID)+`"`, `"decidedBy"="Unique"`) {
			return fmt.Errorf("it is not: %s", strings.Join(i.logs, "\n"))
		}
		return nil
	})

	w.patch(prod, func() { prod.Labels["team"] = "b" })
	w.says("prod", "logs", "NoSelectorPolicy", "")
	w.patch(prod, func() { prod.Labels["team"] = "a" })
	w.says("prod", "logs", "Selected", "selectorName: by-label")
	w.Remove(byLabel)
	w.says("prod", "logs", "NoSelectorPolicy", "")

	w.Make(selector("by-app", "111111111111", inNamespaces("prod"), func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	}))
	w.patch(logs, func() { logs.SetLabels(map[string]string{"app": "x"}) })
	w.says("prod", "logs", "Selected", "selectorName: by-app")
	w.patch(logs, func() { logs.SetLabels(nil) })
	w.says("prod", "logs", "NoSelectorPolicy", "")
	chooses(w, i)
	w.RotateKey(t) // the API server starts anew
	w.patch(logs, func() { logs.SetLabels(map[string]string{"app": "x"}) })
	w.says("prod", "logs", "Conflict", "[by-app, one, two]")
	w.Remove(logs)
	w.Await(func() error {
		if _, entered := i.roles.Objects().Decision(ref("prod", "logs")); entered {
			return errStillThere
		}
		return nil
	})
	if roles := strings.Join(i.used["prod/logs"], " "); strings.Contains(roles, "  ") || strings.Contains(roles, "another") {
		t.Errorf("AWS was called with %q", roles)
	}
}

// chooses goes through the choices of a namespace and of a resource.
func chooses(w world, i *instance) {
	w.Helper()
	offered := func(name string) *v1alpha1.IAMRoleSelector {
		return selector(name, "111111111111", inNamespaces("prod"), func(s *v1alpha1.IAMRoleSelectorSpec) {
			s.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable, Choosers: []v1alpha1.Chooser{v1alpha1.NamespaceChoice, v1alpha1.ResourceAnnotation}}
		})
	}
	w.Make(offered("one"), offered("two"))
	w.says("prod", "logs", "Conflict", "[one, two]")
	choice := &identityv1alpha1.IAMRoleChoice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "default"},
		Spec:       identityv1alpha1.IAMRoleChoiceSpec{SelectorRef: identityv1alpha1.SelectorRef{Name: "one"}},
	}
	w.Make(choice)
	w.says("prod", "logs", "Selected", "selectorName: one")
	logs := bucket("prod", "logs")
	w.patch(logs, func() { logs.SetAnnotations(map[string]string{v1alpha1.ChoiceAnnotation: "two"}) })
	w.says("prod", "logs", "Selected", "selectorName: two")
	w.patch(logs, func() { logs.SetAnnotations(map[string]string{v1alpha1.ChoiceAnnotation: "absent"}) })
	w.says("prod", "logs", "ChoiceNotPermitted", "may not be chosen here")
	w.patch(logs, func() { logs.SetAnnotations(nil) })
	w.says("prod", "logs", "Selected", "selectorName: one")
	w.Remove(choice)
	w.says("prod", "logs", "Conflict", "[one, two]")
	subject := i.roles.Subject(bucketKind, logs)
	if subject.NamespaceUID == "" || subject.NamespaceLabels["team"] != "a" || subject.Service != "s3" || subject.Kind != "Bucket" {
		w.Errorf("the subject is %+v", subject)
	}
}

func checkConflict(w world) {
	w.Helper()
	for _, want := range []metav1.Condition{
		{Type: "ACK.Recoverable", Status: "True", Reason: "IAMRoleSelectorConflict"},
		{Type: "ACK.IAMRoleSelected", Status: "False", Reason: "Conflict"},
		{Type: "ACK.ResourceSynced", Status: "Unknown", Reason: "IAMRoleSelectorConflict"},
		{Type: "Ready", Status: "False", Reason: "ACK.Recoverable"},
	} {
		got := w.condition("prod", "logs", want.Type)
		if got.Status != want.Status || got.Reason != want.Reason ||
			got.Message != "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [another, by-label]" {
			w.Errorf("condition %s is %s %s %q, want %s %s and the documented message",
				want.Type, got.Status, got.Reason, got.Message, want.Status, want.Reason)
		}
	}
}

// onlySelectionWaits: without the kinds the manager runs, and says what is missing; it
// goes on by itself when they come, and stops deciding when they go.
func onlySelectionWaits(t *testing.T, w world) {
	t.Helper()
	w.uninstall(selectorDefinition)
	w.uninstall(choiceDefinition)
	w.Make(namespace("later", nil), bucket("later", "logs"))
	i := w.start(t, without)
	w.Await(func() error { return i.lacks("may not list and watch iamroleselectors.services.k8s.aws") })
	w.allow(without, all("services.k8s.aws", "iamroleselectors"))
	w.Await(func() error { return i.lacks("does not serve iamroleselectors.services.k8s.aws") })
	w.says("later", "logs", "NotSynced", "")
	w.install(selectorDefinition)
	w.Await(func() error {
		if i.lacks("iamroleselectors") == nil {
			return errStillThere
		}
		return i.lacks("may not list and watch iamrolechoices.identity.tabard.dev")
	})
	w.says("later", "logs", "NotSynced", "")
	w.allow(without, all("identity.tabard.dev", "iamrolechoices"))
	i.untilReady()
	w.says("later", "logs", "NoSelectorPolicy", "")
	w.Make(selector("team", "111111111111", inNamespaces("later")))
	w.says("later", "logs", "Selected", "selectorName: team")

	w.install(choiceDefinition)
	w.Make(&identityv1alpha1.IAMRoleChoice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "later", Name: "default"},
		Spec:       identityv1alpha1.IAMRoleChoiceSpec{SelectorRef: identityv1alpha1.SelectorRef{Name: "absent"}},
	})
	w.says("later", "logs", "ChoiceNotPermitted", "")
	w.uninstall(choiceDefinition)
	w.says("later", "logs", "Selected", "selectorName: team")

	w.uninstall(selectorDefinition)
	w.Await(func() error { return i.lacks("does not serve iamroleselectors.services.k8s.aws") })
	logs := bucket("later", "logs")
	if d := i.roles.Decide(bucketKind, logs); d.Outcome != roleselector.NotYetKnown {
		t.Errorf("the kind of selectors is gone, and it decides %s", d.Outcome)
	}
	w.install(selectorDefinition)
	i.untilReady()
	w.says("later", "logs", "NoSelectorPolicy", "")
}
