package kube_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func page(t testing.TB) string {
	t.Helper()
	return read(t, "../../../docs/role-selectors-for-authors.md")
}

func read(t testing.TB, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}

// pagesRules are the rights that the page says a controller needs. The tests give
// their controller no others on what it follows.
func pagesRules(t testing.TB) []rbacv1.PolicyRule {
	t.Helper()
	blocks := testkit.Blocks(page(t), "yaml")
	if len(blocks) != 1 {
		t.Fatalf("the page has %d objects; the test knows one", len(blocks))
	}
	var role rbacv1.ClusterRole
	must.Do(t, yaml.UnmarshalStrict([]byte(blocks[0]), &role))
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
	lines := 0
	for _, piece := range quoted {
		lines += len(strings.Split(strings.TrimSpace(piece), "\n"))
	}
	if lines > 30 {
		t.Errorf("role selectors cost an author %d lines, want 30 at most", lines)
	}
	code := flat(read(t, "example_test.go"))
	for _, piece := range quoted {
		if !strings.Contains(code, flat(piece)) {
			t.Errorf("the example does not have this code of the page:\n%s", piece)
		}
	}
}

// TestNobodyNeedsToRaiseTheQPS checks what the page says of the limit of requests.
func TestNobodyNeedsToRaiseTheQPS(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	testkit.WriteKubeconfig(t, file, &rest.Config{Host: "https://127.0.0.1:1", BearerToken: "x"})
	t.Setenv("KUBECONFIG", file)
	ours := must.Get(ctrl.GetConfig())(t)
	theirs := must.Get(clientcmd.BuildConfigFromFlags("", file))(t)
	if ours.QPS != -1 || theirs.QPS != 0 || rest.DefaultQPS != 5 {
		t.Errorf("ctrl.GetConfig has a QPS of %v, client-go %v and by default %v; the page says -1, 0 and 5", ours.QPS, theirs.QPS, rest.DefaultQPS)
	}
}
