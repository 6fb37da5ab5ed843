package main

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"
)

// TestTheConditionsOfHooks evaluates those of the webhook for Open Cluster Management as the API
// server does. One that cannot be evaluated would refuse the object, for its hook must answer.
func TestTheConditionsOfHooks(t *testing.T) {
	conditions := conditionsOf(t, "tabard-ocm")
	const klusterlets, accounts = "klusterlets.ocm.tabard.dev", "serviceaccounts.ocm.tabard.dev"
	for name, test := range map[string]struct {
		hook, object string
		want         bool
	}{
		"awsirsa":                        {klusterlets, `{metadata: {}, spec: {registrationConfiguration: {registrationDriver: {authType: awsirsa}}}}`, true},
		"awsirsa with settings":          {klusterlets, `{metadata: {}, spec: {registrationConfiguration: {registrationDriver: {authType: awsirsa, awsIrsa: {hubClusterArn: x}}}}}`, true},
		"csr":                            {klusterlets, `{metadata: {}, spec: {registrationConfiguration: {registrationDriver: {authType: csr}}}}`, false},
		"no type":                        {klusterlets, `{metadata: {}, spec: {registrationConfiguration: {registrationDriver: {}}}}`, false},
		"no driver":                      {klusterlets, `{metadata: {}, spec: {registrationConfiguration: {}}}`, false},
		"no configuration":               {klusterlets, `{metadata: {}, spec: {}}`, false},
		"no spec":                        {klusterlets, `{metadata: {}}`, false},
		"awsirsa that is being deleted":  {klusterlets, `{metadata: {deletionTimestamp: "2026-05-01T12:00:00Z"}, spec: {registrationConfiguration: {registrationDriver: {authType: awsirsa}}}}`, false},
		"an account with a role":         {accounts, `{metadata: {annotations: {eks.amazonaws.com/role-arn: x}}}`, true},
		"an account with an empty role":  {accounts, `{metadata: {annotations: {eks.amazonaws.com/role-arn: ""}}}`, true},
		"an account with another note":   {accounts, `{metadata: {annotations: {a: b}}}`, false},
		"an account without annotations": {accounts, `{metadata: {}}`, false},
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(test.object), &object); err != nil {
			t.Fatal(err)
		}
		about := on("create", "operator.open-cluster-management.io", "v1", "klusterlets", "Klusterlet", "", "klusterlet", object)
		for _, asked := range []request{about, about.variant("update", func(map[string]any) {})} {
			got := conditions[test.hook].matcher.Match(t.Context(), asked.attributes(account{"default", "somebody"}), nil, nobody{})
			if got.Error != nil || got.Matches != test.want {
				t.Errorf("%s, by %s: asked %t, want %t (%v)", name, asked.verb, got.Matches, test.want, got.Error)
			}
		}
	}
}

// conditionsOf are the matchConditions of a configuration's hooks, by the hooks' names.
func conditionsOf(t *testing.T, configuration string) map[string]guard {
	t.Helper()
	w, err := parse(shipped(t))
	if err != nil {
		t.Fatal(err)
	}
	in, err := language()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]guard{}
	for _, each := range w.mutating {
		if each.Name != configuration {
			continue
		}
		for _, hook := range each.Webhooks {
			var policy admissionv1.ValidatingAdmissionPolicy
			policy.Name, policy.Spec.FailurePolicy, policy.Spec.MatchConditions = hook.Name, hook.FailurePolicy, hook.MatchConditions
			out[hook.Name] = read(policy, in)
		}
	}
	return out
}
