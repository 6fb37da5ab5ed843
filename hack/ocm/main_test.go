package main

import (
	"os"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTheVersionIsThatOfTheModule(t *testing.T) {
	text := must.Get(os.ReadFile("../../test/ocm/go.mod"))(t)
	if want := "\topen-cluster-management.io/ocm " + version + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("test/ocm/go.mod does not require %q, which names the builds", want)
	}
}
