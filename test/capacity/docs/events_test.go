package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const core = "../../../internal/core/capacity/"

// event is a row of the page's table.
type event struct {
	reason, kind, text, again string
	// pattern is the text with anything in the place of words in capitals.
	pattern *regexp.Regexp
}

func (e event) String() string { return e.kind + " " + e.reason + ": " + e.text }

// placeholders are the words in capitals that stand for others.
var placeholders = regexp.MustCompile(`\b(TYPE|REGION|NUMBER|ARCH|VALUE|KEY|MANAGER|NAMESPACE|NAME|KIND|CAUSE|WHO|CALL|CODE|HINT|ACTION|ARN)\b`)

// narrower are those that are not anything.
var narrower = map[string]string{
	"CALL": `(could not retrieve region data: )?(EC2|STS) [A-Za-z]+`, "CODE": `[A-Za-z.]+`, "ACTION": `[a-z0-9]+:[A-Za-z]+`,
}

func events(t *testing.T) []event {
	t.Helper()
	var found []event
	for _, cells := range rows(t, "## Events") {
		if len(cells) != 6 || slices.Contains(cells, "") {
			t.Fatalf("an event's row has not six cells that are full: %q", cells)
		}
		bare := func(i int) string { return strings.Trim(cells[i], "`") }
		pattern := placeholders.ReplaceAllStringFunc(regexp.QuoteMeta(bare(2)), func(word string) string {
			if narrow, ok := narrower[word]; ok {
				return narrow
			}
			return ".+"
		})
		pattern = strings.Replace(pattern, "; .+", "(; .+)?", 1) // not every code has a hint
		found = append(found, event{bare(0), cells[1], bare(2), cells[5], regexp.MustCompile("^" + pattern + "$")})
	}
	return found
}

// TestThePagesReasons compares the reasons of the table with the code's.
func TestThePagesReasons(t *testing.T) {
	var real, told []string
	for _, one := range literals(t, "plan.go") {
		if strings.HasPrefix(one.constant, "Reason") {
			real = append(real, one.text)
		}
	}
	for _, e := range events(t) {
		told = append(told, e.reason)
	}
	slices.Sort(real)
	slices.Sort(told)
	if diff := cmp.Diff(real, slices.Compact(told)); len(real) < 6 || diff != "" {
		t.Errorf("reasons (-code +page):\n%s", diff)
	}
}

// TestThePagesTexts finds every text that becomes part of an event on the page.
func TestThePagesTexts(t *testing.T) {
	// These are for the log alone, or make up what the page calls KEY, CALL or WHO.
	elsewhere := regexp.MustCompile(`^(Unable to set scale from zero|Autoscaling from zero will not work|for your instance type|AWS has no such type in|` +
		`AWS names no known architecture|, AWS says|AWS says, less|%s %s: %s|the controller's identity)`)
	told := quoted(part(t, "## Events"))
	for _, file := range []string{"copy.go", "decide.go", "locate.go", "trouble.go"} {
		for _, one := range literals(t, file) {
			if one.inHints || !strings.Contains(one.text, " ") || len(strings.Fields(one.text)) < 2 || elsewhere.MatchString(one.text) {
				continue
			}
			verbs := regexp.MustCompile(`%[a-z%]|%%`)
			pattern := verbs.ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(one.text)), ".+")
			if !slices.ContainsFunc(told, regexp.MustCompile(pattern).MatchString) {
				t.Errorf("%s says %q, which the page's events do not", file, one.text)
			}
		}
	}
}

// literal is a text in the code.
type literal struct {
	text string
	// constant is the constant that it is, empty for none.
	constant string
	// inHints says that it is in the list of hints, which the page has by code.
	inHints bool
}

// literals are the texts in a file of the decision, but for imports and Skips.
func literals(t *testing.T, file string) []literal {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), core+file, nil, parser.SkipObjectResolution))(t)
	var found []literal
	var inside func(constant string, inHints bool) func(ast.Node) bool
	inside = func(constant string, inHints bool) func(ast.Node) bool {
		return func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.ValueSpec:
				if constant == "" {
					ast.Inspect(n, inside(n.Names[0].Name, n.Names[0].Name == "hints"))
					return false
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					text := must.Get(strconv.Unquote(n.Value))(t)
					found = append(found, literal{text, constant, inHints})
				}
			}
			return true
		}
	}
	ast.Inspect(parsed, inside("", false))
	if len(found) == 0 {
		t.Fatalf("%s has no texts; the test has not found them", file)
	}
	return found
}

// TestThePagesEvents makes the decision tell of everything, and finds each event
// in one row of the table, with the time to the next look. No row is left over.
func TestThePagesEvents(t *testing.T) {
	table := events(t)
	seen := map[string]bool{}
	for name, w := range worlds(t) {
		plan := capacity.Decide(w)
		if len(plan.Events) == 0 {
			t.Errorf("%s: no event", name)
		}
		for _, told := range plan.Events {
			var fitting []event
			kind := map[bool]string{false: "Normal", true: "Warning"}[told.Warning]
			for _, row := range table {
				if row.reason == told.Reason && row.kind == kind && row.pattern.MatchString(told.Message) {
					fitting = append(fitting, row)
				}
			}
			best := mostSpecific(fitting)
			if best == nil {
				t.Errorf("%s: no row of the page has the event %s %s: %s", name, kind, told.Reason, told.Message)
				continue
			}
			seen[best.String()] = true
			if err := checkAgain(w, plan, best.again); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, row := range table {
		if !seen[row.String()] {
			t.Errorf("nothing tells of %s", row)
		}
	}
}

// mostSpecific is the row that leaves the least open: others may fit, too, as their
// words in capitals stand for anything.
func mostSpecific(fitting []event) *event {
	open := func(e event) int { return strings.Count(strings.ReplaceAll(e.pattern.String(), "(; .+)?", ""), ".+") }
	var best *event
	for i := range fitting {
		if best == nil || open(fitting[i]) < open(*best) {
			best = &fitting[i]
		}
	}
	return best
}

// checkAgain compares the time to the next look with the page's.
func checkAgain(w capacity.World, plan capacity.Plan, told string) error {
	if told == "at a change" {
		if plan.Again != 0 {
			return fmt.Errorf("looked at again in %v, and the page says %q", plan.Again, told)
		}
		return nil
	}
	parse := func(text string) time.Duration {
		d, err := time.ParseDuration(strings.NewReplacer(" ", "", "min", "m").Replace(text))
		if err != nil {
			return -1
		}
		return d
	}
	first, last, grows := strings.Cut(told, " to ")
	if !grows {
		if want := parse(told); plan.Again != want {
			return fmt.Errorf("looked at again in %v, and the page says %q", plan.Again, told)
		}
		return nil
	}
	w.Memory.Failures = 100
	late := capacity.Decide(w).Again
	// Each object's times are up to a fifth shorter, so that they come apart.
	within := func(got time.Duration, text string) bool { return got <= parse(text) && got >= parse(text)*4/5 }
	if !within(plan.Again, first) || !within(late, last) {
		return fmt.Errorf("looked at again in %v, and at last in %v; the page says %q", plan.Again, late, told)
	}
	return nil
}
