package inject_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// FuzzInject takes any pod through the injector, and demands that it is not
// crashed, that the patched pod is the old one and what we add, and that
// injecting a second time changes nothing.
func FuzzInject(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text, "skip,\"me\"", "true", "us-west-2", "3600")
	}
	f.Add([]byte(`{"spec":{"containers":[{"env":null}],"containers":[]}}`), "", "", "", "")
	f.Fuzz(func(t *testing.T, text []byte, skip, sts, region, expiration string) {
		given := optedIn()
		given.Settings.Region = region
		given.Annotations["eks.amazonaws.com/sts-regional-endpoints"] = sts
		given.Annotations["eks.amazonaws.com/token-expiration"] = expiration
		given.Annotations["eks.amazonaws.com/audience"] = skip
		injector, err := inject.New(given.Settings)
		if err != nil {
			t.Fatal(err)
		}
		text = canonical(text)
		first, err := decide(injector, given, text)
		if err != nil {
			return
		}
		patched := apply(t, text, first.Patch)
		if diff := cmp.Diff(decode(t, text), withoutOurs(t, decode(t, text), decode(t, patched))); diff != "" {
			t.Errorf("changed more than allowed (-before +after without ours):\n%s", diff)
		}
		second, err := decide(injector, given, patched)
		if err != nil || second.Patch != nil {
			t.Errorf("injecting again: error %v, patch %s, after %s", err, second.Patch, first.Patch)
		}
	})
}

// canonical is the text as the API server sends pods: no member is there twice,
// so that it means the same to everybody who applies a patch.
func canonical(text []byte) []byte {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return text
	}
	if written, err := json.Marshal(value); err == nil {
		return written
	}
	return text
}

func seeds(f *testing.F) [][]byte {
	f.Helper()
	pods, err := filepath.Glob("testdata/*.pod.yaml")
	if err != nil || len(pods) == 0 {
		f.Fatalf("no testdata/*.pod.yaml: %v", err)
	}
	var texts [][]byte
	for _, file := range pods {
		text, err := yaml.YAMLToJSON(readFile(f, file))
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// withoutOurs takes from a patched pod what the injector may have added: the
// first volume, the last entries of environment and mounts, each only under our
// names. What it leaves is to be the pod before.
func withoutOurs(t *testing.T, before, after any) any {
	t.Helper()
	old, ok := member(before, "spec").(map[string]any)
	spec, isMap := member(after, "spec").(map[string]any)
	if !ok || !isMap {
		return after
	}
	if volumes, ok := spec["volumes"].([]any); ok && len(volumes) == length(old["volumes"])+1 && name(volumes[0]) == inject.VolumeName {
		restore(old, spec, "volumes", volumes[1:])
	}
	for _, list := range []string{"containers", "initContainers"} {
		oldContainers, _ := old[list].([]any)
		containers, _ := spec[list].([]any)
		for i := range min(len(oldContainers), len(containers)) {
			was, _ := oldContainers[i].(map[string]any)
			is, _ := containers[i].(map[string]any)
			restoreTail(was, is, "env", "AWS_")
			restoreTail(was, is, "volumeMounts", inject.VolumeName)
		}
	}
	return after
}

// restoreTail cuts what is new at the end of a list, if its names have the
// prefix.
func restoreTail(was, is map[string]any, field, prefix string) {
	entries, ok := is[field].([]any)
	if !ok || len(entries) <= length(was[field]) {
		return
	}
	for _, entry := range entries[length(was[field]):] {
		if !strings.HasPrefix(name(entry), prefix) {
			return
		}
	}
	restore(was, is, field, entries[:length(was[field])])
}

// restore puts a list back as it was, also where it was absent or null.
func restore(was, is map[string]any, field string, entries []any) {
	old, present := was[field]
	switch {
	case !present:
		delete(is, field)
	case old == nil:
		is[field] = nil
	default:
		is[field] = entries
	}
}

func member(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

func name(value any) string {
	text, _ := member(value, "name").(string)
	return text
}

func length(value any) int {
	list, _ := value.([]any)
	return len(list)
}
