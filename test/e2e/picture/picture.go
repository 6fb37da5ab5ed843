// Package picture draws what the demo prints as a picture of text, for the README. It is pure:
// two runs of one story give the same bytes, because what differs from run to run is left out.
package picture

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	columns = 100 // longer lines are cut
	most    = 6   // lines of one step; the others are cut
	gap     = "…" // stands for what was cut or differs from run to run
)

// varying is all that differs from run to run. The first group stays, and the last.
var varying = []*regexp.Regexp{
	regexp.MustCompile(`(\b127\.0\.0\.1:)\d+()`),
	regexp.MustCompile(`(\btabard-lab-|\btabard-issuer-lab-|\bteam-a-data-)[0-9a-f]{8}()\b`),
	regexp.MustCompile(`(published: )[\w-]{43}( signs)`),
	regexp.MustCompile(`(/tabard-tabard-issuer-)[0-9a-z]+-[0-9a-z]+()`),
	regexp.MustCompile(`(\(process )\d+(\))`),
	regexp.MustCompile(`(journal shows )\d+( kinds of calls)`),
	regexp.MustCompile(`(/)\d{19}()\b`), // a session that the SDK named by the time
	regexp.MustCompile(`(\bkube-api-access-)[0-9a-z]{5}()\b`),
	regexp.MustCompile(`(date/time )\d+()`),
	regexp.MustCompile(`(as told, in )\d+\.\d( s)`),
}

var (
	title   = regexp.MustCompile(`^\d+\. `)
	seconds = regexp.MustCompile(`^ +\(\d+\.\d s\)$`)
)

// Lines are those of a picture: the first steps of what the demo said, each with its first lines, and
// the end. Where something was cut, a line or the end of one says so.
func Lines(said string, steps int) []string {
	all := strings.Split(strings.TrimSpace(said), "\n")
	lines, last := []string{"$ make demo"}, len(all)-1
	step, of := 0, 0
	for _, line := range all[:last] {
		switch {
		case title.MatchString(line):
			step, of = step+1, 0
			if step > steps {
				return append(lines, "", gap, "", cut(steady(all[last])))
			}
			lines = append(lines, "", cut(steady(line)))
		case line == "" || seconds.MatchString(line):
		case of < most:
			of++
			lines = append(lines, cut(steady(line)))
		case of == most:
			of++
			lines = append(lines, "   "+gap)
		}
	}
	return append(lines, "", cut(steady(all[last])))
}

// steady is a line without what differs from run to run.
func steady(line string) string {
	for _, each := range varying {
		line = each.ReplaceAllString(line, "${1}"+gap+"${2}")
	}
	return line
}

// cut shortens a line to the picture's columns.
func cut(line string) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	return strings.TrimRight(string([]rune(line)[:columns-1]), " "+gap) + gap
}

// Sizes in pixels. The glyphs of common monospace fonts are 0.6 of their size wide.
const (
	fontSize = 13
	lineStep = 18
	margin   = 22
	width    = columns*fontSize*61/100 + 2*margin
)

// SVG draws lines in a frame like a terminal's. It has neither a script nor a font of its own, and
// follows the reader's dark mode.
func SVG(name, description string, lines []string) string {
	height := 2*margin + lineStep*len(lines)
	var svg strings.Builder
	fmt.Fprintf(&svg, head, width, height, html.EscapeString(name), html.EscapeString(description), fontSize, width-1, height-1)
	for i, line := range lines {
		if line == "" {
			continue
		}
		class := ""
		switch {
		case strings.HasPrefix(line, "$ "), title.MatchString(line):
			class = ` class="head"`
		case strings.TrimSpace(line) == gap:
			class = ` class="gap"`
		}
		fmt.Fprintf(&svg, "  <text%s x=\"%d\" y=\"%d\">%s</text>\n", class, margin, margin+lineStep*i+fontSize, html.EscapeString(line))
	}
	return svg.String() + "</svg>\n"
}

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="t d" xml:space="preserve">
  <title id="t">%s</title>
  <desc id="d">%s</desc>
  <style>
    text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
    .head { font-weight: 600; fill: #0550ae }
    .gap { fill: #57606a }
    .frame { fill: #f6f8fa; stroke: #57606a }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .head { fill: #79c0ff }
      .gap { fill: #8b949e }
      .frame { fill: #161b22; stroke: #8b949e }
    }
  </style>
  <rect class="frame" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
`

// Of draws the first steps of what the demo said.
func Of(said string, steps int) string {
	lines := Lines(said, steps)
	var titles []string
	for _, line := range lines {
		if title.MatchString(line) {
			titles = append(titles, line+".")
		}
	}
	return SVG("What make demo prints", "Each step is followed by what was seen. "+strings.Join(titles, " ")+" "+lines[len(lines)-1], lines)
}
