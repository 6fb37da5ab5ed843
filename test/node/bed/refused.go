package bed

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// Refused are the journal's calls, by whomever, that asked for a session of a role or
// for something in its bucket and did not get it. A call by a session that has ended
// has no caller, so what it was about tells whose it was.
func (b *Bed) Refused(role Role) []onlab.Call {
	b.t.Helper()
	all := must.Get(b.Journal(b.t.Context()))(b.t)
	return slices.DeleteFunc(all, func(call onlab.Call) bool {
		about := call.Resource == role.ARN || strings.HasPrefix(call.Resource, "arn:aws:s3:::"+role.Bucket+"/")
		return !about || call.Status < 400
	})
}

// SaysNothingBut fails the test for each line of a container without a text: what
// its calls met before they came to AWS is in no journal.
func (b *Bed) SaysNothingBut(namespace, pod, container, text string) {
	b.t.Helper()
	lines := must.Get(b.Said(b.t.Context(), namespace, pod, container))(b.t)
	for _, line := range lines {
		if !strings.Contains(line, text) {
			b.t.Errorf("%s/%s %s printed %q", namespace, pod, container, line)
		}
	}
}
