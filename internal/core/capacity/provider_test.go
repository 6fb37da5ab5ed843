package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/capacity"
)

func TestATrimmedProviderSpecLeadsToTheSameDecision(t *testing.T) {
	for name, spec := range map[string]string{
		"of AWS": `{"apiVersion":"machine.openshift.io/v1beta1","kind":"AWSMachineProviderConfig","instanceType":"m5.large",
			"placement":{"region":"eu-west-1","availabilityZone":"eu-west-1a"},"credentialsSecret":{"name":"keys"},"ami":{"id":"ami-1"}}`,
		"without a kind":            `{"instanceType":"m5.large","placement":{"region":"eu-west-1"}}`,
		"without anything":          `{}`,
		"null":                      `null`,
		"none":                      ``,
		"of another cloud":          `{"kind":"AzureMachineProviderSpec","placement":"zone 1"}`,
		"of another cloud, alike":   `{"kind":"GCPMachineProviderSpec","machineType":"n1"}`,
		"with a type of wrong type": `{"kind":"AWSMachineProviderConfig","instanceType":7}`,
		"no JSON":                   `{`,
	} {
		t.Run(name, func(t *testing.T) {
			whole := capacity.World{Object: capacity.Object{Kind: capacity.MachineAPIMachineSet, ProviderSpec: []byte(spec)}}
			trimmed := whole
			trimmed.Object.ProviderSpec = capacity.TrimProviderSpec([]byte(spec))
			if diff := cmp.Diff(capacity.Decide(whole), capacity.Decide(trimmed)); diff != "" {
				t.Errorf("the decision changes (-whole +trimmed):\n%s", diff)
			}
			if want, got := capacity.SecretName(whole.Object), capacity.SecretName(trimmed.Object); got != want {
				t.Errorf("the Secret is %q, want %q", got, want)
			}
			asked, ok := capacity.Ask(whole)
			again, okAgain := capacity.Ask(trimmed)
			if asked != again || ok != okAgain {
				t.Errorf("AWS is asked %v, want %v", again, asked)
			}
		})
	}
}
