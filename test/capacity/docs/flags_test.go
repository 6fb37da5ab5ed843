package docs

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awsauth/metric"
	controller "github.com/tabard-dev/tabard/internal/controller/capacity"
	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var flagPattern = regexp.MustCompile(`--[a-z][a-z-]+[a-z]`)

// flagsOf are the flags that a command's help shows.
func flagsOf(t *testing.T, command string) []string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), os.Getenv("TABARD_BIN"), command, "--help").Output()
	if err != nil {
		t.Fatalf("tabard %s --help: %v; TABARD_BIN must name the program that make build makes", command, err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if name := flagPattern.FindString(line); name != "" && regexp.MustCompile(`^ +(-\w, )?--`).MatchString(line) {
			found = append(found, name)
		}
	}
	if len(found) < 5 {
		t.Fatalf("tabard %s --help shows %q; the test has not found its flags", command, found)
	}
	return found
}

// TestThePagesFlags finds every flag of tabard capacity in the page's table, and no
// flag on the page that does not exist.
func TestThePagesFlags(t *testing.T) {
	var told []string
	for _, cells := range rows(t, "## Flags") {
		told = append(told, flagPattern.FindAllString(cells[0], -1)...)
	}
	own := flagsOf(t, "capacity")
	for _, flag := range own {
		if !slices.Contains(told, flag) && flag != "--help" && flag != "--version" && flag != "--v" {
			t.Errorf("the page's table does not have %s", flag)
		}
	}
	isForeign := regexp.MustCompile(`^--(role-name|assume-role-policy-document|policy-name|policy-document|cluster-name|namespace|service-account|role-arn|` +
		`from-literal|type|dry-run|overwrite|field-selector|show-managed-fields|clusterrole|serviceaccount|verb|resource|role)$`)
	others := flagsOf(t, "operator")
	prefixed := 0
	for _, flag := range others {
		if rest, ok := strings.CutPrefix(flag, "--capacity-"); ok {
			prefixed++
			if !slices.Contains(told, "--"+rest) {
				t.Errorf("tabard operator has %s, and the page's table has no --%s", flag, rest)
			}
		}
	}
	if prefixed == 0 {
		t.Error("tabard operator has no flags of the controller; the page says that it does")
	}
	known := slices.Concat(own, others)
	for _, flag := range flagPattern.FindAllString(readPage(t), -1) {
		if !slices.Contains(known, flag) && !isForeign.MatchString(flag) && flag != "--capacity" {
			t.Errorf("the page names %s, which there is not", flag)
		}
	}
	for _, profile := range capacity.Profiles() {
		if !slices.Contains(quoted(part(t, "## Flags")), string(profile)) {
			t.Errorf("the page does not name the profile %s", profile)
		}
	}
}

// TestThePagesMetrics compares the metrics of the page with those that there are,
// and the values of labels in its alerts with the code's.
func TestThePagesMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	controller.NewMetrics(registry)
	registry.MustRegister(metric.New("tabard"))
	descriptions := make(chan *prometheus.Desc, 100)
	registry.Describe(descriptions)
	close(descriptions)
	pattern := regexp.MustCompile(`tabard_(capacity|controller|aws)_[a-z_]+[a-z]`)
	var real []string
	for description := range descriptions {
		real = append(real, pattern.FindString(description.String()))
	}
	told := pattern.FindAllString(part(t, "## Metrics"), -1)
	for _, name := range real {
		if !slices.Contains(told, name) {
			t.Errorf("the page does not name %s", name)
		}
	}
	for _, name := range told {
		if !slices.Contains(real, name) {
			t.Errorf("the page names %s, which nobody tells", name)
		}
	}
	var outcomes []string
	for _, outcome := range capacity.Outcomes() {
		outcomes = append(outcomes, string(outcome))
		if !slices.Contains(quoted(part(t, "## Metrics")), string(outcome)) {
			t.Errorf("the page does not say what the outcome %s is", outcome)
		}
	}
	alerts := regexp.MustCompile(`outcome=~?"([a-z|\\]+)"`).FindAllStringSubmatch(part(t, "## Metrics"), -1)
	if len(alerts) == 0 {
		t.Error("no alert asks for outcomes; the test has not found them")
	}
	for _, alert := range alerts {
		for outcome := range strings.SplitSeq(strings.ReplaceAll(alert[1], `\`, ""), "|") {
			if !slices.Contains(outcomes, outcome) {
				t.Errorf("an alert asks for the outcome %q, which there is not", outcome)
			}
		}
	}
}

// TestThePagesAlerts compares the alerts of the page with those that are applied.
func TestThePagesAlerts(t *testing.T) {
	var told, real []string
	for _, cells := range rows(t, "## Metrics") {
		if expression, rest, is := strings.Cut(strings.TrimPrefix(cells[0], "`"), "`"); is && strings.ContainsAny(expression, "<>=") && strings.Contains(expression, " ") {
			wait := strings.NewReplacer(", ", "", " minutes", "m", "an hour", "1h").Replace(rest)
			told = append(told, strings.ReplaceAll(expression, `\|`, "|")+" for "+wait)
		}
	}
	var applied struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For string
			}
		}
	}
	text := must.Get(os.ReadFile("../../../config/alerts/capacity.yaml"))(t)
	must.Do(t, yaml.Unmarshal(text, &applied))
	for _, group := range applied.Groups {
		for _, rule := range group.Rules {
			real = append(real, rule.Expr+" for "+rule.For)
		}
	}
	if diff := cmp.Diff(real, told); len(real) < 6 || diff != "" {
		t.Errorf("alerts (-config +page):\n%s", diff)
	}
}

// TestThePagesAnnotations compares the keys of the page with those that are
// written.
func TestThePagesAnnotations(t *testing.T) {
	var told []string
	for _, cells := range rows(t, what) {
		if len(cells) == 3 && strings.Contains(cells[0], "/") {
			told = append(told, strings.Trim(cells[0], "`"))
		}
	}
	w := clusterAPI(func(w *capacity.World) {
		w.Answer.Type.GPUs, w.Answer.Type.Accelerators, w.Answer.Type.Accelerator = 1, 1, "nvidia.com/gpu"
	})
	var real []string
	for _, step := range capacity.Decide(w).Steps {
		switch step := step.(type) {
		case capacity.Patch:
			for key := range step.Set {
				real = append(real, key)
			}
		case capacity.Apply:
			for key := range step.Annotations {
				real = append(real, key)
			}
		}
	}
	slices.Sort(told)
	slices.Sort(real)
	if !slices.Equal(told, real) {
		t.Errorf("the page has the annotations %q, and %q are written", told, real)
	}
}
