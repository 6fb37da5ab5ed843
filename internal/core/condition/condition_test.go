package condition_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestListMovesATransitionOnlyWithTheStatus(t *testing.T) {
	stored := condition.List(nil, 1, noon, condition.Named{Type: "Ready", Verdict: condition.Yes("Fine", "all of %d", 3)})
	tests := map[string]struct {
		verdict condition.Verdict
		since   time.Time
	}{
		"the same again":     {condition.Yes("Fine", "all of 3"), noon},
		"another reason":     {condition.Yes("Finer", "all of 3"), noon},
		"another message":    {condition.Yes("Fine", "all of 4"), noon},
		"another status":     {condition.No("Bad", "none"), noon.Add(time.Hour)},
		"not known any more": {condition.Unknown("Unseen", "none"), noon.Add(time.Hour)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			later := noon.Add(time.Hour + 5*time.Millisecond).In(time.FixedZone("east", 3600))
			got := condition.List(stored, 2, later, condition.Named{Type: "Ready", Verdict: test.verdict})
			want := []metav1.Condition{{
				Type: "Ready", Status: test.verdict.Status, Reason: string(test.verdict.Reason), Message: test.verdict.Message,
				ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(test.since),
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if back, ok := condition.Read(got, "Ready"); !ok || back != test.verdict {
				t.Errorf("read back %+v, %t, want %+v", back, ok, test.verdict)
			}
		})
	}
}

func TestListSaysWhatThePassSaysAndNoMore(t *testing.T) {
	stored := condition.List(nil, 1, noon, condition.Named{Type: "Gone", Verdict: condition.Yes("Fine", "")})
	if got := condition.List(stored, 1, noon); len(got) != 0 {
		t.Errorf("conditions are %+v, want none", got)
	}
	if _, ok := condition.Read(nil, "Gone"); ok {
		t.Error("a condition was read that is not there")
	}
}

func TestBrokenNamesTheFirstLink(t *testing.T) {
	link := func(kind string, v condition.Verdict) condition.Named { return condition.Named{Type: kind, Verdict: v} }
	good, bad, unseen := condition.Yes("Fine", "x"), condition.No("Bad", "mend it"), condition.Unknown("Unseen", "wait")
	tests := map[string]struct {
		links []condition.Named
		want  string
	}{
		"none is broken":              {[]condition.Named{link("A", good), link("B", good)}, ""},
		"there is none":               {nil, ""},
		"one is False":                {[]condition.Named{link("A", good), link("B", bad)}, "False Bad B: mend it"},
		"the first of two":            {[]condition.Named{link("A", bad), link("B", bad)}, "False Bad A: mend it"},
		"False comes before Unknown":  {[]condition.Named{link("A", unseen), link("B", bad)}, "False Bad B: mend it"},
		"Unknown is broken by itself": {[]condition.Named{link("A", good), link("B", unseen)}, "Unknown Unseen B: wait"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := condition.Broken(test.links...)
			text := ""
			if ok {
				text = fmt.Sprintf("%s %s %s", got.Status, got.Reason, got.Message)
			}
			if text != test.want || got.IsTrue() {
				t.Errorf("it is %q, want %q", text, test.want)
			}
		})
	}
}

// TestSteady demands the same text of the same trouble at two attempts.
func TestSteady(t *testing.T) {
	refused := func(port int) error {
		return &net.OpError{
			Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET),
			Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: port}, Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 443},
		}
	}
	expired := func(now string) error {
		return errors.New("x509: certificate has expired or is not yet valid: current time " + now + " is after 2026-05-01T00:00:00Z")
	}
	tests := map[string]struct {
		first, second error
		want          string
	}{
		"a connection's own port": {refused(53412), refused(53413), "read tcp 10.0.0.2:443: read: connection reset by peer"},
		"in quotes": {fmt.Errorf("Get \"https://x\": %w", refused(1)), fmt.Errorf("Get \"https://x\": %w", refused(2)),
			`Get "https://x": read tcp 10.0.0.2:443: read: connection reset by peer`},
		"an expired certificate": {expired("2026-05-02T10:00:00Z"), expired("2026-05-02T10:00:30+02:00"),
			"x509: certificate has expired or is not yet valid: after 2026-05-01T00:00:00Z"},
		"what does not change": {errors.New("no such host -> x"), errors.New("no such host -> x"), "no such host -> x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{test.first, test.second} {
				if got := condition.Steady(err.Error()); got != test.want {
					t.Errorf("%q became %q, want %q", err, got, test.want)
				}
			}
		})
	}
}

func TestCheck(t *testing.T) {
	good := condition.Explanation{Reason: "Fine", Conditions: "Ready, Done", Meaning: "It is.", Remedy: "None."}
	changed := func(change func(*condition.Explanation)) []condition.Explanation {
		out := good
		change(&out)
		return []condition.Explanation{out}
	}
	tests := map[string]struct {
		reasons  []condition.Explanation
		declared []condition.Reason
		want     string
	}{
		"all are explained":          {[]condition.Explanation{good}, []condition.Reason{"Fine"}, ""},
		"one is forgotten":           {[]condition.Explanation{good}, []condition.Reason{"Fine", "Bad"}, "Widget: Bad is declared and not explained"},
		"one is explained twice":     {[]condition.Explanation{good, good}, []condition.Reason{"Fine"}, "Widget: Fine is explained twice"},
		"one is unknown to the code": {[]condition.Explanation{good}, nil, "Widget: Fine is explained and not declared"},
		"a remedy is no sentence": {changed(func(e *condition.Explanation) { e.Remedy = "" }), []condition.Reason{"Fine"},
			`Widget: Fine: meaning "It is.", remedy "": expected both, as sentences`},
		"a condition is made up": {changed(func(e *condition.Explanation) { e.Conditions = "Redy" }), []condition.Reason{"Fine"},
			`Widget: Fine: there is no condition "Redy"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kind := condition.Kind{Name: "Widget", Types: []condition.Type{{Name: "Ready"}, {Name: "Done"}}, Reasons: test.reasons}
			got := ""
			if err := kind.Check(test.declared); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}
