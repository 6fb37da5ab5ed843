package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheSecondCertificateIsKeptWhenAskedFor, and the first is as it was.
func TestTheSecondCertificateIsKeptWhenAskedFor(t *testing.T) {
	t.Parallel()
	first := certificate.Options{Namespace: "tabard-certificate", Previous: types.NamespacedName{Namespace: "tabard-system", Name: "old"}}
	second := certificate.Options{
		Name: "certificate-ocm", Namespace: "tabard-certificate", Authority: "tabard-ocm-authority", Secret: "tabard-ocm-cert",
		Configuration: "tabard-ocm", Probe: "ocm", ProbeAccount: "tabard-ocm-probe", Beside: true,
	}
	for asked, want := range map[bool][]certificate.Options{false: {first}, true: {first, second}} {
		var f certificateFlags
		flags := pflag.NewFlagSet("operator", pflag.ContinueOnError)
		f.add(flags, "certificate-")
		args := []string{"--certificate-previous-secret=tabard-system/old"}
		if asked {
			args = append(args, "--certificate-ocm")
		}
		must.Do(t, flags.Parse(args))
		must.Do(t, f.complete())
		if diff := cmp.Diff(want, f.options(nil, "tabard-certificate")); diff != "" {
			t.Errorf("with the flag %t (-want +got):\n%s", asked, diff)
		}
	}
}
