package operators

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// withSilentOperator is a cluster with the operator, of which no version says what it asks for: it is
// unknown whether a role is enough.
func withSilentOperator(t *testing.T) openshift4 {
	t.Helper()
	text := bytes.ReplaceAll(installedJSON, []byte(`,\"operators.tabard.dev/credentials-requests\":\"[]\"`), nil)
	text = bytes.ReplaceAll(text, []byte(`operators.tabard.dev/credentials-requests`), []byte("removed"))
	var objects []map[string]any
	must.Do(t, json.Unmarshal(text, &objects))
	out := onAWS()
	for _, object := range objects {
		out.objects = append(out.objects, &unstructured.Unstructured{Object: object})
	}
	return out
}

// TestTheReasonOfARiskIsRecorded: an Event has it if a risk was taken, and nothing else has it.
func TestTheReasonOfARiskIsRecorded(t *testing.T) {
	const reason = `it's <b>known</b>: $(rm -rf /) "CHG-1234"`
	approve := []string{"approve", "my-operator", "-n", "my-operator", "--accept", "unknown"}
	setRole := []string{"set-role", "my-operator", "-n", "my-operator", "--accept", "unknown", "--role-arn", "arn:aws:iam::123456789012:role/"}
	to := func(role string) []string {
		return append(setRole[:len(setRole)-1:len(setRole)-1], setRole[len(setRole)-1]+role)
	}
	for name, c := range map[string]struct {
		cluster openshift4
		args    []string
		// event is the reason of the Event, and note how its note ends; empty for none.
		event, note string
		says        string
	}{
		"approve":                  {withSilentOperator(t), append(approve, "--reason", reason), "PermissionsOverridden", "approved with the verdict Unknown. Reason: " + reason, ""},
		"approve without a reason": {withSilentOperator(t), approve, "PermissionsOverridden", "approved with the verdict Unknown", ""},
		"approve without a risk":   {withOperator(), append(approve, "--reason", reason), "PermissionsApproved", "approved with the verdict NoChange", "no risk was taken: --reason was not recorded"},
		"set-role":                 {withSilentOperator(t), append(to("other"), "--reason", reason), "PermissionsOverridden", ". Reason: " + reason, ""},
		"the role is there":        {withSilentOperator(t), append(to("my-operator"), "--reason", reason), "", "", "no risk was taken: --reason was not recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			var events []*unstructured.Unstructured
			c.cluster.made = func(object *unstructured.Unstructured) { events = append(events, object) }
			got := c.cluster.run(t, "", c.args...).exits(t, 0)
			if c.says == "" && got.errOut != "" || !strings.Contains(got.errOut, c.says) {
				t.Errorf("it says %q, want %q", got.errOut, c.says)
			}
			switch {
			case c.event == "" && len(events) > 0, c.event != "" && len(events) != 1:
				t.Fatalf("it makes %v", events)
			case c.event == "":
				return
			}
			note, _, _ := unstructured.NestedString(events[0].Object, "note")
			if event := events[0].Object["reason"]; event != c.event || !strings.HasSuffix(note, c.note) {
				t.Errorf("the Event %v says %q, want %s and %q", event, note, c.event, c.note)
			}
		})
	}
}

func TestAReasonThatCannotBeRecorded(t *testing.T) {
	for reason, want := range map[string]string{
		"":                          "--reason: the reason is empty, expected why",
		"one\ntwo":                  "--reason: the reason has an end of a line (U+000A) as character 4",
		"\x1b[31mred":               "--reason: the reason has U+001B as character 1",
		strings.Repeat("a", 10_000): "--reason: the reason has 10000 characters, expected at most 500",
	} {
		for _, args := range [][]string{
			{"approve", "my-operator", "-n", "my-operator"}, {"install", "my-operator"},
			{"set-role", "my-operator", "-n", "my-operator", "--role-arn", "arn:aws:iam::123456789012:role/other"},
		} {
			cluster := withSilentOperator(t)
			cluster.made = func(object *unstructured.Unstructured) { t.Errorf("it makes %v", object) }
			got := cluster.run(t, "", append(args, "--accept", "unknown", "--reason", reason)...).exits(t, 2)
			says(t, got.errOut, want)
			silent(t, got.errOut, "\x1b")
		}
	}
}
