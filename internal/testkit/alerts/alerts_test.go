package alerts

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestPlantedFaultsAreFound: each changes one thing of an alert that is in order.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	counted := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tabard_door_knocks_total"}, []string{"by"})
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tabard_door_seconds"})
	registry.MustRegister(counted, took)
	counted.WithLabelValues("hand").Inc()
	counted.WithLabelValues("foot").Inc()
	served := seriesOf(t, registry)
	const good = `rate(tabard_door_knocks_total{by=~"hand|foot"}[5m]) + tabard_door_seconds_count > 0`
	const row = "\n| `TabardDoorKnocked` | 5m | somebody is there |\n"
	for name, test := range map[string]struct {
		change func(*Rule)
		page   string
		want   string
	}{
		"in order":                        {func(*Rule) {}, row, ""},
		"a metric that is not served":     {func(r *Rule) { r.Expr = "tabard_door_knock_total > 0" }, row, "tabard_door_knock_total is not served"},
		"a histogram without _count":      {func(r *Rule) { r.Expr = "tabard_door_seconds > 0" }, row, "tabard_door_seconds is not served"},
		"a label that is not served":      {func(r *Rule) { r.Expr = `tabard_door_knocks_total{who="hand"} > 0` }, row, `no series has who="hand"`},
		"a value that is not served":      {func(r *Rule) { r.Expr = `tabard_door_knocks_total{by=~"hand|feet"} > 0` }, row, `no series has by="feet"`},
		"a matcher that cannot be read":   {func(r *Rule) { r.Expr = `tabard_door_knocks_total{by!="hand"} > 0` }, row, "cannot read"},
		"no metric":                       {func(r *Rule) { r.Expr = "time() > 0" }, row, "names no metric"},
		"a label that is kept":            {func(r *Rule) { r.Expr = `sum by (by) (rate(tabard_door_knocks_total[5m])) > 0` }, row, ""},
		"a label that none has to keep":   {func(r *Rule) { r.Expr = `sum by (who) (rate(tabard_door_knocks_total[5m])) > 0` }, row, "no series has the label who"},
		"a metric of nobody":              {func(r *Rule) { r.Expr = "tabard_door_knocks_total > up" }, row, "up is not served"},
		"a function that is none":         {func(r *Rule) { r.Expr = "maximum(tabard_door_knocks_total) > 0" }, row, "maximum is not served"},
		"no severity":                     {func(r *Rule) { r.Labels = nil }, row, "no severity"},
		"a time that is none":             {func(r *Rule) { r.For = "soon" }, row, "no time to wait"},
		"no summary":                      {func(r *Rule) { r.Annotations["summary"] = "" }, row, "no summary"},
		"a description of one sentence":   {func(r *Rule) { r.Annotations["description"] = "Somebody knocks." }, row, "what to do"},
		"not on the page":                 {func(*Rule) {}, "", "not on the page"},
		"on the page with another time":   {func(*Rule) {}, strings.Replace(row, "5m", "6m", 1), "not on the page, with 5m"},
		"on the page, and no alert":       {func(*Rule) {}, row + "`TabardDoorOpened`", "TabardDoorOpened, which is no alert"},
		"an alert of another on the page": {func(*Rule) {}, row + "`TabardDoorbell` `TabardWindowOpen`", ""},
	} {
		rule := Rule{Alert: "TabardDoorKnocked", Expr: good, For: "5m", Labels: map[string]string{"severity": "warning"},
			Annotations: map[string]string{"summary": "Somebody knocks", "description": "Somebody is there. Open."}}
		test.change(&rule)
		var file File
		file.Groups = slices.Grow(file.Groups, 1)[:1]
		file.Groups[0].Name, file.Groups[0].Rules = "tabard-door", []Rule{rule}
		found := problems(file, test.page, served)
		if test.want == "" && len(found) > 0 || test.want != "" && !strings.Contains(strings.Join(found, "\n"), test.want) {
			t.Errorf("%s: %q, want %q", name, found, test.want)
		}
	}
}
