package credentials_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

func TestDecodeProvider(t *testing.T) {
	const group = `"apiVersion":"cloudcredential.openshift.io/v1",`
	tests := map[string]struct {
		raw     string
		missing bool
		kind    string
		err     string
		// of is what was read.
		of string
	}{
		"none":                      {"", true, "", "", ""},
		"null":                      {"null", true, "", "", ""},
		"an empty object":           {"{}", false, "", "", ""},
		"no kind":                   {`{` + group + `"statementEntries":[]}`, false, "", "", ""},
		"an unknown kind":           {`{` + group + `"kind":"VSphereProviderSpec","permissions":7}`, false, "VSphereProviderSpec", "", ""},
		"AWS":                       {`{` + group + `"kind":"AWSProviderSpec","stsIAMRoleARN":"x"}`, false, "AWSProviderSpec", "", "aws"},
		"AWS without apiVersion":    {`{"kind":"AWSProviderSpec"}`, false, "AWSProviderSpec", "", "aws"},
		"Azure":                     {`{` + group + `"kind":"AzureProviderSpec"}`, false, "AzureProviderSpec", "", "azure"},
		"GCP":                       {`{` + group + `"kind":"GCPProviderSpec"}`, false, "GCPProviderSpec", "", "gcp"},
		"a foreign group":           {`{"apiVersion":"example.com/v1","kind":"AWSProviderSpec"}`, false, "AWSProviderSpec", `"example.com/v1", expected cloudcredential.openshift.io/v1`, ""},
		"a foreign version":         {`{"apiVersion":"cloudcredential.openshift.io/v2","kind":"AWSProviderSpec"}`, false, "AWSProviderSpec", "expected cloudcredential.openshift.io/v1", ""},
		"a field of another type":   {`{"kind":"AWSProviderSpec","statementEntries":"all"}`, false, "AWSProviderSpec", "cannot be read", ""},
		"a list":                    {`[]`, false, "", "cannot be read", ""},
		"a kind that is no text":    {`{"kind":7}`, false, "", "cannot be read", ""},
		"what is no JSON at all":    {`{`, false, "", "cannot be read", ""},
		"fields that are not known": {`{"kind":"AWSProviderSpec","later":true}`, false, "AWSProviderSpec", "", "aws"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := &cloudv1.CredentialsRequest{}
			if test.raw != "" {
				request.Spec.ProviderSpec = &runtime.RawExtension{Raw: []byte(test.raw)}
			}
			got, of := credentials.DecodeProvider(request), ""
			switch {
			case got.AWS != nil:
				of = "aws"
			case got.Azure != nil:
				of = "azure"
			case got.GCP != nil:
				of = "gcp"
			}
			if got.Missing != test.missing || got.Kind != test.kind || of != test.of || (got.Error == "") != (test.err == "") || !strings.Contains(got.Error, test.err) {
				t.Errorf("read %+v, want %+v", got, test)
			}
		})
	}
}

// FuzzDecodeProvider demands that no text ends the program, in any decision.
func FuzzDecodeProvider(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", "7", statements, `{"kind":"GCPProviderSpec","audience":{}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		m := newModel(0)
		m.request.Spec.ProviderSpec = &runtime.RawExtension{Raw: []byte(raw)}
		w := m.Observe()
		credentials.Decide(w)
		w.Role = m.live("x")
		if plan := credentials.Decide(w); plan.LookLive {
			t.Errorf("a look is asked for again: %+v", plan)
		}
	})
}
