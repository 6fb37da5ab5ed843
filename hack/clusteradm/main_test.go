package main

import (
	"os"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTheVersionIsThatOfTheModule(t *testing.T) {
	text := must.Get(os.ReadFile("../../test/clusteradm/go.mod"))(t)
	if want := "\nrequire open-cluster-management.io/clusteradm " + version + " "; !strings.Contains(string(text), want) {
		t.Errorf("test/clusteradm/go.mod does not require %q, which names the builds", want)
	}
}
