package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestVersionKnowsEachKind: what config/crd installs is what "tabard version" looks for, in a
// version that config/crd serves.
func TestVersionKnowsEachKind(t *testing.T) {
	want := map[string][]string{}
	for _, path := range must.Get(filepath.Glob("../../config/crd/*.yaml"))(t) {
		var kind struct {
			Spec struct {
				Group    string
				Names    struct{ Plural string }
				Versions []struct{ Name string }
			}
		}
		must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(path))(t), &kind))
		for _, version := range kind.Spec.Versions {
			at := kind.Spec.Group + "/" + version.Name
			want[at] = append(want[at], kind.Spec.Names.Plural)
			slices.Sort(want[at])
		}
	}
	if diff := cmp.Diff(want, kinds); diff != "" || len(want) < 3 {
		t.Errorf("kinds (-config/crd +tabard version):\n%s", diff)
	}
}
