package catalogue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

const token = "features.operators.openshift.io/token-auth-"

func codes(findings []catalogue.Finding) []catalogue.Code {
	var all []catalogue.Code
	for _, f := range findings {
		all = append(all, f.Code)
	}
	return all
}

// Scenarios 3, 4 and 5: what counts as support of a cloud's tokens.
func TestTokensOfAWSAzureAndGCP(t *testing.T) {
	const none, no, yes, claimed = catalogue.NotStated, catalogue.No, catalogue.Yes, catalogue.Claimed
	odd := []catalogue.Code{catalogue.ValueOdd}
	for name, test := range map[string]struct {
		annotations map[string]string
		want        [3]catalogue.Support
		findings    []catalogue.Code
	}{
		"scenario 3: true for AWS and false for Azure":   {map[string]string{token + "aws": "true", token + "azure": "false"}, [3]catalogue.Support{yes, no, none}, nil},
		"scenario 4: false":                              {map[string]string{token + "aws": "false"}, [3]catalogue.Support{no, none, none}, nil},
		"scenario 4: absent":                             {nil, [3]catalogue.Support{none, none, none}, nil},
		"scenario 4: True is a finding":                  {map[string]string{token + "aws": "True"}, [3]catalogue.Support{no, none, none}, odd},
		"scenario 4: yes is a finding":                   {map[string]string{token + "aws": "yes"}, [3]catalogue.Support{no, none, none}, odd},
		"scenario 4: nothing is a finding":               {map[string]string{token + "aws": ""}, [3]catalogue.Support{no, none, none}, odd},
		"scenario 4: a space is a finding":               {map[string]string{token + "aws": "true "}, [3]catalogue.Support{no, none, none}, odd},
		"scenario 5: the legacy list names no cloud":     {map[string]string{catalogue.InfrastructureFeatures: `["TokenAuth"]`}, [3]catalogue.Support{claimed, claimed, claimed}, nil},
		"scenario 5: the legacy list with a small t":     {map[string]string{catalogue.InfrastructureFeatures: `["tokenAuth"]`}, [3]catalogue.Support{claimed, claimed, claimed}, nil},
		"the legacy list may name GCP":                   {map[string]string{catalogue.InfrastructureFeatures: `["TokenAuthGCP"]`}, [3]catalogue.Support{none, none, claimed}, nil},
		"an annotation overrides the legacy list":        {map[string]string{catalogue.InfrastructureFeatures: `["TokenAuth"]`, token + "aws": "false"}, [3]catalogue.Support{no, none, none}, nil},
		"an annotation of GCP overrides the list's GCP":  {map[string]string{catalogue.InfrastructureFeatures: `["tokenAuthGCP"]`, token + "gcp": "false"}, [3]catalogue.Support{none, none, no}, nil},
		"a legacy list that is no JSON counts as absent": {map[string]string{catalogue.InfrastructureFeatures: `[TokenAuth`}, [3]catalogue.Support{none, none, none}, []catalogue.Code{catalogue.AnnotationBroken}},
	} {
		t.Run(name, func(t *testing.T) {
			got, findings := catalogue.FeaturesOf(test.annotations)
			if got.Tokens != test.want {
				t.Errorf("tokens are %v, want %v", got.Tokens, test.want)
			}
			if diff := cmp.Diff(test.findings, codes(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOtherFeatures(t *testing.T) {
	const features = "features.operators.openshift.io/"
	got, findings := catalogue.FeaturesOf(map[string]string{
		catalogue.InfrastructureFeatures: `["Disconnected", "FipsMode", "SNO", "unheard-of"]`,
		features + "disconnected":        "false",
		features + "cnf":                 "true",
		features + "csi":                 "1",
	})
	want := map[catalogue.Feature]catalogue.Support{
		catalogue.Disconnected: catalogue.No, catalogue.FIPS: catalogue.Yes, catalogue.SingleNode: catalogue.Yes,
		catalogue.CNF: catalogue.Yes, catalogue.CSI: catalogue.No, catalogue.CNI: catalogue.NotStated, catalogue.ProxyAware: catalogue.NotStated,
	}
	for f, support := range want {
		if got.Others[f] != support {
			t.Errorf("%s is %s, want %s", f, got.Others[f], support)
		}
	}
	if diff := cmp.Diff([]catalogue.Code{catalogue.ValueOdd}, codes(findings)); diff != "" {
		t.Error(diff)
	}
	if f, ok := catalogue.FeatureNamed("fips-compliant"); !ok || f != catalogue.FIPS {
		t.Errorf("fips-compliant is %v, %v", f, ok)
	}
	if _, ok := catalogue.FeatureNamed("fips"); ok {
		t.Error("fips is a name of the legacy list only")
	}
}

func TestOnlyAnEmptyListAsksForNothing(t *testing.T) {
	for text, want := range map[string]catalogue.Demand{
		`[]`: catalogue.DemandNothing, ` [ ] `: catalogue.DemandNothing, `[{"kind":"CredentialsRequest"}]`: catalogue.DemandSome,
		``: catalogue.DemandUnknown, `null`: catalogue.DemandUnknown, `{}`: catalogue.DemandUnknown, `[`: catalogue.DemandUnknown, `[] []`: catalogue.DemandUnknown,
	} {
		annotations := map[string]string{catalogue.CredentialsRequests: text}
		if got := (catalogue.Bundle{Metadata: &catalogue.Metadata{Annotations: annotations}}).Demand(); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
		if findings := catalogue.CheckAnnotations(annotations); (len(findings) > 0) != (want == catalogue.DemandUnknown) {
			t.Errorf("%q has the findings %v", text, findings)
		}
	}
	for name, b := range map[string]catalogue.Bundle{"no metadata": {}, "no annotation": {Metadata: &catalogue.Metadata{}}} {
		if got := b.Demand(); got != catalogue.DemandUnknown {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAnnotationsThatAreToBeJSON(t *testing.T) {
	findings := catalogue.CheckAnnotations(map[string]string{
		catalogue.ValidSubscription: `"a"`, "operatorframework.io/suggested-namespace-template": `{`,
		"operatorframework.io/initialization-resource": `{"kind":"Thing"}`,
	})
	want := []catalogue.Code{catalogue.AnnotationBroken, catalogue.AnnotationBroken}
	if diff := cmp.Diff(want, codes(findings)); diff != "" {
		t.Error(diff)
	}
}
