package kube_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
)

func page(t *testing.T) string {
	t.Helper()
	return read(t, "../../docs/role-selectors-for-authors.md")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pagesRules are the rights that the page says a controller needs. The tests give
// their controller no others on what it follows.
func pagesRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	blocks := testkit.Blocks(page(t), "yaml")
	if len(blocks) != 1 {
		t.Fatalf("the page has %d objects; the test knows one", len(blocks))
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(blocks[0]), &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// flat is a text without the indentation of its lines.
func flat(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(strings.TrimSpace(text), "")
}

// TestThePagesCode finds the page's code in the example that the tests run.
func TestThePagesCode(t *testing.T) {
	quoted := testkit.Blocks(page(t), "go")
	if len(quoted) < 7 {
		t.Fatalf("the page has %d pieces of code; the test has not found them", len(quoted))
	}
	code := flat(read(t, "example_test.go"))
	for _, piece := range quoted {
		if !strings.Contains(code, flat(piece)) {
			t.Errorf("the example does not have this code of the page:\n%s", piece)
		}
	}
}
