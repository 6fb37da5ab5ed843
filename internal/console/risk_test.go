package console

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm/installing"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTheReasonOfARiskIsChecked(t *testing.T) {
	b := open(t, server(t, Options{}))
	ask := func(text string) *http.Request {
		return b.request(http.MethodPost, "/api/v1/checks/reason", string(must.Get(json.Marshal(api.ReasonQuestion{Text: text}))(t)))
	}
	for text, flag := range map[string]string{
		"CHG-1234":                " --reason CHG-1234",
		"it's <b>known</b> $(rm)": ` --reason 'it'\''s <b>known</b> $(rm)'`,
		"-n kube-system":          " --reason '-n kube-system'",
	} {
		var got api.Reason
		out := b.do(ask(text))
		must.Do(t, json.Unmarshal(out.Body.Bytes(), &got))
		if out.Code != http.StatusOK || got != (api.Reason{Text: text, Flag: flag}) {
			t.Errorf("%q: %d %+v, want the flag %q", text, out.Code, got, flag)
		}
	}
	for text, want := range map[string]string{
		"": "the reason is empty", "a\nb": "an end of a line", "\x1b[31m": "U+001B", strings.Repeat("a", 10_000): "has 10000 characters",
	} {
		if p := refusal(t, b.do(ask(text))); p.Status != http.StatusBadRequest || p.Field != "reason" || !strings.Contains(p.Detail, want) {
			t.Errorf("%.20q: %+v, want %q", text, p, want)
		}
	}
}

// TestWhoGoesOn: a risk is taken by who accepts it, and the line about the write says why.
func TestWhoGoesOn(t *testing.T) {
	const digest = "sha256:0123"
	for name, c := range map[string]struct {
		verdict        operator.Verdict
		accept, reason string
		// want is how the line goes on after the digest; empty for a refusal of the code.
		want, code string
	}{
		"a role that is enough":   {operator.VerdictSatisfied, "", "", "verdict=Satisfied result=done", ""},
		"a reason without a risk": {operator.VerdictSatisfied, "", "why", "verdict=Satisfied result=done", ""},
		"a risk and no reason":    {operator.VerdictMissing, installing.AcceptMissing + digest, "", "", "field"},
		"a risk of the unknown":   {operator.VerdictUnknown, installing.AcceptUnknown, " ", "", "field"},
		"a risk and why":          {operator.VerdictMissing, installing.AcceptMissing + digest, `it's "known"`, `verdict=Overridden reason="it's \"known\"" result=done`, ""},
		"of another digest":       {operator.VerdictMissing, installing.AcceptMissing + "sha256:4567", "why", "", "RoleNotEnough"},
		"a reason is no yes":      {operator.VerdictUnknown, "", "why", "", "RoleUnknown"},
		"two lines":               {operator.VerdictUnknown, installing.AcceptUnknown, "a\nresult=done", "", "field"},
	} {
		t.Run(name, func(t *testing.T) {
			going, err := goingOn(c.verdict, digest, c.accept, c.reason)
			if err != nil || c.code != "" {
				if err == nil || problemOf(err).Code != c.code {
					t.Errorf("%v, want the code %q", err, c.code)
				}
				return
			}
			var log bytes.Buffer
			server(t, Options{Audit: slog.New(slog.NewTextHandler(&log, nil))}).audit("approve", "InstallPlan", "a", "b", digest, going, nil)
			if !strings.HasSuffix(log.String(), "digest="+digest+" "+c.want+"\n") {
				t.Errorf("the line is %q, want that it ends with %q", log.String(), c.want)
			}
		})
	}
}
