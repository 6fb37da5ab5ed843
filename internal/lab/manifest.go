package lab

import (
	"fmt"
	"maps"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/lab/private"
)

// object is a manifest in the making: the lab writes a few, and needs neither
// their types nor what those pull in.
type object = map[string]any

// issuerManifest is the OIDCIssuer that publishes this lab's issuer.
func (lab Lab) issuerManifest() object {
	return object{
		"apiVersion": "identity.tabard.dev/v1alpha1",
		"kind":       "OIDCIssuer",
		"metadata":   object{"name": "lab"},
		"spec": object{
			"url":         lab.IssuerURL(),
			"publication": object{"s3": object{"bucket": lab.Bucket, "region": Region, "create": true}},
			"providers":   []any{object{"audiences": []any{"sts.amazonaws.com"}}},
		},
	}
}

// webhookManifest registers the webhook that listens on this machine, with the
// hooks of config/manifests. The CA bundle is put in by the controller certificate. It
// sees by the hook of another host name for the same address that a new CA is trusted.
func (lab Lab) webhookManifest() object {
	const mode, skip = "tabard.dev/injection", "tabard.dev/injection-skip"
	skipped := selector(requirement("eks.amazonaws.com/skip-pod-identity-webhook", "DoesNotExist"))
	others := requirement("kubernetes.io/metadata.name", "NotIn", "tabard-system", "tabard-certificate")
	hooks := []any{
		lab.hook("pod-identity.tabard.dev", Loopback, "/mutate", object{
			"failurePolicy": "Ignore", "reinvocationPolicy": "IfNeeded",
			"namespaceSelector": selector(requirement(mode, "NotIn", "required"), others), "objectSelector": skipped,
		}),
		lab.hook("required.pod-identity.tabard.dev", Loopback, "/mutate/required", object{
			"failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
			"namespaceSelector": selector(requirement(mode, "In", "required"), requirement(skip, "NotIn", "allowed"), others),
		}),
		lab.hook("skippable.required.pod-identity.tabard.dev", Loopback, "/mutate/required/skippable", object{
			"failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
			"namespaceSelector": selector(requirement(mode, "In", "required"), requirement(skip, "In", "allowed"), others), "objectSelector": skipped,
		}),
		lab.hook("probe.tabard.dev", "localhost", "/probe", object{
			"failurePolicy":     "Fail",
			"namespaceSelector": selector(requirement("kubernetes.io/metadata.name", "In", "tabard-probe")), "objectSelector": selector(requirement("tabard.dev/probe", "In", "certificate")),
		}),
	}
	return object{
		"apiVersion": "admissionregistration.k8s.io/v1",
		"kind":       "MutatingWebhookConfiguration",
		"metadata":   object{"name": "tabard-webhook", "labels": object{"app.kubernetes.io/name": "tabard"}},
		"webhooks":   hooks,
	}
}

// hook is one that asks the webhook about new pods.
func (lab Lab) hook(name, host, path string, rest object) object {
	hook := object{
		"name":                    name,
		"clientConfig":            object{"url": fmt.Sprintf("https://%s:%d%s", host, lab.Ports.Webhook, path)},
		"sideEffects":             "None",
		"admissionReviewVersions": []any{"v1", "v1beta1"},
		"timeoutSeconds":          10,
		"rules": []any{object{
			"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"pods"},
		}},
	}
	maps.Copy(hook, rest)
	return hook
}

// selector selects what meets all requirements.
func selector(requirements ...any) object { return object{"matchExpressions": requirements} }

// requirement is one of a label.
func requirement(key, operator string, values ...any) object {
	expression := object{"key": key, "operator": operator}
	if len(values) > 0 {
		expression["values"] = values
	}
	return expression
}

// writeManifests writes what a user of the lab applies. With a node the webhook is
// reached as in any cluster, by its own manifest.
func (lab Lab) writeManifests() error {
	if err := lab.writeManifest("issuer.yaml", lab.issuerManifest()); err != nil || lab.Node != nil {
		return err
	}
	return lab.writeManifest("webhook.yaml", lab.webhookManifest())
}

// writeManifest writes a file of DIR/manifests.
func (lab Lab) writeManifest(name string, documents ...object) error {
	var out []byte
	for _, document := range documents {
		text, err := yaml.Marshal(document)
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		out = append(append(out, "---\n"...), text...)
	}
	return private.Write(lab.Path("manifests", name), out)
}

// writeKubeconfigs writes the client configurations of the administrator and of
// the components that call the API server.
func (lab Lab) writeKubeconfigs() error {
	if err := lab.writeKubeconfig(lab.Kubeconfig(), "admin"); err != nil {
		return err
	}
	holders := []string{ControllerManager}
	if lab.Node != nil {
		holders = append(holders, Scheduler, Proxy, Kubelet)
	}
	for _, holder := range holders {
		if err := lab.writeKubeconfig(lab.pki(holder+".kubeconfig"), holder); err != nil {
			return err
		}
	}
	return nil
}

func (lab Lab) writeKubeconfig(path, holder string) error {
	var user clientcmdapi.AuthInfo
	var cluster clientcmdapi.Cluster
	for file, into := range map[string]*[]byte{
		"ca.crt": &cluster.CertificateAuthorityData, holder + ".crt": &user.ClientCertificateData, holder + ".key": &user.ClientKeyData,
	} {
		data, err := os.ReadFile(lab.pki(file))
		if err != nil {
			return fmt.Errorf("write the client configuration of %s: %w", holder, err)
		}
		*into = data
	}
	cluster.Server = lab.APIServerURL()
	data, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"lab": &cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{holder: &user},
		Contexts:       map[string]*clientcmdapi.Context{"lab": {Cluster: "lab", AuthInfo: holder}},
		CurrentContext: "lab",
	})
	if err != nil {
		return fmt.Errorf("write the client configuration of %s: %w", holder, err)
	}
	return private.Write(path, data)
}
