package ocm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// values are those of Open Cluster Management's charts that its templates here ask for.
var values = map[string]any{
	"Values":  map[string]any{"createBootstrapSA": true, "createBootstrapToken": false},
	"Release": map[string]any{"Namespace": OperatorNamespace},
	"Labels":  map[string]any{}, "ClusterManagerNamespace": HubNamespace,
	"RegistrationWebhook": map[string]any{"Port": 9443}, "RegistrationAPIServiceCABundle": "",
}

// rendered are the objects of a file of Open Cluster Management's module: manifests, or
// a chart's template that needs no functions of Helm.
func rendered(t testing.TB, file string) (objects []client.Object) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(testkit.OCMHub.Dir(t), file)))(t)
	var out bytes.Buffer
	must.Do(t, must.Get(template.New(file).Parse(string(text)))(t).Execute(&out, values))
	for document := range strings.SplitSeq("\n"+out.String(), "\n---\n") {
		object := &unstructured.Unstructured{}
		must.Do(t, yaml.Unmarshal([]byte(document), &object.Object))
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
	return objects
}
