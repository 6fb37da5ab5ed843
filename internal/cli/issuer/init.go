package issuer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

// StandardOutput is the name of the file that is none.
const StandardOutput = "-"

// patience is how long a person waits to be told who they are.
const patience = 20 * time.Second

// randomBytes is how much of a name nobody can foresee where no account is in it.
const randomBytes = 5

// Proposal writes the file of an OIDCIssuer for a cluster that has none.
type Proposal struct {
	// Name is the object's, and the beginning of the bucket's.
	Name string
	// Bucket, Region, Account and URL are what the person says; empty to be proposed.
	Bucket, Region, Account, URL string
	// Caller tells the account that the person is signed in to.
	Caller func(ctx context.Context, region string) (account string, err error)
	// Random fills bytes that nobody can foresee.
	Random io.Reader
	// Platform is OpenShift or Kubernetes.
	Platform platform.Kind
	// OutputDir is where the files of an installation of OpenShift go, in place of File;
	// empty for a cluster that exists.
	OutputDir string
	// Write stores files, all or none; a fs.PathError of fs.ErrExist names one that is
	// there already.
	Write func(files ...File) error
	// File is the name of the OIDCIssuer's file, as the next command names it.
	File string
	// Say receives what happened and what to do next.
	Say io.Writer
}

// File is a file to write.
type File struct{ Name, Content string }

// Unusable is input from which no OIDCIssuer can be made.
type Unusable struct{ error }

func (u Unusable) Unwrap() error { return u.error }

// Run proposes what is not said, and writes the file. Bad input is Unusable.
func (p *Proposal) Run(ctx context.Context) error {
	if err := p.checkPlatform(); err != nil {
		return err
	}
	if p.Region == "" {
		return Unusable{errors.New("no region is known: name the bucket's with --region, or set AWS_REGION")}
	}
	if p.Account != "" && !identity.IsAccountID(p.Account) {
		return Unusable{fmt.Errorf("--account is %q, expected the twelve digits of an AWS account", p.Account)}
	}
	if wrong := validation.IsDNS1123Subdomain(p.Name); len(wrong) > 0 {
		return Unusable{fmt.Errorf("--name is %q, expected the name of an object: %s", p.Name, wrong[0])}
	}
	if err := p.proposeBucket(ctx); err != nil {
		return err
	}
	p.URL = cmp.Or(p.URL, "https://"+p.Bucket+".s3."+p.Region+"."+identity.DNSSuffix(p.Region))
	spec := v1alpha1.OIDCIssuerSpec{URL: p.URL}
	spec.Publication.S3.Bucket, spec.Publication.S3.Region = p.Bucket, p.Region
	if err := core.Validate(spec); err != nil {
		return Unusable{fmt.Errorf("no OIDCIssuer can be made of this: %w", err)}
	}
	if err := p.Write(p.files()...); errors.Is(err, fs.ErrExist) {
		name := p.File
		if of, is := errors.AsType[*fs.PathError](err); is {
			name = of.Path
		}
		return fmt.Errorf("%s is there already and stays as it is: choose another %s, or replace it with --force", name, p.otherPlace())
	} else if err != nil {
		return err
	}
	if warning := core.NameWarning(spec); warning != "" {
		p.say("warning: %s", warning)
	}
	p.sayNext()
	return nil
}

// proposeBucket makes a name that carries the account, or a random part where there
// is no AWS session to tell it.
func (p *Proposal) proposeBucket(ctx context.Context) error {
	if p.Bucket != "" {
		return nil
	}
	tail := p.Account
	if tail == "" {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		var err error
		if tail, err = p.Caller(ctx, p.Region); err != nil {
			p.say("AWS does not know your session (%v), so the bucket's name has a random part instead of the account: sign in, or name it with --account, for the account", err)
		}
	}
	if tail == "" {
		random := make([]byte, randomBytes)
		if _, err := io.ReadFull(p.Random, random); err != nil {
			return fmt.Errorf("no random part for the bucket's name: %w", err)
		}
		tail = fmt.Sprintf("%x", random)
	}
	p.Bucket = p.Name + "-oidc-" + tail
	return nil
}

// files are all that is written.
func (p *Proposal) files() []File {
	if p.OutputDir == "" {
		return []File{{p.File, p.text()}}
	}
	return []File{{p.File, p.text()}, {filepath.Join(p.OutputDir, installManifest), p.authentication()}}
}

func (p *Proposal) otherPlace() string {
	if p.OutputDir == "" {
		return "file with -f"
	}
	return "folder with --output-dir"
}

func (p *Proposal) text() string {
	form := ofKubernetes
	if p.Platform == platform.OpenShift {
		form = ofOpenShift
	}
	return fmt.Sprintf(`# What tabard issuer bootstrap makes, and Tabard keeps as it is.
apiVersion: %s
kind: OIDCIssuer
metadata:
  name: %s
spec:
  # Byte for byte %s. It cannot be changed later:
  # the trust policies of roles name it.
  url: %s
  keys:
%s
  publication:
    s3:
      # Never give this name up while a role trusts the URL: whoever has the bucket
      # becomes that role.
      bucket: %s
      region: %s
      create: true
      publicRead: BucketPolicy
  providers:
  - audiences: [%s]
  deletionPolicy: Retain
`, v1alpha1.GroupVersion, p.Name, form.setting, p.URL, form.keys, p.Bucket, p.Region, form.audiences)
}

func (p *Proposal) sayNext() {
	file := p.File
	if file == StandardOutput {
		file = "FILE"
	}
	p.say("%s proposes the bucket %s in %s; read it before you go on", file, p.Bucket, p.Region)
	switch {
	case p.Platform != platform.OpenShift:
		p.say("next, on every API server, before any other flag of that name:")
		p.say("  --service-account-issuer=%s", p.URL)
		p.say("an issuer that it had before stays as a second flag until no token of it is left")
		p.say("then, with your own AWS session and a kubeconfig of the cluster:")
		p.say("  tabard issuer bootstrap -f %s", file)
	case p.OutputDir != "":
		p.sayInstallation(file)
	default:
		p.sayLiving(file)
	}
}

func (p *Proposal) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Say, format+"\n", args...) // if nobody listens, nothing is lost
}
