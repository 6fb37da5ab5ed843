package webhook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/injectcase"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// fixtures are where those of the decisions' tests are.
const fixtures = "../../internal/core/inject/testdata"

// fixture is a pod, what is said of its ServiceAccount, and what it is to become.
type fixture struct {
	// Case is what stands in NAME.binding.yaml.
	injectcase.Case

	pod, want object
	// warnings come with the pod; refusal is why it is refused, if it is.
	warnings []string
	refusal  string
}

// object is a pod, whatever it holds.
type object map[string]any

// fixtureNames are those of all fixtures, such as azure/01-labelled.
func fixtureNames(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.pod.yaml", "*/*.pod.yaml"} {
		files, err := filepath.Glob(filepath.Join(fixtures, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, file := range files {
			name := must.Get(filepath.Rel(fixtures, strings.TrimSuffix(file, ".pod.yaml")))(t)
			names = append(names, name)
		}
	}
	return names
}

func readFixture(t *testing.T, name string) fixture {
	t.Helper()
	found := fixture{Case: injectcase.New()}
	found.Clouds = []string{"aws"}
	read(t, name+".binding.yaml", &found.Case)
	read(t, name+".pod.yaml", &found.pod)
	for line := range strings.Lines(read(t, name+".want.yaml", &found.want)) {
		if warning, ok := strings.CutPrefix(line, "# warning: "); ok {
			found.warnings = append(found.warnings, strings.TrimSpace(warning))
		}
		if refusal, ok := strings.CutPrefix(line, "# refused: "); ok {
			found.refusal = strings.TrimSpace(refusal)
		}
	}
	if found.Jitter != nil {
		found.Settings.Jitter = func(int64) int64 { return *found.Jitter }
	}
	found.pod.complete(found.Namespace)
	found.want.complete(found.Namespace)
	return found
}

func read(t *testing.T, name string, into any) (text string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(fixtures, name))
	if err == nil {
		err = yaml.UnmarshalStrict(content, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(content)
}

// complete adds what an API server demands of every pod, where it is missing. The
// namespace must be that of the request.
func (o object) complete(namespace string) {
	metadata, _ := o["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		o["metadata"] = metadata
	}
	if metadata["name"] == nil && metadata["generateName"] == nil {
		metadata["name"] = "nameless"
	}
	o["apiVersion"], o["kind"], metadata["namespace"] = "v1", "Pod", namespace
}

// account is the name of the ServiceAccount that the fixture tells of.
func (f fixture) account() string {
	spec, _ := f.pod["spec"].(map[string]any)
	if name, ok := spec["serviceAccountName"].(string); ok && name != "" {
		return name
	}
	return "default"
}

func (o object) json(t *testing.T) []byte {
	t.Helper()
	text := must.Get(json.Marshal(o))(t)
	return text
}
