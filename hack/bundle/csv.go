package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const feature = "features.operators.openshift.io/"

// object is a part of a manifest.
type object = map[string]any

// clusterServiceVersion is the manifest by which OLM installs the bundle. The version has no v.
func clusterServiceVersion(s source, is sorted, version string) (*unstructured.Unstructured, error) {
	images, err := is.images()
	if err != nil {
		return nil, err
	}
	owned, examples, err := kinds(is.crds, s.page)
	if err != nil {
		return nil, err
	}
	kube := regexp.MustCompile(`^>=(\d+\.\d+\.\d+)-0$`).FindStringSubmatch(s.chart.KubeVersion)
	if kube == nil {
		return nil, fmt.Errorf("kubeVersion in Chart.yaml is %q, expected a least version such as >=1.31.0-0", s.chart.KubeVersion)
	}
	var related, deployments []any
	for _, image := range images {
		related = append(related, object{"name": nameOf(image), "image": image})
	}
	for _, d := range is.deployments {
		deployments = append(deployments, object{"name": d.GetName(), "label": d.GetLabels(), "spec": d.Object["spec"]})
	}
	spec := object{
		"displayName":    "Tabard",
		"description":    description,
		"version":        version,
		"maturity":       "alpha",
		"minKubeVersion": kube[1],
		"keywords":       s.chart.Keywords,
		"provider":       object{"name": "Tabard", "url": s.chart.Home},
		"links":          []any{object{"name": "Source and documentation", "url": s.chart.Home}},
		"relatedImages":  related,
		// The controllers watch all namespaces, and are in one that their AWS roles name.
		"installModes": []any{
			object{"type": "OwnNamespace", "supported": false},
			object{"type": "SingleNamespace", "supported": false},
			object{"type": "MultiNamespace", "supported": false},
			object{"type": "AllNamespaces", "supported": true},
		},
		"customresourcedefinitions": object{"owned": owned},
		"install": object{
			"strategy": "deployment",
			"spec":     object{"clusterPermissions": is.permissions, "deployments": deployments},
		},
	}
	return toUnstructured(object{
		"apiVersion": "operators.coreos.com/v1alpha1",
		"kind":       "ClusterServiceVersion",
		"metadata": object{
			"name": "tabard.v" + version,
			// The platforms of the images of a release.
			"labels":      object{"operatorframework.io/arch.amd64": "supported", "operatorframework.io/arch.arm64": "supported"},
			"annotations": annotations(s.chart, is.namespace, images, examples),
		},
		"spec": spec,
	})
}

const description = `The OIDC issuer publishes the documents by which AWS verifies the cluster's ServiceAccount tokens, and keeps
them in step with the keys of the API servers. The controller injection reports pods that run without the identity
that they should have.

Before you install it:

1. Apply prerequisites.yaml of the bundle. It has the namespace and the Roles in other namespaces, which OLM does
   not create.
2. Run tabard issuer bootstrap. The issuer's pod waits for the role that it makes, and OLM for the pod.

OLM installs no webhook of Tabard. The Cloud Credential Operator has one on AWS.
`

// annotations say what a catalogue shows. The features are those that OpenShift's
// documentation for authors of operators defines.
func annotations(c chart, namespace string, images []string, examples string) object {
	return object{
		"alm-examples":   examples,
		"capabilities":   "Basic Install",
		"categories":     "Security",
		"containerImage": images[0],
		"description":    c.Description,
		"repository":     c.Home,
		"support":        c.Home + "/issues",
		"operatorframework.io/suggested-namespace": namespace,
		// Images are mirrored by their digests: ImageDigestMirrorSet does not know tags.
		feature + "disconnected": fmt.Sprint(pinned(images)),
		// Go's own cryptography, and not the library of the platform.
		feature + "fips-compliant": "false",
		// HTTPS_PROXY and NO_PROXY, which OLM sets, are those of Go's HTTP client and of the AWS SDK.
		feature + "proxy-aware": "true",
		// There is no listener with TLS that could follow the cluster's profile.
		feature + "tls-profiles": "false",
		// These ask the console for a ROLEARN to install with. Tabard's issuer has its role from
		// tabard issuer bootstrap, without a stored key, and reads no ROLEARN.
		feature + "token-auth-aws":   "false",
		feature + "token-auth-azure": "false",
		feature + "token-auth-gcp":   "false",
		feature + "cnf":              "false",
		feature + "cni":              "false",
		feature + "csi":              "false",
	}
}

// kinds are the entries of the bundle's own kinds, and an example of each as JSON.
func kinds(crds []*unstructured.Unstructured, page string) (owned []any, examples string, err error) {
	var all []any
	for _, o := range crds {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
			return nil, "", fmt.Errorf("the CustomResourceDefinition %s: %w", o.GetName(), err)
		}
		kind := crd.Spec.Names.Kind
		for _, version := range crd.Spec.Versions {
			said, _, _ := strings.Cut(version.Schema.OpenAPIV3Schema.Description, "\n\n")
			owned = append(owned, object{
				"name": crd.Name, "kind": kind, "version": version.Name, "displayName": kind,
				"description": strings.Join(strings.Fields(said), " "),
			})
		}
		example, err := exampleOf(page, kind)
		if err != nil {
			return nil, "", err
		}
		all = append(all, example.Object)
	}
	text, err := json.MarshalIndent(all, "", "  ")
	return owned, string(text), err
}

func pinned(images []string) bool {
	for _, image := range images {
		if !strings.Contains(image, "@sha256:") {
			return false
		}
	}
	return true
}

// nameOf is the last part of an image's repository.
func nameOf(image string) string {
	name := image[strings.LastIndex(image, "/")+1:]
	return name[:strings.IndexAny(name+":", ":@")]
}

// toUnstructured lets values of Go's types be those of JSON.
func toUnstructured(o object) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write the ClusterServiceVersion: %w", err)
	}
	out := &unstructured.Unstructured{}
	return out, json.Unmarshal(text, &out.Object)
}
