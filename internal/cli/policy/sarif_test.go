package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestSARIFNamesEachPlace, with the rules once and the results by their index, and with no
// result for a good file.
func TestSARIFNamesEachPlace(t *testing.T) {
	good, bad, broken := file(t, "good.json", goodTrust), file(t, "bad.json", "{\"Statement\":[\n {\"Effect\":\"allow\"},{\"Effect\":\"allow\"}]}"), file(t, "broken.json", "{")
	got := run(t, "", "check", "--kind", "trust", "--sarif", good, bad, broken)
	var report sarif
	must.Do(t, json.Unmarshal([]byte(got.out), &report))
	run := report.Runs[0]
	type place struct {
		rule, file   string
		line, column int
	}
	var places []place
	for _, r := range run.Results {
		at := r.Locations[0].PhysicalLocation
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.Message.Text == "" {
			t.Errorf("the result %+v has another rule, or no text", r)
		}
		places = append(places, place{r.RuleID, strings.TrimPrefix(at.ArtifactLocation.URI, "file://"), at.Region.StartLine, at.Region.StartColumn})
	}
	want := []place{
		{"NoPrincipal", bad, 2, 2}, {"NoAction", bad, 2, 2}, {"InvalidEffect", bad, 2, 12},
		{"NoPrincipal", bad, 2, 21}, {"NoAction", bad, 2, 21}, {"InvalidEffect", bad, 2, 31},
		{"Unusable", broken, 1, 1}, {"InvalidJSON", broken, 1, 2},
	}
	if diff := cmp.Diff(want, places, cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, got.out)
	}
	if got.code != 2 || report.Version != "2.1.0" || len(run.Tool.Driver.Rules) != 5 {
		t.Errorf("exit code %d, version %s, rules %v", got.code, report.Version, run.Tool.Driver.Rules)
	}
}

// TestSARIFHasWhatTheSchemaDemands: the required properties of SARIF 2.1.0, a level for each
// result and a sentence for each rule.
func TestSARIFHasWhatTheSchemaDemands(t *testing.T) {
	trust := file(t, "trust policy.json", strings.Replace(wideTrust, ":a:b", ":a:*", 1))
	got := run(t, "{", "check", "--kind", "trust", "--sarif", trust, "-")
	var log struct {
		Version string `json:"version"`
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string                                             `json:"name"`
					Rules []struct{ ShortDescription struct{ Text string } } `json:"rules"`
				} `json:"driver"`
			} `json:"tool"`
			Results []struct {
				RuleID, Level string
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			} `json:"results"`
		} `json:"runs"`
	}
	must.Do(t, json.Unmarshal([]byte(got.out), &log))
	driver := log.Runs[0].Tool.Driver
	if log.Version != "2.1.0" || len(log.Runs) != 1 || driver.Name == "" {
		t.Errorf("got %s", got.out)
	}
	for _, rule := range driver.Rules {
		if rule.ShortDescription.Text == "" {
			t.Errorf("a rule has no sentence: %s", got.out)
		}
	}
	var results []string
	for _, r := range log.Runs[0].Results {
		if r.Message.Text == "" {
			t.Errorf("%s has no message", r.RuleID)
		}
		uri := r.Locations[0].PhysicalLocation.ArtifactLocation.URI
		results = append(results, r.Level+" "+r.RuleID+" "+uri[strings.LastIndex(uri, "/")+1:])
	}
	want := []string{"warning NoAudience trust%20policy.json", "error LiteralWildcard trust%20policy.json", "error Unusable stdin", "error InvalidJSON stdin"}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
