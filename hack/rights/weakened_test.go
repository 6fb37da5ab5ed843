package main

import (
	"bytes"
	"maps"
	"strings"
	"testing"
)

const policies = "../../config/manifests/policies.yaml"

// TestAWeakerPolicyIsFound takes a line out of the policies and the hooks, each time
// another, and demands that what it held open is found.
func TestAWeakerPolicyIsFound(t *testing.T) {
	tests := map[string]struct{ file, old, by, want string }{
		"Secrets of any type":                   {policies, "object.?type.orValue('Opaque') == 'kubernetes.io/tls'", "true", ""}, // the annotation that says whose token is refused, too
		"Secrets with owners":                   {policies, "(object.metadata.?ownerReferences.orValue([]).size() == 0", "(true", "a Secret of any type"},
		"Secrets that it may delete and make":   {policies, "- expression: request.operation != 'DELETE'", "- expression: 'true'", ""},
		"another account":                       {policies, "request.userInfo.username == 'system:serviceaccount:tabard-certificate:tabard-certificate'", "request.userInfo.username == 'system:serviceaccount:tabard-system:tabard-operator'", everybody},
		"a policy that only warns":              {policies, "validationActions: [Deny]", "validationActions: [Warn]", everybody},
		"a policy with a parameter":             {policies, "  failurePolicy: Fail\n", "  failurePolicy: Fail\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n", everybody},
		"a policy for some objects":             {policies, "  matchConstraints:\n", "  matchConstraints:\n    objectSelector: {matchLabels: {a: b}}\n", everybody},
		"no bindings":                           {policies, "kind: ValidatingAdmissionPolicyBinding", "kind: ConfigMap", everybody},
		"creation alone":                        {policies, "operations: [CREATE, UPDATE, DELETE]", "operations: [CREATE]", everybody},
		"other kinds of configurations":         {policies, "    - apiGroups: [admissionregistration.k8s.io]", "    - apiGroups: [other.example.com]", everybody},
		"hooks that may be added":               {policies, "variables.hooks.map(hook, hook.name) == variables.oldHooks.map(hook, hook.name)\n      && ", "", everybody},
		"fields of hooks":                       {policies, "&& hook.all(key, key == 'clientConfig' || (key in old && hook[key] == old[key]))", "", everybody},
		"fields of hooks that are gone":         {policies, "      && old.all(key, key in hook)\n", "", everybody},
		"servers of hooks":                      {policies, "&& hook.clientConfig.all(key, key == 'caBundle' || (key in old.clientConfig && hook.clientConfig[key] == old.clientConfig[key]))", "", everybody},
		"metadata of configurations":            {policies, "|| (key in variables.oldMetadata && variables.metadata[key] == variables.oldMetadata[key]))\n      && variables.oldMetadata.all(key, key in variables.metadata || key == 'managedFields')", "|| true)", everybody},
		"pods that are made":                    {policies, "&& request.?dryRun.orValue(false) ", "", "tabard-probe/tabard-probe"},
		"machines":                              {policies, "key == 'metadata' || (key in variables.old && variables.new[key] == variables.old[key])", "true", everybody},
		"fields of machines that are gone":      {policies, "      && variables.old.all(key, key in variables.new)\n", "", everybody},
		"metadata of machines":                  {policies, "|| (key in variables.oldMetadata && variables.metadata[key] == variables.oldMetadata[key]))\n      && variables.oldMetadata.all(key, key in variables.metadata || key in ['annotations', 'managedFields'])", "|| true)", everybody},
		"annotations of others":                 {policies, "|| (key in variables.oldAnnotations && variables.annotations[key] == variables.oldAnnotations[key]))", "|| true)", everybody},
		"annotations of others that are gone":   {policies, "      && variables.oldAnnotations.all(key, key in variables.annotations || key in variables.own)\n", "", everybody},
		"the controller of the hub":             {policies, "'system:serviceaccount:tabard-system:tabard-hub'", "'system:serviceaccount:tabard-system:tabard-operator'", clusters},
		"finalizers of clusters":                {policies, "variables.finalizers.filter(f, f != 'identity.tabard.dev/hub-access')\n      == variables.oldFinalizers.filter(f, f != 'identity.tabard.dev/hub-access')", "true", clusters},
		"finalizers of clusters that are added": {policies, "variables.finalizers.filter(f, f != 'identity.tabard.dev/hub-access')\n      == variables.oldFinalizers.filter(f, f != 'identity.tabard.dev/hub-access')", "variables.oldFinalizers.all(f, f in variables.finalizers)", clusters},
		"fields of clusters":                    {policies, "variables.new.all(key, key in ['metadata']\n      || (key in variables.old && variables.new[key] == variables.old[key]))", "true", clusters},
		"fields of clusters that are gone":      {policies, "      && variables.old.all(key, key in variables.new || key in ['metadata'])\n", "", clusters},
		"metadata of clusters":                  {policies, "key in ['finalizers', 'managedFields', 'resourceVersion', 'generation']\n", "true\n", clusters},
		"metadata of clusters that is gone":     {policies, "key in variables.metadata || key in ['finalizers',", "true || key in ['finalizers',", clusters},
		"the controller operators":              {policies, "'system:serviceaccount:tabard-system:tabard-operators'", "'system:serviceaccount:tabard-system:tabard-operator'", everybody},
		"checks that are overridden":            {policies, "(NotToken|Unknown) (sha256", "(NotToken|Unknown|Overridden) (sha256", everybody},
		"annotations of plans":                  {policies, "variables.annotations.all(key, key == 'operators.tabard.dev/permission-check'\n", "variables.annotations.all(key, true\n", everybody},
		"annotations of plans that are gone":    {policies, "      && variables.oldAnnotations.all(key, key in variables.annotations)\n    reason: Forbidden\n    message: the controller operators", "    reason: Forbidden\n    message: the controller operators", everybody},
		"annotations of ServiceAccounts":        {policies, "variables.annotations.all(key, key in ['eks.amazonaws.com/role-arn', 'identity.tabard.dev/credentials-request']\n", "variables.annotations.all(key, true\n", everybody},
		"labels of ServiceAccounts":             {policies, "variables.labels.all(key, (key == 'identity.tabard.dev/credentials' && request.operation == 'CREATE')\n", "variables.labels.all(key, true\n", everybody},
		"ServiceAccounts of nobody's request":   {policies, "'identity.tabard.dev/credentials-request' in variables.annotations || 'identity.tabard.dev/credentials-request' in variables.oldAnnotations\n", "true\n", everybody},
		"ServiceAccounts that it did not make":  {policies, "request.operation != 'DELETE' || ('identity.tabard.dev/credentials-request' in variables.oldAnnotations\n      && variables.oldLabels.exists(key, key == 'identity.tabard.dev/credentials' && variables.oldLabels[key] == 'true'))", "true", everybody},
		"finalizers of requests":                {policies, "variables.finalizers.all(f, f == 'identity.tabard.dev/credentials' || f in variables.oldFinalizers)", "true", minted},
		"a webhook that is asked about Tabard's pods": {"../../config/manifests/webhook.yaml",
			"    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [tabard-system, tabard-certificate]}\n", "    - {key: a, operator: Exists}\n", "tabard-system/tabard-issuer"},
		"a webhook of the hub that is asked about Tabard's pods": {"../../config/manifests/ocm/webhook.yaml",
			"    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [tabard-system, tabard-certificate, tabard-probe]}\n", "    - {key: a, operator: Exists}\n", "tabard-system/tabard-issuer"},
		"a webhook that is asked about more than Klusterlets": {"../../config/manifests/ocm/webhook.yaml", "resources: [klusterlets]", "resources: ['*']", "tabard-system/tabard-issuer"},
		"a webhook that is asked in namespaces":               {"../../config/manifests/ocm/webhook.yaml", "scope: Cluster", "scope: '*'", "tabard-system/tabard-issuer"},
		"a webhook that is asked about the controller's":      {"../../config/manifests/webhook.yaml", "values: [tabard-system, tabard-certificate]", "values: [tabard-system]", "tabard-certificate/tabard-certificate"},
	}
	clean := shipped(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := clean[test.file]
			if !bytes.Contains(text, []byte(test.old)) {
				t.Fatalf("%s has no %q", test.file, test.old)
			}
			weaker := maps.Clone(clean)
			weaker[test.file] = bytes.ReplaceAll(text, []byte(test.old), []byte(test.by))
			found := strings.Join(ways(t, weaker), "\n")
			if test.want == "" { // the second of two lines
				if found != "" {
					t.Errorf("found %s, which something else refuses", found)
				}
				return
			}
			if !strings.Contains(found, "becomes "+test.want) {
				t.Errorf("not found; there is %q", found)
			}
		})
	}
}

// TestTwoLinesHoldTheTypeOfASecret takes both out.
func TestTwoLinesHoldTheTypeOfASecret(t *testing.T) {
	texts := shipped(t)
	weaker := strings.NewReplacer("object.?type.orValue('Opaque') == 'kubernetes.io/tls'", "true", "!key.startsWith('kubernetes.io/')", "true").Replace(string(texts[policies]))
	texts[policies] = []byte(weaker)
	if found := strings.Join(ways(t, texts), "\n"); !strings.Contains(found, "becomes tabard-certificate/tabard-certificate, for ever") {
		t.Errorf("not found; there is %q", found)
	}
}

// TestAPolicyThatCannotBeEvaluatedIsAnError and is not taken for one that refuses.
func TestAPolicyThatCannotBeEvaluatedIsAnError(t *testing.T) {
	texts := shipped(t)
	texts[policies] = bytes.Replace(texts[policies], []byte("- expression: request.operation != 'DELETE'"), []byte("- expression: object.nothing.nothing == 1"), 1)
	w, err := parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.search(); err == nil || !strings.Contains(err.Error(), "cannot be evaluated") {
		t.Errorf("the error is %v", err)
	}
}
