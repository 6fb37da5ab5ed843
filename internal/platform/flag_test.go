package platform

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	core "github.com/tabard-dev/tabard/internal/core/platform"
)

func TestFlags(t *testing.T) {
	tests := map[string]struct {
		args []string
		want core.Override
		fail string
	}{
		"nothing": {nil, core.Override{Platform: core.Auto, Operator: core.Detect}, ""},
		"plain Kubernetes": {
			[]string{"--platform=Kubernetes", "--cloud-credential-operator=absent", "--infrastructure-name=lab-1", "--region=eu-central-1"},
			core.Override{Platform: core.Kubernetes, Operator: core.Absent, Infrastructure: "lab-1", Region: "eu-central-1"}, "",
		},
		"OpenShift":                       {[]string{"--platform=OpenShift", "--cloud-credential-operator=present"}, core.Override{Platform: core.OpenShift, Operator: core.Present}, ""},
		"a platform that is none":         {[]string{"--platform=openshift"}, core.Override{}, "--platform=openshift: expected one of [Auto OpenShift Kubernetes]"},
		"no platform":                     {[]string{"--platform="}, core.Override{}, "expected one of"},
		"an operator that is neither":     {[]string{"--cloud-credential-operator=true"}, core.Override{}, "expected one of [auto present absent]"},
		"a name that no role begins with": {[]string{"--infrastructure-name=a/b"}, core.Override{}, "--infrastructure-name=a/b: expected"},
		"a name with a wildcard":          {[]string{"--infrastructure-name=*"}, core.Override{}, "--infrastructure-name=*: expected"},
		"a name that is too long":         {[]string{"--infrastructure-name=" + strings.Repeat("a", 28)}, core.Override{}, "27"},
		"the longest name":                {[]string{"--infrastructure-name=" + strings.Repeat("a", 27)}, core.Override{Platform: core.Auto, Operator: core.Detect, Infrastructure: strings.Repeat("a", 27)}, ""},
		"a region that is none":           {[]string{"--region=Frankfurt"}, core.Override{}, "--region=Frankfurt: expected"},
		"a name for OpenShift":            {[]string{"--platform=OpenShift", "--infrastructure-name=lab"}, core.Override{}, "the Infrastructure has both"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var f Flags
			set := pflag.NewFlagSet("test", pflag.ContinueOnError)
			f.Add(set)
			if err := set.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			got, err := f.Override()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("override (-want +got):\n%s", diff)
			}
			if (err == nil) != (test.fail == "") || err != nil && !strings.Contains(err.Error(), test.fail) {
				t.Errorf("error %v, want %q", err, test.fail)
			}
		})
	}
}
