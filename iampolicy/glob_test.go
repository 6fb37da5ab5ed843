package iampolicy

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// globByRegexp is the plain way to say what a glob means: the measure for
// matchGlob.
func globByRegexp(glob, s string) bool {
	quoted := regexp.QuoteMeta(glob)
	quoted = strings.ReplaceAll(quoted, `\*`, `.*`)
	quoted = strings.ReplaceAll(quoted, `\?`, `.`)
	return regexp.MustCompile(`^(?s:` + quoted + `)$`).MatchString(s)
}

func TestMatchGlobAgreesWithRegularExpressions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(alphabet string, most int) string {
		letters := []rune(alphabet)
		var out strings.Builder
		for range random.IntN(most + 1) {
			out.WriteRune(letters[random.IntN(len(letters))])
		}
		return out.String()
	}
	matches := 0
	for range 40_000 {
		glob, s := pick("ab*?é*", 9), pick("abé\n", 9)
		got, want := matchGlob(activate.Replace(glob), s), globByRegexp(glob, s)
		if got != want {
			t.Fatalf("matchGlob(%q, %q) = %v, want %v", glob, s, got, want)
		}
		if got {
			matches++
		}
	}
	if matches < 1000 {
		t.Errorf("only %d of the pairs match: the test says little", matches)
	}
}

func TestMatchGlobTakesALongWayWithoutRetrying(t *testing.T) {
	// With backtracking this would not end within the life of the machine.
	pattern := activate.Replace(strings.Repeat("*a", 200) + "b")
	if matchGlob(pattern, strings.Repeat("a", 20_000)) {
		t.Error("matched a text without b")
	}
	if !matchGlob(pattern, strings.Repeat("a", 20_000)+"b") {
		t.Error("did not match a text that ends in b")
	}
}
