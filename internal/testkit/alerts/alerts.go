// Package alerts compares Prometheus rules with what a program serves, and with the page that
// says what to do.
package alerts

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// File is a file of Prometheus rules.
type File struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []Rule `json:"rules"`
	} `json:"groups"`
}

// Rule is one alert.
type Rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Check demands that each alert of a file names what is served, is complete, and is on a page,
// and that the page has no other alert of that name. It returns the alerts' names.
func Check(t *testing.T, path, page string, served ...prometheus.Gatherer) (names []string) {
	t.Helper()
	var file File
	must.Do(t, yaml.UnmarshalStrict(must.Get(os.ReadFile(path))(t), &file))
	for _, problem := range problems(file, string(must.Get(os.ReadFile(page))(t)), seriesOf(t, prometheus.Gatherers(served))) {
		t.Error(problem)
	}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			names = append(names, rule.Alert)
		}
	}
	return names
}

func problems(file File, page string, served series) (out []string) {
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) == 0 {
		return []string{"expected one group with rules"}
	}
	group := file.Groups[0]
	var known []string
	for _, rule := range group.Rules {
		if slices.Contains(known, rule.Alert) {
			out = append(out, rule.Alert+" is there twice")
		}
		known = append(known, rule.Alert)
		if err := expression(rule.Expr, served); err != nil {
			out = append(out, fmt.Sprintf("%s: %v", rule.Alert, err))
		}
		if _, err := time.ParseDuration(rule.For); err != nil || rule.Labels["severity"] == "" {
			out = append(out, rule.Alert+" has no time to wait, or no severity")
		}
		if rule.Annotations["summary"] == "" || strings.Count(rule.Annotations["description"], ". ") == 0 {
			out = append(out, rule.Alert+" has no summary, or a description that does not say what is wrong and what to do")
		}
		if !strings.Contains(page, "\n| `"+rule.Alert+"` | "+rule.For+" | ") {
			out = append(out, rule.Alert+" is not on the page, with "+rule.For)
		}
	}
	prefix := "Tabard" + strings.ToUpper(group.Name[len("tabard-"):][:1]) + group.Name[len("tabard-")+1:]
	for _, told := range regexp.MustCompile("`("+prefix+"[A-Z]\\w*)`").FindAllStringSubmatch(page, -1) {
		if !slices.Contains(known, told[1]) {
			out = append(out, "the page speaks of "+told[1]+", which is no alert")
		}
	}
	return out
}

var (
	selector = regexp.MustCompile(`(tabard_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`^(\w+)=~?"([^"]*)"$`)
	// others are the names in an expression without its metrics, and without the time of
	// a range.
	others = regexp.MustCompile(`[a-zA-Z_:][\w:]*`)
	window = regexp.MustCompile(`\[\w+\]`)
	// grouped are the labels that an aggregation keeps, of which there is one at a time.
	grouped = regexp.MustCompile(`\bby \((\w+)\)`)
)

// functions are those that the alerts use.
var functions = []string{"absent", "increase", "max", "min", "rate", "sum", "time"}

// expression says what of an expression is not served: a metric, a label, or its value. A
// name that is neither a metric of Tabard's nor a function is none that is served.
func expression(text string, served series) error {
	parts := selector.FindAllStringSubmatch(text, -1)
	if len(parts) == 0 {
		return fmt.Errorf("%q names no metric", text)
	}
	rest := grouped.ReplaceAllString(window.ReplaceAllString(selector.ReplaceAllString(text, ""), ""), "")
	for _, name := range others.FindAllString(rest, -1) {
		if !slices.Contains(functions, name) {
			return fmt.Errorf("%s is not served", name)
		}
	}
	for _, part := range parts {
		all := served[part[1]]
		if len(all) == 0 {
			return fmt.Errorf("%s is not served", part[1])
		}
		for _, kept := range grouped.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(all, func(labels map[string]string) bool { return labels[kept[1]] != "" }) {
				return fmt.Errorf("%s: no series has the label %s", part[1], kept[1])
			}
		}
		if part[2] == "" {
			continue
		}
		for want := range strings.SplitSeq(part[2], ",") {
			found := matcher.FindStringSubmatch(want)
			if found == nil {
				return fmt.Errorf("%s: cannot read %q", part[1], want)
			}
			for value := range strings.SplitSeq(found[2], "|") {
				if !slices.ContainsFunc(all, func(labels map[string]string) bool { return labels[found[1]] == value }) {
					return fmt.Errorf("%s: no series has %s=%q", part[1], found[1], value)
				}
			}
		}
	}
	return nil
}

// series are the labels of all series, by metric.
type series map[string][]map[string]string

// seriesOf are those that are served; those of a histogram by its number of observations.
func seriesOf(t *testing.T, served prometheus.Gatherer) series {
	t.Helper()
	out := series{}
	for _, family := range must.Get(served.Gather())(t) {
		name := family.GetName()
		if family.GetType().String() == "HISTOGRAM" {
			name += "_count"
		}
		for _, one := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range one.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			out[name] = append(out[name], labels)
		}
	}
	return out
}
