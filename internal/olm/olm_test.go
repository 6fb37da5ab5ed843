package olm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const csv = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"p.v1","annotations":{"a":"b"}},"spec":{"version":"1.0.0"}}`

// packed is a file as OLM has it in binaryData of a ConfigMap.
func packed(t *testing.T, text string) string {
	t.Helper()
	var squeezed bytes.Buffer
	to := gzip.NewWriter(&squeezed)
	must.Get(to.Write([]byte(text)))(t)
	must.Do(t, to.Close())
	inner := base64.StdEncoding.EncodeToString(squeezed.Bytes())
	return base64.StdEncoding.EncodeToString([]byte(inner))
}

// cluster has a plan whose one step has a manifest, and a ConfigMap.
func cluster(t *testing.T, manifest string, config map[string]any) Client {
	t.Helper()
	step := map[string]any{"resolving": "p.v1", "resource": map[string]any{"kind": "ClusterServiceVersion", "name": "p.v1", "manifest": manifest}}
	plan := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiV1alpha1, "kind": "InstallPlan", "metadata": map[string]any{"namespace": "ns", "name": "install-a"},
		"status": map[string]any{"plan": []any{step}},
	}}
	objects := []runtime.Object{plan}
	if config != nil {
		config["apiVersion"], config["kind"], config["metadata"] = "v1", "ConfigMap", map[string]any{"namespace": "olm", "name": "abc"}
		objects = append(objects, &unstructured.Unstructured{Object: config})
	}
	return Client{Objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{plans: "InstallPlanList"}, objects...)}
}

func TestWhatAPlanInstallsIsReadAsOLMHasIt(t *testing.T) {
	const reference = `{"kind":"ConfigMap","name":"abc","namespace":"olm","catalogSourceName":"vendor","catalogSourceNamespace":"olm"}`
	big := strings.ReplaceAll(csv, `"b"`, `"`+strings.Repeat("b", mostInflated)+`"`)
	for name, c := range map[string]struct {
		manifest string
		config   map[string]any
		why      string
	}{
		"inline":              {csv, nil, ""},
		"unpacked":            {reference, map[string]any{"data": map[string]any{"crd.yaml": "kind: CustomResourceDefinition", "csv.yaml": csv}}, ""},
		"unpacked and packed": {reference, map[string]any{"binaryData": map[string]any{"csv.yaml": packed(t, csv)}}, ""},
		"in YAML":             {reference, map[string]any{"data": map[string]any{"csv": "kind: ClusterServiceVersion\nmetadata: {name: p.v1, annotations: {a: b}}\nspec: {version: 1.0.0}\n"}}, ""},
		"no ConfigMap":        {reference, nil, "cannot be read"},
		"of another":          {reference, map[string]any{"data": map[string]any{"csv.yaml": strings.ReplaceAll(csv, "p.v1", "q.v1")}}, "does not have"},
		"broken":              {reference, map[string]any{"binaryData": map[string]any{"csv.yaml": "AAAA"}}, "does not have"},
		"a bomb":              {reference, map[string]any{"binaryData": map[string]any{"csv.yaml": packed(t, big)}}, "does not have"},
		"no JSON":             {"x", nil, "cannot be read"},
		"another step":        {"{}", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bundles, whys, err := cluster(t, c.manifest, c.config).Planned(t.Context(), "ns", operator.Plan{Name: "install-a", CSVs: []string{"p.v1"}})
			if err != nil {
				t.Fatal(err)
			}
			if why := whys["p.v1"]; c.why == "" && why != "" || !strings.Contains(why, c.why) {
				t.Errorf("it says %q, want %q", why, c.why)
			}
			b := bundles["p.v1"]
			if c.why == "" && name != "another step" && (b.Version != "1.0.0" || b.Metadata.Annotations["a"] != "b") {
				t.Errorf("it is %+v", b)
			}
			if c.why != "" && b.Metadata != nil {
				t.Errorf("it is %+v", b)
			}
		})
	}
}

func TestOnlyTheRolesVariablesAreReplaced(t *testing.T) {
	for has, want := range map[string]string{
		`[]`: `[{"name":"ROLEARN","value":"new"}]`,
		`[{"name":"A","value":"1"},{"name":"ROLEARN","value":"old"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]`: `[{"name":"A","value":"1"},{"name":"ROLEARN","value":"new"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]`,
		`[{"name":"ROLEARN","value":"old"},{"name":"ROLEARN","value":"older"}]`:                                                           `[{"name":"ROLEARN","value":"new"}]`,
		`[{"name":"CLIENTID","value":"c"},{"name":"REGION","value":"r"}]`:                                                                 `[{"name":"REGION","value":"r"},{"name":"ROLEARN","value":"new"}]`,
		`[{"name":"ROLEARN","valueFrom":{"secretKeyRef":{"name":"a","key":"b"}}}]`:                                                        `[{"name":"ROLEARN","value":"new"}]`,
	} {
		var env, expected []any
		must.Do(t, json.Unmarshal([]byte(has), &env))
		must.Do(t, json.Unmarshal([]byte(want), &expected))
		if diff := cmp.Diff(expected, merged(env, map[string]string{"ROLEARN": "new"})); diff != "" {
			t.Errorf("%s: %s", has, diff)
		}
	}
}

func TestARoleByReferenceIsSeen(t *testing.T) {
	for config, want := range map[string]bool{
		`{"env":[{"name":"ROLEARN","value":"x"}]}`:                                                       false,
		`{"env":[{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}`:                false,
		`{"env":[{"name":"ROLEARN","valueFrom":{"secretKeyRef":{"name":"a","key":"b"}}}]}`:               true,
		`{"envFrom":[{"configMapRef":{"name":"a"}}]}`:                                                    true,
		`{"env":[{"name":"ROLEARN","value":"x"},{"name":"ROLEARN","valueFrom":{"configMapKeyRef":{}}}]}`: true,
	} {
		var object unstructured.Unstructured
		must.Do(t, json.Unmarshal(fmt.Appendf(nil, `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"p"},"spec":{"name":"p","config":%s}}`, config), &object.Object))
		got, err := toSubscription(&object)
		if err != nil || got.References != want {
			t.Errorf("%s: %v %v", config, got.References, err)
		}
	}
}

// FuzzManifest: whatever stands in a plan, there is an answer, and never what is of another version.
func FuzzManifest(f *testing.F) {
	f.Add(csv)
	f.Add(`{"kind":"ConfigMap","name":"abc","namespace":"olm","catalogSourceName":"v","catalogSourceNamespace":"o"}`)
	f.Add(`{"spec":{"install":{"spec":{"deployments":[{"name":1}]}}}}`)
	f.Add("")
	f.Fuzz(func(t *testing.T, manifest string) {
		bundles, whys, err := cluster(t, manifest, nil).Planned(t.Context(), "ns", operator.Plan{Name: "install-a", CSVs: []string{"p.v1"}})
		if err != nil || len(bundles) != 1 || bundles["p.v1"].Name != "p.v1" || (whys["p.v1"] == "") != (bundles["p.v1"].Metadata != nil) {
			t.Errorf("%v %v %v", bundles, whys, err)
		}
	})
}
