package console

import (
	"encoding/json"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const issuer = "https://issuer.example.com"

// shared is a cluster in token mode with a catalogue of three packages. OLM's package server is not
// played: its objects are those of a kind of the same name.
var shared = testkit.SharedCluster(testkit.ClusterOptions{
	CRDs:    []string{testkit.CRDs},
	Foreign: []testkit.ForeignKinds{testkit.OLM, testkit.OpenShiftConfig, testkit.OpenShiftCredentials},
	Schemes: []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme},
}, inTokenMode, withPackages)

// inTokenMode makes the three objects by which OpenShift says that operators take roles by tokens.
func inTokenMode(c *testkit.Cluster) {
	object(c, `{"apiVersion":"operator.openshift.io/v1","kind":"CloudCredential","metadata":{"name":"cluster"},"spec":{"credentialsMode":"Manual","managementState":"Managed"}}`)
	object(c, `{"apiVersion":"config.openshift.io/v1","kind":"Authentication","metadata":{"name":"cluster"},"spec":{"serviceAccountIssuer":"`+issuer+`"}}`)
	infrastructure := object(c, `{"apiVersion":"config.openshift.io/v1","kind":"Infrastructure","metadata":{"name":"cluster"},"spec":{"platformSpec":{"type":"AWS"}}}`)
	c.MergeStatus(infrastructure, `{"status":{"platformStatus":{"type":"AWS","aws":{"region":"us-east-1"}},"infrastructureName":"lab"}}`)
}

// object makes an object.
func object(c *testkit.Cluster, text string) *unstructured.Unstructured {
	c.Helper()
	out := &unstructured.Unstructured{}
	must.Do(c, json.Unmarshal([]byte(text), &out.Object))
	c.Make(out)
	return out
}

// withPackages serves the kind PackageManifest, and three of it.
func withPackages(c *testkit.Cluster) {
	yes := true
	c.Make(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "packagemanifests.packages.operators.coreos.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "packages.operators.coreos.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "packagemanifests", Singular: "packagemanifest", Kind: "PackageManifest", ListKind: "PackageManifestList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes},
			}}},
		},
	})
	c.MakeNamespaces("olm")
	object(c, `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"vendor","namespace":"olm"},"spec":{"sourceType":"grpc","address":"vendor:50051"}}`)
	for _, one := range packages() {
		c.Await(func() error { return c.Create(c.Context(), manifest(c, one)) })
	}
}

// offered is a package of the catalogue.
type offered struct {
	name, display, provider string
	annotations             map[string]string
	modes                   []string
}

// installModes are the modes that the package supports, as OLM lists them.
func (p offered) installModes() []any {
	var out []any
	for _, mode := range p.modes {
		out = append(out, map[string]any{"type": mode, "supported": true})
	}
	return out
}

const tokens = "features.operators.openshift.io/token-auth-"

func packages() []offered {
	own := []string{"OwnNamespace"}
	return []offered{
		{"object-keeper", "Object Keeper", "Example", map[string]string{
			tokens + "aws": "true", "categories": "Storage", "description": "Keeps objects.", "features.operators.openshift.io/disconnected": "true",
			"operatorframework.io/suggested-namespace":  "object-keeper",
			"operators.tabard.dev/credentials-requests": requests("object-keeper", "s3:GetObject", "s3:PutObject", "iam:PassRole"),
		}, own},
		{"blob-mirror", "Blob Mirror", "Example", map[string]string{tokens + "azure": "true", "categories": "Storage, Backup"}, own},
		{"quiet", "Quiet", "Another Vendor", map[string]string{"description": "Does nothing.", "operators.tabard.dev/credentials-requests": "[]"}, []string{"OwnNamespace", "SingleNamespace"}},
	}
}

// requests are what an operator declares that it asks AWS for.
func requests(account string, actions ...string) string {
	text, _ := json.Marshal([]any{map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"name": account},
		"spec": map[string]any{
			"secretRef": map[string]any{"name": account + "-aws", "namespace": "$(NAMESPACE)"}, "serviceAccountNames": []any{account},
			"providerSpec": map[string]any{"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec", "statementEntries": []any{
				map[string]any{"effect": "Allow", "action": actions, "resource": "arn:aws:s3:::objects/*"},
			}},
		},
	}})
	return string(text)
}

// manifest is the PackageManifest of a package with one channel and two versions.
func manifest(t testing.TB, p offered) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	must.Do(t, json.Unmarshal(fmt.Appendf(nil, `{"apiVersion":"packages.operators.coreos.com/v1","kind":"PackageManifest",
"metadata":{"name":%[1]q,"namespace":"olm","labels":{"catalog":"vendor","catalog-namespace":"olm"}},
"status":{"packageName":%[1]q,"catalogSource":"vendor","catalogSourceNamespace":"olm","defaultChannel":"stable","channels":[{"name":"stable","currentCSV":"%[1]s.v1.1.0",
"currentCSVDesc":{"displayName":%[2]q,"version":"1.1.0","provider":{"name":%[3]q},"installModes":%[5]s,"annotations":%[4]s},
"entries":[{"name":"%[1]s.v1.1.0","version":"1.1.0"},{"name":"%[1]s.v1.0.0","version":"1.0.0"}]}]}}`,
		p.name, p.display, p.provider, must.Get(json.Marshal(p.annotations))(t), must.Get(json.Marshal(p.installModes()))(t)), &out.Object))
	return out
}
