package inject_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/injectcase"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite testdata/*.want.yaml")

// setup is what a *.binding.yaml file says.
type setup struct{ injectcase.Case }

func newSetup() setup { return setup{injectcase.New()} }

// TestGolden takes each NAME.pod.yaml of testdata through the injectors set up by
// NAME.binding.yaml, and compares the pod that comes out, with the operations
// and warnings as comments above it, with NAME.want.yaml.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, file := range podFiles(t) {
		name := strings.TrimSuffix(file, ".pod.yaml")
		t.Run(strings.TrimPrefix(name, "testdata/"), func(t *testing.T) {
			t.Parallel()
			given := newSetup()
			if err := yaml.UnmarshalStrict(readFile(t, name+".binding.yaml"), &given.Case); err != nil {
				t.Fatalf("%s.binding.yaml: %v", name, err)
			}
			pod := must.Get(yaml.YAMLToJSON(readFile(t, file)))(t)
			after, notes := admitted(t, given, pod)
			got := notes + render(t, after)
			for _, each := range given.clouds(t) {
				if again, err := each.decide(given, after); err == nil && again.Patch != nil {
					t.Errorf("injected again for %s: patch %s", each.name, again.Patch)
				}
			}
			if *update {
				must.Do(t, os.WriteFile(name+".want.yaml", []byte(got), 0o600))
			}
			if diff := cmp.Diff(string(readFile(t, name+".want.yaml")), got); diff != "" {
				t.Errorf("%s.want.yaml (-want +got):\n%s", name, diff)
			}
		})
	}
}

// podFiles are the pods in testdata and its folders.
func podFiles(t testing.TB) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"testdata/*.pod.yaml", "testdata/*/*.pod.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		found = append(found, files...)
	}
	return found
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	content := must.Get(os.ReadFile(name))(t)
	return content
}

// injected takes a pod as JSON through AWS's injector.
func injected(t *testing.T, given setup, pod []byte) inject.Result {
	t.Helper()
	result := must.Get(decide(given.aws(t), given.subject(t), pod))(t)
	return result
}

// aws is AWS's injector.
func (s setup) aws(t testing.TB) *inject.Injector {
	t.Helper()
	if s.Jitter != nil {
		s.Settings.Jitter = func(int64) int64 { return *s.Jitter }
	}
	injector := must.Get(inject.New(s.Settings))(t)
	return injector
}

// subject is the one of the setup. The problems of its documents must be the ones
// that it states.
func (s setup) subject(t testing.TB) inject.Subject {
	t.Helper()
	subject, problems := s.parse()
	if diff := cmp.Diff(s.Problems, problems); diff != "" {
		t.Errorf("problems of mapping and identities (-want +got):\n%s", diff)
	}
	return subject
}

// parse is the subject and the problems of its documents.
func (s setup) parse() (inject.Subject, []string) {
	subject := inject.Subject{Namespace: s.Namespace, NamespaceLabels: s.NamespaceLabels}
	if !s.Unknown {
		subject.Account = &inject.ServiceAccount{Annotations: s.Annotations, Labels: s.Labels}
	}
	var problems, more []string
	if s.Mapping != "" {
		subject.Mapping, problems = inject.ParseMapping([]byte(s.Mapping))
	}
	subject.Identities, more = inject.ParseIdentities([]byte(s.Identities))
	return subject, append(problems, more...)
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

func render(t *testing.T, pod []byte) string {
	t.Helper()
	text := must.Get(yaml.JSONToYAML(pod))(t)
	return string(text)
}
