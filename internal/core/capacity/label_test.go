package capacity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/capacity"
)

func TestTheArchitectureIsMergedIntoTheLabels(t *testing.T) {
	tests := map[string]struct{ labels, architecture, want string }{
		"no labels":                                {"", "amd64", "kubernetes.io/arch=amd64"},
		"others stay, sorted":                      {"custom-label=value,node-role.kubernetes.io/worker=", "amd64", "custom-label=value,kubernetes.io/arch=amd64,node-role.kubernetes.io/worker="},
		"the computed architecture wins":           {"kubernetes.io/arch=amd64,custom-label=value", "arm64", "custom-label=value,kubernetes.io/arch=arm64"},
		"blanks and empty entries go":              {"b=2, a=1 ,,", "amd64", "a=1,b=2,kubernetes.io/arch=amd64"},
		"the last of two values counts":            {"a=1,a=2", "amd64", "a=2,kubernetes.io/arch=amd64"},
		"a value may hold equals signs":            {"x=1=2", "arm64", "kubernetes.io/arch=arm64,x=1=2"},
		"entries without a value stay, at the end": {"z,a=1,y", "amd64", "a=1,kubernetes.io/arch=amd64,z,y"},
		"an empty key stays":                       {"=1", "amd64", "=1,kubernetes.io/arch=amd64"},
		"sorted as whole entries":                  {"a-b=1,a=1", "amd64", "a-b=1,a=1,kubernetes.io/arch=amd64"},
		"what is right stays as it is":             {"a=1,kubernetes.io/arch=amd64", "amd64", "a=1,kubernetes.io/arch=amd64"},
		"two architectures become one":             {"kubernetes.io/arch=x, kubernetes.io/arch=y", "arm64", "kubernetes.io/arch=arm64"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := capacity.MergeLabels(test.labels, test.architecture); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// meaning reads a labels annotation as the autoscalers do, but for the blanks
// around entries, and what they skip.
func meaning(text string) (labels map[string]string, bare []string) {
	labels = map[string]string{}
	for _, entry := range strings.Split(text, ",") {
		entry = strings.TrimSpace(entry)
		if i := strings.Index(entry, "="); i >= 0 {
			labels[entry[:i]] = entry[i+1:]
		} else if entry != "" {
			bare = append(bare, entry)
		}
	}
	return labels, bare
}

func FuzzMergeLabels(f *testing.F) {
	for _, seed := range []string{
		"", "a=1", "b=2, a=1 ,,", "a=1,a=2", "x=1=2", "z,a=1,y,z", "=,==, =", "kubernetes.io/arch=amd64", "\xff=\xfe,\u00a0a=b\u2003", "a\n=b,\tc",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, arm bool) {
		architecture := "amd64"
		if arm {
			architecture = "arm64"
		}
		merged := capacity.MergeLabels(text, architecture)
		if again := capacity.MergeLabels(merged, architecture); again != merged {
			t.Fatalf("merged twice: %q, then %q", merged, again)
		}
		want, wantBare := meaning(text)
		want["kubernetes.io/arch"] = architecture
		got, gotBare := meaning(merged)
		for key, value := range want {
			if got[key] != value {
				t.Fatalf("label %q is %q in %q, want %q as in %q", key, got[key], merged, value, text)
			}
		}
		if len(got) != len(want) || !slices.Equal(gotBare, wantBare) {
			t.Fatalf("%q has other entries than %q", merged, text)
		}
	})
}
