package credentials

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestThePoliciesCloseTheSameNamespaces compares the code with the admission policies that hold the
// controller to it.
func TestThePoliciesCloseTheSameNamespaces(t *testing.T) {
	want := slices.Sorted(maps.Keys(closed))
	text := must.Get(os.ReadFile("../../../config/manifests/policies.yaml"))(t)
	lists := regexp.MustCompile(`!\[([^\]]*)\]\.exists\(head, request\.namespace\.startsWith\(head\)\)`).FindAllSubmatch(text, -1)
	if len(lists) != 2 {
		t.Fatalf("%d policies close namespaces, want that of ServiceAccounts and that of Secrets", len(lists))
	}
	for _, list := range lists {
		var got []string
		for _, quoted := range regexp.MustCompile(`'([^']*)'`).FindAllSubmatch(list[1], -1) {
			got = append(got, string(quoted[1]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("a policy closes %q, the controller %q", got, want)
		}
	}
}
