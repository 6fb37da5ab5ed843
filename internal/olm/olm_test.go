package olm

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"

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
		"spec":   map[string]any{"approved": false, "clusterServiceVersionNames": []any{"p.v1"}},
		"status": map[string]any{"phase": "RequiresApproval", "plan": []any{step}},
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
			_, bundles, whys, err := cluster(t, c.manifest, c.config).Waiting(t.Context(), "ns", "install-a")
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

func TestTheIssuerIsOpenShiftsOrTheAPIServers(t *testing.T) {
	none := errors.New("403 Forbidden")
	for name, c := range map[string]struct {
		spec       map[string]any
		discovered func() (string, error)
		want       string
	}{
		"OpenShift":                     {map[string]any{"serviceAccountIssuer": "https://a.example.com"}, func() (string, error) { return "https://b.example.com", nil }, "https://a.example.com"},
		"OpenShift without its own":     {map[string]any{}, func() (string, error) { return "https://b.example.com", nil }, "https://b.example.com"},
		"another cluster":               {nil, func() (string, error) { return "https://b.example.com", nil }, "https://b.example.com"},
		"who may not read the document": {nil, func() (string, error) { return "", none }, ""},
		"no way to read the document":   {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []runtime.Object
			if c.spec != nil {
				objects = append(objects, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "config.openshift.io/v1", "kind": "Authentication", "metadata": map[string]any{"name": "cluster"}, "spec": c.spec}})
			}
			client := Client{Objects: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), objects...)}
			if c.discovered != nil {
				client.Discovered = func(context.Context) (string, error) { return c.discovered() }
			}
			if got, err := client.Issuer(t.Context()); got != c.want || err != nil {
				t.Errorf("the issuer is %q, want %q: %v", got, c.want, err)
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

// TestARoleIsSetWhateverOLMWrites: OLM writes the status all the time, and only what the role was judged by
// counts as a change.
func TestARoleIsSetWhateverOLMWrites(t *testing.T) {
	read := operator.Subscription{Namespace: "ns", Name: "p", UID: "u", Generation: 2, InstalledCSV: "p.v1"}
	for name, c := range map[string]struct {
		uid, installed string
		generation     int64
		want           error
	}{
		"the status alone": {"u", "p.v1", 2, nil},
		"the spec":         {"u", "p.v1", 3, ErrChanged},
		"another one":      {"v", "p.v1", 2, ErrChanged},
		"an upgrade":       {"u", "p.v2", 2, ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": apiV1alpha1, "kind": "Subscription", "spec": map[string]any{"name": "p"},
				"metadata": map[string]any{"namespace": "ns", "name": "p", "uid": c.uid, "generation": c.generation},
				"status":   map[string]any{"installedCSV": c.installed, "lastUpdated": "2026-01-31T12:00:00Z"},
			}}
			fake := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), object)
			conflicts := 2
			fake.PrependReactor("update", "subscriptions", func(kubetesting.Action) (bool, runtime.Object, error) {
				conflicts--
				return conflicts >= 0, nil, apierrors.NewConflict(subscriptions.GroupResource(), "p", errors.New("the status was written"))
			})
			err := Client{Objects: fake}.SetValues(t.Context(), read, map[string]string{"ROLEARN": "new"})
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			now := must.Get(toSubscription(must.Get(fake.Resource(subscriptions).Namespace("ns").Get(t.Context(), "p", metav1.GetOptions{}))(t)))(t)
			if set := now.Env["ROLEARN"] == "new"; set != (c.want == nil) {
				t.Errorf("the variables are %v", now.Env)
			}
		})
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
		_, bundles, whys, err := cluster(t, manifest, nil).Waiting(t.Context(), "ns", "install-a")
		if err != nil || len(bundles) != 1 || bundles["p.v1"].Name != "p.v1" || (whys["p.v1"] == "") != (bundles["p.v1"].Metadata != nil) {
			t.Errorf("%v %v %v", bundles, whys, err)
		}
	})
}
