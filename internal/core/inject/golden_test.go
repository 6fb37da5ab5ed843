package inject_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

var update = flag.Bool("update", false, "rewrite testdata/*.want.yaml")

// setup is what a *.binding.yaml file says. Settings left out are the defaults.
type setup struct {
	Settings inject.Settings `json:"settings"`
	// Annotations are those of the ServiceAccount.
	Annotations map[string]string `json:"annotations"`
	// Unknown says that there is no such ServiceAccount.
	Unknown bool `json:"unknown"`
}

func defaults() inject.Settings {
	return inject.Settings{
		AnnotationPrefix: "eks.amazonaws.com",
		Audience:         "sts.amazonaws.com",
		MountPath:        "/var/run/secrets/eks.amazonaws.com/serviceaccount",
		TokenExpiration:  86400,
	}
}

// TestGolden takes each testdata/NAME.pod.yaml through the injector set up by
// NAME.binding.yaml, and compares the pod that comes out, with the operations
// and warnings as comments above it, with NAME.want.yaml.
func TestGolden(t *testing.T) {
	t.Parallel()
	pods, err := filepath.Glob("testdata/*.pod.yaml")
	if err != nil || len(pods) == 0 {
		t.Fatalf("no testdata/*.pod.yaml: %v", err)
	}
	for _, file := range pods {
		name := strings.TrimSuffix(file, ".pod.yaml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			given := setup{Settings: defaults()}
			if err := yaml.UnmarshalStrict(readFile(t, name+".binding.yaml"), &given); err != nil {
				t.Fatalf("%s.binding.yaml: %v", name, err)
			}
			pod, err := yaml.YAMLToJSON(readFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			got := render(t, pod, injected(t, given, pod))
			if *update {
				if err := os.WriteFile(name+".want.yaml", []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(readFile(t, name+".want.yaml")), got); diff != "" {
				t.Errorf("%s.want.yaml (-want +got):\n%s", name, diff)
			}
		})
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// injected takes a pod as JSON through the injector.
func injected(t *testing.T, given setup, pod []byte) inject.Result {
	t.Helper()
	injector, err := inject.New(given.Settings)
	if err != nil {
		t.Fatal(err)
	}
	result, err := decide(injector, given, pod)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func decide(injector *inject.Injector, given setup, text []byte) (inject.Result, error) {
	object, err := raw.Parse(text)
	if err != nil {
		return inject.Result{}, err
	}
	pod, err := injector.Read(object)
	if err != nil {
		return inject.Result{}, err
	}
	if given.Unknown {
		return injector.Inject(pod, nil)
	}
	return injector.Inject(pod, &inject.ServiceAccount{Annotations: given.Annotations})
}

// apply applies a patch by an implementation of RFC 6902 that is not ours.
func apply(t *testing.T, pod, patch []byte) []byte {
	t.Helper()
	if patch == nil {
		return pod
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatalf("patch %s: %v", patch, err)
	}
	after, err := decoded.Apply(pod)
	if err != nil {
		t.Fatalf("patch %s does not apply: %v", patch, err)
	}
	return after
}

func render(t *testing.T, pod []byte, result inject.Result) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "# reason: %s\n", result.Reason)
	for _, warning := range result.Warnings {
		fmt.Fprintf(&text, "# warning: %s\n", warning)
	}
	var operations []struct{ Op, Path string }
	if result.Patch != nil {
		if err := json.Unmarshal(result.Patch, &operations); err != nil {
			t.Fatalf("patch %s: %v", result.Patch, err)
		}
	}
	for _, operation := range operations {
		fmt.Fprintf(&text, "# %s %s\n", operation.Op, operation.Path)
	}
	after, err := yaml.JSONToYAML(apply(t, pod, result.Patch))
	if err != nil {
		t.Fatal(err)
	}
	text.Write(after)
	return text.String()
}
