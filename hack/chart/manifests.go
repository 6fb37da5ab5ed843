package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

const (
	chartFolder = "charts/tabard"
	system      = "tabard-system"
)

// values are those of a chart.
type values = map[string]any

// plain is a file of config/manifests: a template of the chart, with values.
type plain struct {
	file, template string
	values         values
}

func on(components ...string) values {
	out := values{}
	for _, component := range components {
		out[component] = values{"enabled": true}
	}
	return out
}

func webhookOf(clouds ...any) values { return values{"webhook": values{"clouds": clouds}} }

// plains are all files of config/manifests. Those in the folder itself are what the pages
// install with "kubectl apply -f config/manifests"; the others are applied by name.
func plains() []plain {
	addresses := []any{"192.0.2.1/32", "192.0.2.2/32"} // RFC 5737: for documentation
	selectors := values{"roleSelectors": values{"enabled": true, "warnings": true, "report": values{"enabled": true}}}
	return []plain{
		{"00-namespace.yaml", "namespaces.yaml", values{"namespaces": values{"system": true}}},
		{"certificate.yaml", "certificate.yaml", nil},
		{"issuer.yaml", "issuer.yaml", nil},
		{"operator.yaml", "operator.yaml", nil},
		{"policies.yaml", "policies.yaml", nil},
		{"webhook.yaml", "webhook.yaml", nil},
		{"capacity/controller.yaml", "capacity.yaml", on("capacity")},
		{"clouds/webhook-all.yaml", "webhook.yaml", webhookOf("aws", "azure", "gcp")},
		{"clouds/webhook-azure.yaml", "webhook.yaml", webhookOf("azure")},
		{"clouds/webhook-gcp.yaml", "webhook.yaml", webhookOf("gcp")},
		{"credentials/controller.yaml", "credentials.yaml", on("credentials")},
		{"hub/controller.yaml", "hub.yaml", on("hub")},
		{"ocm/certificate.yaml", "certificate.yaml", on("ocm")},
		{"ocm/webhook.yaml", "ocm.yaml", on("ocm")},
		{"network/webhook-networkpolicy.yaml", "network.yaml", values{"networkPolicy": values{"enabled": true, "apiServers": addresses}}},
		{"operators/controller.yaml", "operators.yaml", on("operators")},
		{"openshift/capacity.yaml", "openshift-capacity.yaml", on("openshift", "capacity")},
		{"openshift/credentials.yaml", "openshift-credentials.yaml", values{"credentials": values{"enabled": true}, "openshift": values{"enabled": true, "payloadSecrets": payload()}}},
		{"openshift/issuer.yaml", "openshift-issuer.yaml", on("openshift")},
		{"role-selectors/capacity.yaml", "role-selectors-capacity.yaml", on("roleSelectors", "capacity")},
		{"role-selectors/policies.yaml", "role-selectors-policies.yaml", selectors},
		{"role-selectors/report.yaml", "role-selectors-report.yaml", selectors},
		{"role-selectors/rights.yaml", "role-selectors-rights.yaml", selectors},
		{"role-selectors/warnings.yaml", "role-selectors-warnings.yaml", selectors},
		{"webhookdeployment/controller.yaml", "webhookdeployment.yaml", values{"webhook": values{"enabled": false}, "webhookDeployment": values{"enabled": true}}},
	}
}

// payload are the Secrets that the CredentialsRequests of OpenShift's releases 4.14 to 4.20
// name on AWS, by namespace: those of "oc adm release extract --credentials-requests
// --cloud=aws" without the ones of preview features.
func payload() values {
	return values{
		"openshift-cloud-credential-operator":       []any{"cloud-credential-operator-iam-ro-creds"},
		"openshift-cloud-network-config-controller": []any{"cloud-credentials"},
		"openshift-cluster-csi-drivers":             []any{"ebs-cloud-credentials"},
		"openshift-image-registry":                  []any{"installer-cloud-credentials"},
		"openshift-ingress-operator":                []any{"cloud-credentials"},
		"openshift-machine-api":                     []any{"aws-cloud-credentials"},
	}
}

// plainManifests are the files of config/manifests by name.
func plainManifests(folder string) (map[string]string, error) {
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the chart %s: %w", folder, err)
	}
	out := map[string]string{}
	for _, p := range plains() {
		rendered, err := render(loaded, p.values, "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
		text := strings.Trim(rendered["tabard/templates/"+p.template], "\n")
		if text == "" {
			return nil, fmt.Errorf("%s: the chart's template %s says nothing with its values", p.file, p.template)
		}
		out[filepath.Join("config/manifests", p.file)] = "# Written by make generate from charts/tabard/templates/" + p.template + "; do not edit.\n#\n" + text + "\n"
	}
	return out, nil
}

// render renders the chart's templates, by name. The service is what makes the release,
// empty for nothing: helm says Helm.
func render(c *chart.Chart, with values, service string) (map[string]string, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"}
	release := chartutil.ReleaseOptions{Name: "tabard", Namespace: system, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, with, release, capabilities)
	if err != nil {
		return nil, err
	}
	all["Release"].(map[string]any)["Service"] = service
	return engine.Render(c, all)
}
