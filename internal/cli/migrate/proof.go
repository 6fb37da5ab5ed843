package migrate

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/tabard-dev/tabard/roleselector/carm"
)

// proof is the lines of a proof, counted.
type proof struct {
	lines  []carm.Line
	counts map[carm.Result]int
}

func (p *proof) read(lines iter.Seq[carm.Line]) {
	p.counts = map[carm.Result]int{}
	for line := range lines {
		p.lines = append(p.lines, line)
		p.counts[line.Verdict]++
	}
}

// failed is how many lines the proof does not stand on.
func (p *proof) failed() int {
	count := 0
	for result, n := range p.counts {
		if !result.Holds() {
			count += n
		}
	}
	return count
}

// notEqual are the lines that a person should see.
func (p *proof) notEqual() []carm.Line {
	found := []carm.Line{}
	for _, line := range p.lines {
		if line.Verdict != carm.Equal {
			found = append(found, line)
		}
	}
	return found
}

// writeLines writes one line of JSON a comparison.
func (p *proof) writeLines(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, line := range p.lines {
		if err := encoder.Encode(line); err != nil {
			return fmt.Errorf("write the proof: %w", err)
		}
	}
	return nil
}

// text is the proof for people: numbers, and each line that is not equal.
func (p *proof) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Proof: %d compared, %d equal, %d different, %d pending, %d with other settings\n",
		len(p.lines), p.counts[carm.Equal], p.counts[carm.Different], p.counts[carm.Pending], p.counts[carm.Warned])
	for _, line := range p.notEqual() {
		what := line.GVK
		if line.Resource != "" {
			what += " " + line.Resource
		}
		fmt.Fprintf(&out, "  %s: %s: %s, %s: CARM %s, selectors %s: %s\n",
			line.Verdict, line.Controller, line.Namespace, what, line.CARM, line.IRS, line.Reason)
	}
	return out.String()
}
