package selector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// testReport is what test says.
type testReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Passed says that everything is as it should be.
	Passed    bool      `json:"passed"`
	Resources []result  `json:"resources"`
	Problems  []problem `json:"problems,omitempty"`
	// Idle are selectors that select none of the resources.
	Idle     []string  `json:"idle,omitempty"`
	Overlaps []overlap `json:"overlaps,omitempty"`
	// Ignored counts objects of kinds that decide nothing.
	Ignored map[string]int `json:"ignored,omitempty"`
}

// result is one resource.
type result struct {
	Resource resourceRef `json:"resource"`
	Decision decision    `json:"decision"`
	Expected string      `json:"expected,omitempty"`
	// Passed says that the decision is the expected one, or, with nothing expected,
	// that it is no block.
	Passed bool `json:"passed"`
}

// overlap is a set of selectors that give a role to the same resources.
type overlap struct {
	Selectors []string `json:"selectors"`
	// Resources is how many there are, First the first of them.
	Resources int    `json:"resources"`
	First     string `json:"first"`
}

func (u *usage) overlap(names []string, r resource) {
	if len(names) < 2 {
		return
	}
	slices.Sort(names)
	key := strings.Join(names, "/") // no name holds a slash
	if u.together[key] == nil {
		u.together[key] = &overlap{Selectors: names, First: r.String()}
	}
	u.together[key].Resources++
}

func (u *usage) overlaps() []overlap {
	var all []overlap
	for _, key := range slices.Sorted(maps.Keys(u.together)) {
		all = append(all, *u.together[key])
	}
	return all
}

// idle are the selectors that select nothing, as far as is known.
func (u *usage) idle(w *world) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(w.selectors)) {
		if !u.used[name] && !u.undecided[name] {
			names = append(names, name)
		}
	}
	return names
}

func (r *testReport) conclude() {
	r.Passed = r.failed() == 0 && r.broken() == 0
}

func (r *testReport) failed() int {
	count := 0
	for _, one := range r.Resources {
		if !one.Passed {
			count++
		}
	}
	return count
}

func (r *testReport) broken() int {
	count := 0
	for _, p := range r.Problems {
		if p.Blocks {
			count++
		}
	}
	return count
}

func (r *testReport) summary() string {
	return fmt.Sprintf("%d resources, %d failed; %d problems that block", len(r.Resources), r.failed(), r.broken())
}

// String is KIND.GROUP NAMESPACE/NAME.
func (r resourceRef) String() string {
	return r.Kind + "." + r.Group + " " + strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")
}

// text is the report for people.
func (r *testReport) text() string {
	var out strings.Builder
	rows := [][]string{{"RESOURCE", "DECISION", "EXPECTED", "RESULT"}}
	failed := [][]string{{"RESOURCE", "EXPECTED", "DECISION", "WHY"}}
	for _, one := range r.Resources {
		expected, verdict := one.Expected, "ok"
		if expected == "" {
			expected = "-"
		}
		if !one.Passed {
			verdict = "FAILED"
			wanted := one.Expected
			if wanted == "" {
				wanted = "no block"
			}
			failed = append(failed, []string{one.Resource.String(), wanted, one.Decision.String(), one.Decision.Message})
		}
		rows = append(rows, []string{one.Resource.String(), one.Decision.String(), expected, verdict})
	}
	out.WriteString(command.Table(rows))
	r.writeWarnings(&out)
	if len(failed) > 1 {
		out.WriteString("\nDifferences:\n")
		out.WriteString(command.Table(failed))
	}
	fmt.Fprintf(&out, "\n%s\n", r.summary())
	return out.String()
}

func (r *testReport) writeWarnings(out *strings.Builder) {
	var lines []string
	for _, p := range r.Problems {
		lines = append(lines, "Problem: "+p.String())
	}
	for _, name := range r.Idle {
		lines = append(lines, "Warning: IAMRoleSelector "+name+" selects none of the resources")
	}
	for _, o := range r.Overlaps {
		lines = append(lines, fmt.Sprintf("Warning: IAMRoleSelectors %s overlap: %d resources, the first is %s", strings.Join(o.Selectors, ", "), o.Resources, o.First))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Ignored)) {
		lines = append(lines, fmt.Sprintf("Passed over: %d of the kind %s", r.Ignored[kind], kind))
	}
	if len(lines) > 0 {
		out.WriteString("\n")
	}
	for _, line := range lines {
		out.WriteString(command.Plain(line) + "\n")
	}
}
