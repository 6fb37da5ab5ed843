package hubjoin

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/podstatus"
)

// FuzzWalk: whatever is seen, it does not panic; at most one link is broken, it has what mends it,
// none behind it holds, and each link says something in one line.
func FuzzWalk(f *testing.F) {
	for i := range uint64(64) {
		f.Add(uint64(1)<<i, "Error", suffixB, int64(i))
	}
	f.Add(uint64(0), "SpokeRoleMissing", "", int64(0))
	f.Fuzz(func(t *testing.T, bits uint64, text, suffix string, seconds int64) {
		findings := Walk(garbled(bits, text, suffix, seconds))
		first := slices.IndexFunc(findings, func(f Finding) bool { return f.State == Broken })
		for i, f := range findings {
			behind := first >= 0 && i > first
			switch {
			case behind != (f.State == Waits):
				t.Errorf("%d is %+v, the first broken is %d", i, f, first)
			case (f.State == Broken) != (len(f.Mend) > 0) || slices.Contains(f.Mend, ""):
				t.Errorf("%+v", f)
			case f.Text == "" || strings.ContainsAny(f.Text, "\n\r") || !utf8.ValidString(f.Text):
				t.Errorf("%+q", f)
			}
			for _, line := range f.Mend {
				if strings.Contains(line, "--region  ") || strings.Contains(line, "arn::") {
					t.Errorf("a command without its hub: %s", line)
				}
			}
		}
		if AllHold(findings) && first >= 0 {
			t.Error("all hold, and one is broken")
		}
	})
}

// garbled is a join that works, changed by each bit that is set.
func garbled(bits uint64, text, suffix string, seconds int64) Evidence {
	at := 0
	next := func() bool { at++; return bits>>(at-1)&1 == 1 }
	e := onprem()
	if next() {
		e = cluster1()
	}
	if next() {
		e = looked(e)
	}
	if next() {
		e = withSpoke(e)
	}
	for _, read := range []*Read{&e.Manager.Read, &e.Controller.Read, &e.Managed.Read, &e.Record.Read, &e.Lease.Read, &e.Works.Read} {
		garble(next, read, text)
	}
	if next() {
		e.Managed.Annotations = map[string]string{hub.SuffixAnnotation: suffix, hub.ARNAnnotation: text}
	}
	if next() {
		e.HubARN = hub.ARN{}
	}
	e.Managed.Accepted, e.Managed.Deleting = !next(), next()
	if e.Managed.LeaseSeconds = seconds; next() {
		e.Lease.Renewed = e.Now.Add(time.Duration(seconds))
	}
	for i := range e.Managed.Conditions {
		if next() {
			e.Managed.Conditions[i].Status, e.Managed.Conditions[i].Message = "False", text
		}
	}
	if next() {
		e.Record.Conditions = nil
	}
	for i := range e.Record.Conditions {
		e.Record.Conditions[i].Reason, e.Record.Conditions[i].Status = text, "Unknown"
	}
	if e.AWS != nil && next() {
		*e.AWS = AWS{Trouble: text, Account: suffix, Entry: e.AWS.Entry, Role: Role{Exists: next(), Trust: text}}
	}
	e.Works.Applied, e.Works.First = int(seconds), text
	if e.Spoke != nil {
		garbleSpoke(next, e.Spoke, text)
	}
	return e
}

func garbleSpoke(next func() bool, s *Spoke, text string) {
	for _, read := range []*Read{&s.Klusterlet.Read, &s.Namespace, &s.Secret.Read, &s.Pods} {
		garble(next, read, text)
	}
	for _, field := range []*string{&s.Klusterlet.ClusterName, &s.Klusterlet.AuthType, &s.Klusterlet.HubARN, &s.Klusterlet.ManagedARN, &s.Klusterlet.IAMConfigSecret, &s.Klusterlet.HubRole} {
		if next() {
			*field = text
		}
	}
	if next() {
		s.PodsSeen = nil
	}
	for i := range s.PodsSeen {
		if next() {
			s.PodsSeen[i] = Pod{Name: "a", App: text, Phase: text, Waiting: []podstatus.Waiting{{Container: text, Reason: text, Message: text}}}
		}
	}
}

func garble(next func() bool, read *Read, text string) {
	if next() {
		*read = Read{Exists: false, Trouble: text, Unserved: text == ""}
	}
}
