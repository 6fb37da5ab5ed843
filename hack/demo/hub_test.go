package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestThePersonSeesTheStoryAlone: of a test that passes the story, and of one that fails also why.
func TestThePersonSeesTheStoryAlone(t *testing.T) {
	for said, want := range map[string]string{
		"\n1. A hub is up\n   it is\n\nAll 1 steps are as told, in 1.0 s.\nPASS\nok  \texample.com/hub\t2.0s\n": "\n1. A hub is up\n   it is\n\nAll 1 steps are as told, in 1.0 s.\n",
		"\n1. A hub is up\n--- FAIL: TestIt (1.00s)\n    time=2026 level=INFO msg=\"token refused\"\n    demo_test.go:7: there are 2 pods, want 1\n" +
			"    tale_test.go:9: step 1 is not as told: A hub is up\n    process.go:4: the end of what etcd said:\n        much\n    pod.go:8: more\nFAIL\nexit status 1\nFAIL\texample.com/hub\t2.0s\n": "\n1. A hub is up\n    demo_test.go:7: there are 2 pods, want 1\n    tale_test.go:9: step 1 is not as told: A hub is up\n",
	} {
		var out strings.Builder
		must.Do(t, show(&out, strings.NewReader(said)))
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("what is shown (-want +got):\n%s", diff)
		}
	}
}
