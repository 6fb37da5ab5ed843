package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestThePageSpeaksOfEachAccountAndPolicy demands that docs/security.md says what
// follows if an account is taken, and what each of the policies for accounts is for; and
// that it speaks of none that is not there.
func TestThePageSpeaksOfEachAccountAndPolicy(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	w, err := parse(shipped(t))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, account := range w.accounts {
		known[account.String()] = true
		_, after, ok := strings.Cut(page, "\n### `"+account.String()+"`\n")
		if section, _, _ := strings.Cut(after, "\n#"); !ok || len(strings.TrimSpace(section)) < 60 {
			t.Errorf("docs/security.md does not say what follows if %s is taken", account)
		}
	}
	for _, match := range regexp.MustCompile("(?m)^### `([^`]+)`$").FindAllStringSubmatch(page, -1) {
		if !known[match[1]] {
			t.Errorf("docs/security.md speaks of the account %s, which no manifest has", match[1])
		}
	}
	for _, guard := range w.guards {
		if ofAccount := strings.Contains(guard.conditions(), "system:serviceaccount:"); ofAccount && !strings.Contains(page, "| `"+guard.policy.Name+"` |") {
			t.Errorf("docs/security.md does not say what the policy %s is for", guard.policy.Name)
		}
	}
}

// TestTheRightsPageHasEachRight of one account, by its names and without.
func TestTheRightsPageHasEachRight(t *testing.T) {
	w, err := parse(shipped(t))
	if err != nil {
		t.Fatal(err)
	}
	page := w.page()
	for _, want := range []string{
		"| `tabard-system` | `serviceaccounts/token` | `tabard-issuer` | create |", "| everywhere | `/openid/v1/jwks` | – | get |",
		"| `tabard-certificate` | `secrets` | all | create |", "Held by the policy `tabard-capacity-annotations`.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
