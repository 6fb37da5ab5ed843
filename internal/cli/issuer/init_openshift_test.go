package issuer

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "write testdata anew")

func openShift(t *testing.T, p Proposal) (wrote []File, said string, err error) {
	t.Helper()
	var out bytes.Buffer
	p.Name, p.Region, p.Say = "prod", "eu-central-1", &out
	p.Caller = func(context.Context, string) (string, error) { return account, nil }
	p.Write = func(files ...File) error {
		wrote = files
		return nil
	}
	err = p.Run(t.Context())
	return wrote, out.String(), err
}

// TestInitForOpenShift compares what is written and said with files: for a cluster that
// runs, and for one that is to be installed.
func TestInitForOpenShift(t *testing.T) {
	for name, p := range map[string]Proposal{
		"living":       {Platform: platform.OpenShift},
		"installation": {Platform: platform.OpenShift, OutputDir: "prod"},
	} {
		t.Run(name, func(t *testing.T) {
			wrote, said, err := openShift(t, p)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, file := range wrote {
				got.WriteString("==== " + file.Name + "\n" + file.Content)
			}
			got.WriteString("==== said\n" + said)
			golden := filepath.Join("testdata", "openshift-"+name+".txt")
			if *update {
				must.Do(t, os.WriteFile(golden, []byte(got.String()), 0o600))
			}
			if diff := cmp.Diff(string(must.Get(os.ReadFile(golden))(t)), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			wantIssuer(t, wrote[0].Content, "prod-oidc-"+account, "https://prod-oidc-"+account+".s3.eu-central-1.amazonaws.com")
		})
	}
}

// TestTheInstallersManifestIsByteForByteTheIssuer: a slash or a space more, and no role
// trusts the cluster's tokens.
func TestTheInstallersManifestIsByteForByteTheIssuer(t *testing.T) {
	wrote, _, err := openShift(t, Proposal{Platform: platform.OpenShift, OutputDir: "prod"})
	if err != nil || len(wrote) != 2 {
		t.Fatalf("it wrote %v: %v", wrote, err)
	}
	var issuer v1alpha1.OIDCIssuer
	must.Do(t, yaml.UnmarshalStrict([]byte(wrote[0].Content), &issuer))
	var manifest struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct{ ServiceAccountIssuer string }
	}
	must.Do(t, yaml.UnmarshalStrict([]byte(wrote[1].Content), &manifest))
	if manifest.Spec.ServiceAccountIssuer != issuer.Spec.URL || manifest.Kind != "Authentication" || manifest.Metadata.Name != "cluster" ||
		manifest.APIVersion != "config.openshift.io/v1" {
		t.Errorf("the manifest is %+v, want the issuer %s", manifest, issuer.Spec.URL)
	}
	want := v1alpha1.KeySource{Source: v1alpha1.KeySourceConfigMap, ConfigMap: &v1alpha1.ConfigMapReference{
		Namespace: "openshift-kube-apiserver", Name: "bound-sa-token-signing-certs",
	}}
	if diff := cmp.Diff(want, issuer.Spec.Keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"openshift", "sts.amazonaws.com"}, issuer.Spec.Providers[0].Audiences); diff != "" {
		t.Errorf("audiences (-want +got):\n%s", diff)
	}
}

func TestInitForOpenShiftRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		p    Proposal
		want string
	}{
		"a platform that is none":         {Proposal{Platform: "openshift"}, `--platform is "openshift", expected Kubernetes or OpenShift`},
		"a folder for another platform":   {Proposal{Platform: platform.Kubernetes, OutputDir: "prod"}, "--output-dir is for an installation of OpenShift"},
		"a file and a folder":             {Proposal{Platform: platform.OpenShift, OutputDir: "prod", File: "a.yaml"}, "-f and --output-dir exclude each other"},
		"standard output and a folder":    {Proposal{Platform: platform.OpenShift, OutputDir: "prod", File: "-"}, "-f and --output-dir exclude each other"},
		"a URL that is none of an issuer": {Proposal{Platform: platform.OpenShift, URL: "https://oidc.example.com/"}, "slash"},
	} {
		t.Run(name, func(t *testing.T) {
			wrote, _, err := openShift(t, test.p)
			if _, unusable := errors.AsType[Unusable](err); !unusable || !strings.Contains(err.Error(), test.want) || wrote != nil {
				t.Errorf("it wrote %v and ended with %v, want %q", wrote, err, test.want)
			}
		})
	}
}

// TestWhatIsThereAlreadyIsNamed names the one file of two.
func TestWhatIsThereAlreadyIsNamed(t *testing.T) {
	p := Proposal{
		Platform: platform.OpenShift, OutputDir: "prod", Name: "prod", Region: "eu-central-1", Account: account, Say: &bytes.Buffer{},
		Write: func(files ...File) error { return &fs.PathError{Path: files[1].Name, Err: fs.ErrExist} },
	}
	if err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "prod/manifests/cluster-authentication-02-config.yaml is there already") ||
		!strings.Contains(err.Error(), "choose another folder with --output-dir") {
		t.Errorf("it ended with %v", err)
	}
}

// TestThePatchIsOneWordOfAShell has a URL with a quote, which a URL's path may have.
func TestThePatchIsOneWordOfAShell(t *testing.T) {
	p := Proposal{URL: "https://oidc.example.com/it's"}
	if got, want := p.patch(), `{"spec":{"serviceAccountIssuer":"https://oidc.example.com/it\u0027s"}}`; got != want {
		t.Errorf("the patch is %s, want %s", got, want)
	}
}
