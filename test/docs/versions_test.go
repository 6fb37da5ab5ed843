package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func file(t *testing.T, parts ...string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(append([]string{testkit.Root()}, parts...)...)))(t))
}

// TestTheVersionsOfThePage types the page's commands twice, where there is no cluster to ask.
func TestTheVersionsOfThePage(t *testing.T) {
	blocks := testkit.Blocks(file(t, "docs", "versions.md"), "sh")
	if len(blocks) != 1 {
		t.Fatalf("the page has %d blocks of commands, the test knows 1", len(blocks))
	}
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", blocks[0]+"\n"+blocks[0])
	shell.Env = []string{"PATH=" + filepath.Dir(testkit.Tabard(t)) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	if said, err := shell.CombinedOutput(); err != nil || strings.Count(string(said), `"kind": "Versions"`) != 2 {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestThePageOnVersionsSaysWhatTheFilesSay compares it with the chart, the modules and the CRDs.
func TestThePageOnVersionsSaysWhatTheFilesSay(t *testing.T) {
	page := file(t, "docs", "versions.md")
	for _, source := range []struct {
		file, pattern string // the version is its group
		says          string // with the version in the place of %
	}{
		{"charts/tabard/Chart.yaml", `kubeVersion: ">=(1\.\d+)\.0-0"`, "| Kubernetes | % and newer;"},
		{"localkube/go.mod", `k8s\.io/kubernetes v(\S+)`, "| %: every test with an API server"},
		{"test/ocm/go.mod", `open-cluster-management\.io/ocm v(\S+)`, "| v%: its operators, hub controller and agents."},
		{"test/clusteradm/go.mod", `open-cluster-management\.io/clusteradm v(\S+)`, "`clusteradm` v%."},
		{"iampolicy/go.mod", `\ngo (1\.\d+)`, "tabard/iampolicy` | Go % |"},
		{"awsauth/go.mod", `\ngo (1\.\d+)`, "tabard/awsauth` | Go %,"},
		{"awsauth/go.mod", `aws-sdk-go-v2 v(1\.\d+)`, "the AWS SDK of % |"},
		{"api/go.mod", `apimachinery v(0\.\d+)`, "`k8s.io/apimachinery` % |"},
		{"roleselector/go.mod", `apimachinery v(0\.\d+)`, "`k8s.io/apimachinery` % |"},
		{"roleselector/kube/go.mod", `client-go v(0\.\d+)`, "`k8s.io/client-go` %,"},
		{"roleselector/kube/go.mod", `controller-runtime v(0\.\d+)`, "controller-runtime % |"},
	} {
		found := regexp.MustCompile(source.pattern).FindStringSubmatch(file(t, source.file))
		if found == nil {
			t.Errorf("%s has nothing like %s", source.file, source.pattern)
			continue
		}
		if want := strings.ReplaceAll(source.says, "%", found[1]); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q, as %s does", want, source.file)
		}
	}
	for _, path := range must.Get(filepath.Glob(filepath.Join(testkit.Root(), "config", "crd", "*.yaml")))(t) {
		var crd apiextensionsv1.CustomResourceDefinition
		must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(path))(t), &crd))
		row := regexp.MustCompile("(?m)^\\|.*`" + crd.Spec.Names.Kind + "`.*`" + regexp.QuoteMeta(crd.Spec.Group) + "`\\) \\| `" + crd.Spec.Versions[0].Name + "` \\|")
		if len(crd.Spec.Versions) != 1 || !row.MatchString(page) {
			t.Errorf("the page's table on the API has no row for %s of %s with its versions", crd.Spec.Names.Kind, crd.Spec.Group)
		}
	}
}
