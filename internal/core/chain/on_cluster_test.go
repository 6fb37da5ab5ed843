package chain_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// TestTheCommandsOfAReportNameTheCluster: who asked about one context must not mend another one. The only
// commands without the flags are those that ask no cluster.
func TestTheCommandsOfAReportNameTheCluster(t *testing.T) {
	const flags = " --context prod"
	command := regexp.MustCompile(`(kubectl|helm|tabard (explain|issuer)) [a-z-]+ [a-z-]+( [a-z-]+)?`)
	found := 0
	said := func(code chain.Code, before, text string) {
		for _, one := range command.FindAllString(text, -1) {
			found++
			if !strings.Contains(one, "context") && !strings.HasPrefix(one, "tabard issuer init") {
				t.Errorf("%s: %q names no cluster in %q", code, one, text)
			}
		}
		if strings.ReplaceAll(strings.ReplaceAll(text, flags, ""), " --kube-context prod", "") != before {
			t.Errorf("%s: %q became %q", code, before, text)
		}
	}
	for _, fault := range faults {
		e := world()
		fault.plant(&e)
		plain, named := chain.Explain(e), chain.Explain(e)
		named.OnCluster(flags)
		for i, step := range named.Links {
			said("", plain.Links[i].Text, step.Text)
			for j, f := range step.Findings {
				was := plain.Links[i].Findings[j]
				said(f.Code, was.Symptom, f.Symptom)
				said(f.Code, was.Note, f.Note)
				said(f.Code, was.Verify, f.Verify)
				for at, typed := range f.Mend {
					said(f.Code, was.Mend[at], typed)
				}
			}
		}
		if named.First != nil && !strings.Contains(named.First.Verify, flags) {
			t.Errorf("the first finding is verified by %q", named.First.Verify)
		}
	}
	if found < 100 {
		t.Errorf("only %d commands were seen", found)
	}
}
