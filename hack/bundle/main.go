// Command bundle writes a bundle for the Operator Lifecycle Manager (OLM), with which
// OpenShift's catalogue installs Tabard, from the manifests that the chart renders and from
// the chart's metadata. It is run in the root of the repository:
//
//	go run ./hack/bundle
//	go run ./hack/bundle --version v0.1.0 --image registry.example.com/team/tabard@sha256:… --out dist/bundle
//
// The bundle has the issuer's publisher and the controller injection. It has no webhook:
// OpenShift on AWS runs one of its own, and OLM creates neither a second namespace for the
// webhook's certificate nor the ValidatingAdmissionPolicies that guard its accounts. So the
// bundle has no webhookdefinitions, and no object of it changes a MutatingWebhookConfiguration.
// With the webhook come its certificate's controller and the policies, all by the chart.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

func main() {
	var o options
	flag.StringVar(&o.version, "version", "", "version of the bundle, such as v0.1.0; empty: the chart's")
	flag.StringVar(&o.image, "image", "", "image tabard, best with its digest; empty: the chart's, tagged with the version")
	flag.StringVar(&o.out, "out", "bundle", "folder to write")
	flag.Parse()
	err := errors.New("expected no argument beside flags")
	if flag.NArg() == 0 {
		err = run(".", o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// options are what a release says. All may be empty but out.
type options struct {
	version, image, out string
}

func run(root string, o options) error {
	if o.version != "" {
		parsed, err := version.ParseSemantic(o.version)
		if err != nil || !strings.HasPrefix(o.version, "v") || parsed.BuildMetadata() != "" {
			return fmt.Errorf("--version is %q, expected v and a semantic version without build metadata, such as v0.1.0", o.version)
		}
	}
	s, err := read(root)
	if err != nil {
		return err
	}
	files, err := bundle(s, o)
	if err != nil {
		return err
	}
	// A file of an earlier bundle would be installed too.
	for _, folder := range []string{"manifests", "metadata"} {
		if err := os.RemoveAll(filepath.Join(o.out, folder)); err != nil {
			return fmt.Errorf("remove the bundle before: %w", err)
		}
	}
	for name, text := range files {
		path := filepath.Join(o.out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make a folder of the bundle: %w", err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return fmt.Errorf("write a file of the bundle: %w", err)
		}
	}
	return nil
}
