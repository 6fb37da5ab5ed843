package issuer_test

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

// rules is a file of Prometheus rules.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

var (
	selector = regexp.MustCompile(`([a-zA-Z_:][\w:]*)(\{[^}]*\})?`)
	matcher  = regexp.MustCompile(`^(\w+)(=~?)"([^"]*)"$`)
)

// functions are those that the alerts use.
var functions = []string{"absent", "max", "sum", "time"}

// series are the labels of all series of a registry, by metric.
func series(t *testing.T, registry *prometheus.Registry) map[string][]map[string]string {
	t.Helper()
	families := must.Get(registry.Gather())(t)
	out := map[string][]map[string]string{}
	for _, family := range families {
		for _, one := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range one.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			out[family.GetName()] = append(out[family.GetName()], labels)
		}
	}
	return out
}

// checkExpression says what of an expression is not served: a metric, a label, or a value.
func checkExpression(expression string, served map[string][]map[string]string) error {
	found := 0
	for _, part := range selector.FindAllStringSubmatch(expression, -1) {
		name, matchers := part[1], strings.Trim(part[2], "{}")
		if slices.Contains(functions, name) {
			continue
		}
		found++
		for want := range strings.SplitSeq(matchers, ",") {
			if err := checkMatcher(want, served[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if found == 0 {
		return fmt.Errorf("%q names no metric", expression)
	}
	return nil
}

// checkMatcher demands that each value of a matcher is that of a series.
func checkMatcher(want string, series []map[string]string) error {
	parts := matcher.FindStringSubmatch(want)
	if parts == nil {
		return fmt.Errorf("cannot read %q", want)
	}
	values := []string{parts[3]}
	if parts[2] == "=~" {
		values = strings.Split(parts[3], "|")
	}
	for _, value := range values {
		if !slices.ContainsFunc(series, func(labels map[string]string) bool { return labels[parts[1]] == value }) {
			return fmt.Errorf("no series has %s=%q", parts[1], value)
		}
	}
	return nil
}

// TestAlertsNameWhatIsServed has an issuer that dies, which has all conditions.
func TestAlertsNameWhatIsServed(t *testing.T) {
	d := newDeath(t)
	d.trusted[testAccount] = []string{"app"}
	d.live(t, time.Minute)
	served := series(t, d.registry)
	text := must.Get(os.ReadFile("../../../config/alerts/issuer.yaml"))(t)
	var file rules
	must.Do(t, yaml.UnmarshalStrict(text, &file))
	page := must.Get(os.ReadFile("../../../docs/oidc-issuer.md"))(t)
	alerts := map[string]bool{}
	for _, rule := range file.Groups[0].Rules {
		if err := checkExpression(rule.Expr, served); err != nil {
			t.Errorf("%s: %v", rule.Alert, err)
		}
		if _, err := time.ParseDuration(rule.For); err != nil || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("%s is not complete: %+v", rule.Alert, rule)
		}
		if alerts[rule.Alert] || !strings.Contains(string(page), "`"+rule.Alert+"`") {
			t.Errorf("%s is there twice, or not on the page", rule.Alert)
		}
		alerts[rule.Alert] = true
	}
	if len(alerts) < 7 {
		t.Errorf("%d alerts were read, expected all of them", len(alerts))
	}
	for _, planted := range []string{
		`max(tabard_controller_condition{controller="issuer"}) > 0`,
		`max(tabard_controller_conditions{controller="isuer"}) > 0`,
		`max(tabard_controller_conditions{controller="issuer",condition="Redy"}) > 0`,
		`max(tabard_controller_conditions{controller="issuer",status=~"False|Maybe"}) > 0`,
		`max(tabard_controller_conditions{reason="x"}) > 0`,
		`time() > 0`,
	} {
		if checkExpression(planted, served) == nil {
			t.Errorf("%s passes for served", planted)
		}
	}
}
