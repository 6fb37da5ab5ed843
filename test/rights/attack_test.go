package rights

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	secrets  = "tabard-certificate-secrets"
	webhooks = "tabard-certificate-webhooks"
	pods     = "tabard-certificate-pods"
	capacity = "tabard-capacity-annotations"
)

// attack is what somebody tries who has taken a process.
type attack struct {
	try func(context.Context, client.Client) error
	// by says what refuses it: a policy, or rbac; empty for what is allowed.
	by string
}

// merge changes an object by a merge patch.
func merge(target func() client.Object, patch string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, target(), client.RawPatch(types.MergePatchType, []byte(patch)))
	}
}

// change changes an object by a JSON patch.
func change(target func() client.Object, patch string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, target(), client.RawPatch(types.JSONPatchType, []byte(patch)))
	}
}

func create(object func() client.Object, options ...client.CreateOption) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.Create(ctx, object(), options...) }
}

// update reads a Secret, changes it and writes it back.
func update(modify func(*corev1.Secret)) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		stored := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "tabard-certificate", Name: "tabard-webhook-cert"}, stored); err != nil {
			return err
		}
		modify(stored)
		return c.Update(ctx, stored)
	}
}

func mutating() client.Object   { return hooks() }
func validating() client.Object { return warnings() }
func ofOCM() client.Object {
	return reference("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "tabard-ocm")()
}
func probe() client.Object { return pod("tabard-probe") }

// byCertificate are the attacks of somebody who has taken the controller certificate.
var byCertificate = map[string]attack{
	"a token of its namespace": {create(func() client.Object {
		return tokenSecret("tabard-certificate", "tabard-webhook-authority", "tabard-certificate")
	}), secrets},
	"a token of the issuer":    {create(func() client.Object { return tokenSecret("tabard-system", "tabard-webhook-cert", "tabard-issuer") }), "rbac"},
	"a Secret of another name": {create(func() client.Object { return secret("tabard-certificate", "other", corev1.SecretTypeTLS) }), secrets},
	"a Secret of no special type": {create(func() client.Object {
		return secret("tabard-certificate", "tabard-webhook-authority", corev1.SecretTypeOpaque)
	}), secrets},
	"a generated name": {create(func() client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-certificate", GenerateName: "tabard-webhook-cert"}}
	}), secrets},
	"an owner by which its Secret is deleted": {update(func(s *corev1.Secret) {
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "00000000-0000-0000-0000-000000000001"}}
	}), secrets},
	"a finalizer": {update(func(s *corev1.Secret) { s.Finalizers = []string{"example.com/stay"} }), secrets},
	"an annotation of an account": {update(func(s *corev1.Secret) {
		s.Annotations = map[string]string{corev1.ServiceAccountNameKey: "tabard-certificate"}
	}), secrets},
	"the content, which is its work": {update(func(s *corev1.Secret) { s.Data["ca.crt"] = []byte("x") }), ""},

	"the bundle, which is its work": {change(mutating, `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"},
		{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`), ""},
	"another server for the hook":             {change(mutating, `[{"op":"replace","path":"/webhooks/0/clientConfig","value":{"url":"https://attacker.example.com"}}]`), webhooks},
	"another path of the service":             {change(mutating, `[{"op":"replace","path":"/webhooks/0/clientConfig/service/path","value":"/x"}]`), webhooks},
	"Tabard's own pods":                       {change(mutating, `[{"op":"remove","path":"/webhooks/0/namespaceSelector"}]`), webhooks},
	"pods that are skipped":                   {change(mutating, `[{"op":"remove","path":"/webhooks/0/objectSelector"}]`), webhooks},
	"other objects":                           {change(mutating, `[{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["*"]}]`), webhooks},
	"conditions":                              {change(mutating, `[{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"x","expression":"true"}]}]`), webhooks},
	"one more hook":                           {change(mutating, `[{"op":"copy","from":"/webhooks/0","path":"/webhooks/-"},{"op":"replace","path":"/webhooks/4/name","value":"more.tabard.dev"}]`), webhooks},
	"the hooks in another order":              {change(mutating, `[{"op":"move","from":"/webhooks/0","path":"/webhooks/1"}]`), webhooks},
	"one hook less":                           {change(mutating, `[{"op":"remove","path":"/webhooks/1"}]`), webhooks},
	"no hooks":                                {change(mutating, `[{"op":"remove","path":"/webhooks"}]`), webhooks},
	"a hook that fails open":                  {change(mutating, `[{"op":"replace","path":"/webhooks/1/failurePolicy","value":"Ignore"}]`), webhooks},
	"a keeper of the configuration":           {merge(mutating, `{"metadata":{"annotations":{"cert-manager.io/inject-ca-from":"x/y"}}}`), webhooks},
	"a label of the configuration":            {merge(mutating, `{"metadata":{"labels":{"x":"y"}}}`), webhooks},
	"an owner of the configuration":           {merge(mutating, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"x","uid":"1"}]}}`), webhooks},
	"a finalizer on it":                       {merge(mutating, `{"metadata":{"finalizers":["example.com/stay"]}}`), webhooks},
	"another server for warnings":             {change(validating, `[{"op":"replace","path":"/webhooks/0/clientConfig","value":{"url":"https://attacker.example.com"}}]`), webhooks},
	"all objects sent to warnings":            {change(validating, `[{"op":"replace","path":"/webhooks/0/rules/0","value":{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}}]`), webhooks},
	"a Secret of the hub's webhook, its work": {create(func() client.Object { return secret("tabard-certificate", "tabard-ocm-cert", corev1.SecretTypeTLS) }), ""},
	"a Secret of no special type, of the hub's": {create(func() client.Object {
		return secret("tabard-certificate", "tabard-ocm-authority", corev1.SecretTypeOpaque)
	}), secrets},
	"another server for the hub's hook": {change(ofOCM, `[{"op":"replace","path":"/webhooks/0/clientConfig","value":{"url":"https://attacker.example.com"}}]`), webhooks},
	"no conditions of the hub's hook":   {change(ofOCM, `[{"op":"remove","path":"/webhooks/0/matchConditions"}]`), webhooks},
	"a dry run for the hub's, its work": {create(func() client.Object { return pod("tabard-ocm-probe") }, client.DryRunAll), ""},
	"a pod for the hub's that is made":  {create(func() client.Object { return pod("tabard-ocm-probe") }), pods},
	"a configuration of its own":        {create(func() client.Object { o := hooks(); o.Name = "more"; return o }), "rbac"},
	"the configuration deleted":         {func(ctx context.Context, c client.Client) error { return c.Delete(ctx, hooks()) }, "rbac"},
	"the policies deleted":              {func(ctx context.Context, c client.Client) error { return c.Delete(ctx, policy(secrets)) }, "rbac"},
	"a pod that is made":                {create(probe), pods},
	"a dry run of another account":      {create(func() client.Object { return pod("default") }, client.DryRunAll), pods},
	"a dry run, which is its work":      {create(probe, client.DryRunAll), ""},
	"a pod of the issuer":               {create(func() client.Object { p := pod("tabard-issuer"); p.Namespace = "tabard-system"; return p }, client.DryRunAll), "rbac"},
	"a pod in its own namespace":        {create(func() client.Object { p := pod("tabard-certificate"); p.Namespace = "tabard-certificate"; return p }, client.DryRunAll), "rbac"},
}

// policy is one by name.
func policy(name string) client.Object {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("admissionregistration.k8s.io/v1")
	object.SetKind("ValidatingAdmissionPolicy")
	object.SetName(name)
	return object
}

func group() client.Object  { return machineDeployment("workers") }
func group2() client.Object { return machineSet("workers") }

// byCapacity are those of somebody who has taken the capacity controller.
var byCapacity = map[string]attack{
	"its annotations, which are its work": {merge(group, `{"metadata":{"annotations":{"machine.openshift.io/vCPU":"2","capacity.cluster-autoscaler.kubernetes.io/labels":"a=b"}}}`), ""},
	"its annotations removed":             {merge(group, `{"metadata":{"annotations":{"machine.openshift.io/vCPU":null}}}`), ""},
	"its annotations by an apply": {func(ctx context.Context, c client.Client) error {
		applied := &unstructured.Unstructured{Object: map[string]any{}}
		applied.SetGroupVersionKind(group().GetObjectKind().GroupVersionKind())
		applied.SetNamespace("default")
		applied.SetName("workers")
		applied.SetAnnotations(map[string]string{"machine.openshift.io/vCPU": "4"})
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("capa-annotator"), client.ForceOwnership)
	}, ""},
	"the same of the Machine API":       {merge(group2, `{"metadata":{"annotations":{"machine.openshift.io/vCPU":"2"}}}`), ""},
	"how many machines there are":       {merge(group, `{"spec":{"replicas":99}}`), capacity},
	"another image":                     {merge(group, `{"spec":{"template":{"spec":{"infrastructureRef":{"name":"attackers"}}}}}`), capacity},
	"other user data":                   {merge(group, `{"spec":{"template":{"spec":{"bootstrap":{"dataSecretName":"attackers"}}}}}`), capacity},
	"another image of the Machine API":  {merge(group2, `{"spec":{"template":{"spec":{"providerSpec":{"value":{"ami":{"id":"attackers"}}}}}}}`), capacity},
	"a spec that was not there":         {merge(group2, `{"spec":{"deletePolicy":"Oldest"}}`), capacity},
	"an annotation of somebody else":    {merge(group, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":"true"}}}`), capacity},
	"an annotation of a person changed": {merge(group, `{"metadata":{"annotations":{"note":"y"}}}`), capacity},
	"an annotation of a person removed": {merge(group, `{"metadata":{"annotations":{"note":null}}}`), capacity},
	"a label":                           {merge(group, `{"metadata":{"labels":{"x":"y"}}}`), capacity},
	"an owner":                          {merge(group, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`), capacity},
	"a finalizer":                       {merge(group, `{"metadata":{"finalizers":["example.com/stay"]}}`), capacity},
	"an object made by an apply": {func(ctx context.Context, c client.Client) error {
		made := machineDeployment("made")
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(made), client.FieldOwner("capa-annotator"), client.ForceOwnership)
	}, "rbac"},
	"an object deleted": {func(ctx context.Context, c client.Client) error { return c.Delete(ctx, group()) }, "rbac"},
}

func machineDeployment(name string) *unstructured.Unstructured {
	return object("cluster.x-k8s.io/v1beta1", "MachineDeployment", name, map[string]any{
		"clusterName": "workers", "replicas": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": map[string]any{"clusterName": "workers",
			"bootstrap":         map[string]any{"dataSecretName": "userdata"},
			"infrastructureRef": map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachineTemplate", "name": "workers"}}},
	})
}

func machineSet(name string) *unstructured.Unstructured {
	return object("machine.openshift.io/v1beta1", "MachineSet", name, map[string]any{"replicas": int64(1),
		"template": map[string]any{"spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{"ami": map[string]any{"id": "ami-1"}}}}}})
}

func object(version, kind, name string, spec map[string]any) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	made.SetAPIVersion(version)
	made.SetKind(kind)
	made.SetName(name)
	made.SetNamespace("default")
	made.SetAnnotations(map[string]string{"note": "x"})
	return made
}

// TestTakenAccountsAreHeld tries every attack as the account that was taken, and what
// the account is there for.
func TestTakenAccountsAreHeld(t *testing.T) {
	w := install(t)
	w.Make(group(), group2())
	for account, attacks := range map[string]map[string]attack{
		"tabard-certificate/tabard-certificate": byCertificate, "tabard-system/tabard-capacity": byCapacity,
	} {
		namespace, name, _ := strings.Cut(account, "/")
		w.try(w.as(namespace, name), attacks)
	}
	w.Remove(group())
	w.Remove(group2())
}

// try makes each attack as an account, and demands that what is said refuses it, or that
// it is allowed.
func (w world) try(taken client.Client, attacks map[string]attack) {
	w.Helper()
	for what, attack := range attacks {
		err := attack.try(w.Context(), taken)
		if attack.by != "" {
			err = refused(err, attack.by)
		}
		if err != nil {
			w.Errorf("%s: %v", what, err)
		}
	}
}

// TestWithoutThePoliciesTheAttacksSucceed shows that it is the policies that refuse: each
// attack that one of them refuses succeeds without them. The requests are dry runs.
func TestWithoutThePoliciesTheAttacksSucceed(t *testing.T) {
	w := install(t)
	w.Make(group(), group2())
	w.withoutPolicies()
	for account, attacks := range map[string]map[string]attack{
		"tabard-certificate/tabard-certificate": byCertificate, "tabard-system/tabard-capacity": byCapacity,
		"tabard-system/tabard-credentials": byCredentials, "tabard-system/tabard-hub": byHub, "tabard-system/tabard-operators": byOperators, "tabard-system/tabard-webhookdeployment": byWebhookDeployment,
	} {
		namespace, name, _ := strings.Cut(account, "/")
		taken := client.NewDryRunClient(w.as(namespace, name))
		for what, attack := range attacks {
			if attack.by == "" || attack.by == "rbac" {
				continue
			}
			if err := attack.try(t.Context(), taken); err != nil {
				t.Errorf("%s, %s: %v", account, what, err)
			}
		}
	}
	w.Remove(group())
	w.Remove(group2())
}
