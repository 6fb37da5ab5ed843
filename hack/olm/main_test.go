package main

import (
	"os"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTheVersionsAreThoseOfTheModule(t *testing.T) {
	text := string(must.Get(os.ReadFile("../../test/olm/go.mod"))(t))
	for _, p := range programs {
		module := manager
		if strings.HasPrefix(p.pkg, registry) {
			module = registry
		}
		if want := "\t" + module + " " + p.version; !strings.Contains(text, want) {
			t.Errorf("test/olm/go.mod does not require %q, which names the builds", want)
		}
		if want := "\t" + p.pkg + "\n"; !strings.Contains(text, want) {
			t.Errorf("test/olm/go.mod does not name the tool %q, so that its requirements may be missing", want)
		}
	}
}
