package capacity

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestThePolicyAllowsWhatIsWritten demands that the ValidatingAdmissionPolicy which
// holds the controller to its own annotations knows just these.
func TestThePolicyAllowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../../config/manifests/policies.yaml"))(t)
	_, after, ok := strings.Cut(string(text), "  - name: own\n")
	list, _, closed := strings.Cut(after, "]")
	if !ok || !closed {
		t.Fatal("the policy has no list of its own annotations")
	}
	var allowed []string
	for i, part := range strings.Split(list, "'") {
		if i%2 == 1 {
			allowed = append(allowed, part)
		}
	}
	written := append(slices.Clone(ownKeys), LabelsKey)
	slices.Sort(written)
	slices.Sort(allowed)
	if !slices.Equal(written, allowed) {
		t.Errorf("the policy allows %q, and written are %q", allowed, written)
	}
}
