package chain_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// upperCase are words in upper case that are no part of another word. Names of AWS's variables are none.
var upperCase = regexp.MustCompile(`(?:^|[ "=])([A-Z][A-Z0-9_]+(?::[A-Z][A-Z0-9_]+)?)(?:["',\s]|$)`)

// TestAFindingNamesTheWordsToFillIn that its commands have, each once, and no others.
func TestAFindingNamesTheWordsToFillIn(t *testing.T) {
	seen := map[string]int{}
	for name, each := range faults {
		e := copyOf(t, world())
		each.plant(&e)
		wantBlanks(t, name, e, seen)
		e.Subject, e.Pod = chain.Subject{Namespace: e.Subject.Namespace, Account: "checkout"}, chain.Seen[corev1.Pod]{}
		wantBlanks(t, name+", of a ServiceAccount", e, seen)
	}
	for _, word := range []string{"ROLE_ARN", "SERVICE:ACTION", "RESOURCE_ARN", "FILE", "REGISTRY", "TAG", "WORKLOAD"} {
		if seen[word] == 0 {
			t.Errorf("no command has %s: the test sees too few", word)
		}
	}
}

func wantBlanks(t *testing.T, name string, e chain.Evidence, seen map[string]int) {
	t.Helper()
	for _, step := range chain.Explain(e).Links {
		for _, f := range step.Findings {
			var want []string
			for _, found := range upperCase.FindAllStringSubmatch(strings.Join(f.Mend, "\n"), -1) {
				if word := found[1]; !strings.HasPrefix(word, "AWS_") && !slices.Contains(want, word) {
					want = append(want, word)
				}
			}
			for _, word := range want {
				seen[word]++
			}
			if !slices.Equal(want, f.Blanks) {
				t.Errorf("%s: the words to fill in are %q, want %q of %q", name, f.Blanks, want, f.Mend)
			}
		}
	}
}

// TestANameInUpperCaseIsNotFilledIn is about a role that is called as a word to fill in is.
func TestANameInUpperCaseIsNotFilledIn(t *testing.T) {
	e := copyOf(t, world())
	faults["a misspelt ServiceAccount"].plant(&e)
	shouted := strings.Replace(roleARN, "checkout", "FILE", 1)
	e.Account.Value.Annotations["eks.amazonaws.com/role-arn"], e.Role.Value.ARN, app(&e).Env[0].Value = shouted, shouted, shouted
	e.NewPod.Value.Spec.Containers[0].Env[0].Value = shouted
	f := chain.Explain(e).First
	if f == nil || !strings.Contains(strings.Join(f.Mend, "\n"), "--role-name FILE") || len(f.Blanks) > 0 {
		t.Errorf("%+v", f)
	}
}
