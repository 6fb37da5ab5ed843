package main

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ocmObject is what the tests below look at of an object.
type ocmObject struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Rules    []struct {
		APIGroups, Resources, ResourceNames, Verbs []string
	}
	Spec struct {
		Template struct {
			Spec struct{ Containers []struct{ Args []string } }
		}
	}
	Webhooks []struct {
		Name, FailurePolicy, ReinvocationPolicy string
		ClientConfig                            struct{ Service struct{ Name, Path string } }
		ObjectSelector                          struct{ MatchLabels map[string]string }
	}
}

// objectsOf are the objects of rendered templates by kind, namespace and name.
func objectsOf(t *testing.T, rendered map[string]string) map[string]ocmObject {
	t.Helper()
	out := map[string]ocmObject{}
	for file, text := range rendered {
		if strings.HasSuffix(file, "NOTES.txt") {
			continue
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			var object ocmObject
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			out[object.Kind+" "+object.Metadata.Namespace+"/"+object.Metadata.Name] = object
		}
	}
	return out
}

// TestTheWebhookOfOCMComesWithItsCertificate: what the controller certificate may do for it, and
// its flag, are there only where the component is on.
func TestTheWebhookOfOCMComesWithItsCertificate(t *testing.T) {
	c := load(t)
	for _, webhook := range []bool{true, false} {
		for _, enabled := range []bool{true, false} {
			rendered, err := render(c, values{"webhook": values{"enabled": webhook}, "ocm": values{"enabled": enabled}}, "Helm")
			if err != nil {
				t.Fatal(err)
			}
			all := objectsOf(t, rendered)
			for _, name := range []string{
				"ClusterRole /tabard-certificate-ocm", "ClusterRoleBinding /tabard-certificate-ocm", "Role tabard-certificate/tabard-certificate-ocm",
				"RoleBinding tabard-certificate/tabard-certificate-ocm", "ClusterRole /tabard-ocm", "Role tabard-certificate/tabard-ocm",
				"Service tabard-system/tabard-ocm", "Service tabard-system/tabard-ocm-probe", "ServiceAccount tabard-probe/tabard-ocm-probe",
				"Deployment tabard-system/tabard-ocm", "PodDisruptionBudget tabard-system/tabard-ocm", "MutatingWebhookConfiguration /tabard-ocm",
			} {
				if _, there := all[name]; there != enabled {
					t.Errorf("with ocm.enabled %t there is a %s: %t", enabled, name, there)
				}
			}
			keeper, there := all["Deployment tabard-certificate/tabard-certificate"]
			if there != (webhook || enabled) {
				t.Errorf("with webhook.enabled %t and ocm.enabled %t, that a certificate is kept is %t", webhook, enabled, there)
			}
			if there && slices.Contains(keeper.Spec.Template.Spec.Containers[0].Args, "--certificate-ocm") != enabled {
				t.Errorf("with ocm.enabled %t the arguments of tabard-certificate are %v", enabled, keeper.Spec.Template.Spec.Containers[0].Args)
			}
		}
	}
}

// TestTheHooksOfOCM reach the component, and its probe hook knows its own dry runs only.
func TestTheHooksOfOCM(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	rendered, err := render(load(t), values{"ocm": values{"enabled": true}, "image": values{"pullPolicy": "Always", "digests": values{"tabard-eks-token": digest}}}, "Helm")
	if err != nil {
		t.Fatal(err)
	}
	all := objectsOf(t, rendered)
	var got []string
	for _, hook := range all["MutatingWebhookConfiguration /tabard-ocm"].Webhooks {
		got = append(got, strings.Join([]string{hook.Name, hook.ClientConfig.Service.Name + hook.ClientConfig.Service.Path, hook.FailurePolicy, hook.ReinvocationPolicy, hook.ObjectSelector.MatchLabels["tabard.dev/probe"]}, " "))
	}
	want := []string{
		"klusterlets.ocm.tabard.dev tabard-ocm/klusterlets Fail IfNeeded ", "pods.ocm.tabard.dev tabard-ocm/pods Fail IfNeeded ",
		"serviceaccounts.ocm.tabard.dev tabard-ocm/serviceaccounts Fail IfNeeded ", "probe.tabard.dev tabard-ocm-probe/probe Fail Never ocm",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the hooks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	args := all["Deployment tabard-system/tabard-ocm"].Spec.Template.Spec.Containers[0].Args
	if image := "--token-image=ghcr.io/tabard-dev/tabard-eks-token@" + digest; args[0] != "ocm-webhook" || !slices.Contains(args, image) || !slices.Contains(args, "--token-image-pull-policy=Always") {
		t.Errorf("the arguments are %v, want ocm-webhook with %s, and its pull policy", args, image)
	}
	for _, rule := range all["ClusterRole /tabard-ocm"].Rules {
		if !slices.Equal(rule.APIGroups, []string{"operator.open-cluster-management.io"}) || !slices.Equal(rule.Verbs, []string{"get", "list", "watch"}) {
			t.Errorf("everywhere it may %v of %v", rule.Verbs, rule.APIGroups)
		}
	}
}
