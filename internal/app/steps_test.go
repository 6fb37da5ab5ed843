package app

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestThePageNamesFilesThatExist: each file and folder that "Add a controller" of
// docs/development.md names is there, with the issuer for the NOUN. The page says how each part
// is added, in the order in which the test of the parts lists them.
func TestThePageNamesFilesThatExist(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile(toRoot + "/docs/development.md"))(t))
	_, section, found := strings.Cut(page, "\n## Add a controller\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("the page has no section for controllers")
	}
	var named []string
	for _, path := range regexp.MustCompile("`((?:\\w+/)[\\w./-]+)`").FindAllStringSubmatch(section, -1) {
		named = append(named, path[1])
		if _, err := os.Stat(filepath.Join(toRoot, strings.ReplaceAll(path[1], "NOUN", "issuer"))); err != nil {
			t.Errorf("the page names %s, which is not there: %v", path[1], err)
		}
	}
	for _, step := range []string{
		"internal/app/NOUN.go", "internal/app/operator.go", "internal/app/version.go", "charts/tabard/templates/NOUN.yaml",
		"charts/tabard/templates/rbac.yaml", "charts/tabard/values.yaml", "charts/tabard/values.schema.json", "hack/chart/manifests.go",
		"config/alerts/NOUN.yaml", "charts/tabard/templates/_helpers.tpl", "internal/controller/NOUN/alerts_test.go", "docs/index.md", "docs/security.md",
	} {
		if !slices.Contains(named, step) {
			t.Errorf("the page does not name %s", step)
		}
	}
	at := -1
	for _, each := range partNames {
		next := strings.Index(section, "**"+string(each.part)+"**")
		if next <= at {
			t.Errorf("the page does not say how the %s is added, in the order of the test", each.part)
		}
		at = next
	}
}
