package issuer

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

const account = "123456789012"

func TestInitProposesAnIssuer(t *testing.T) {
	nobody := fault.Fault{Class: fault.Unauthenticated, Service: "STS", Operation: "GetCallerIdentity", Code: "ExpiredToken"}
	tests := map[string]struct {
		said             Proposal
		caller           error
		bucket, url      string
		says             string
		unusable, exists bool
	}{
		"the account of the session is in the name": {
			said:   Proposal{Name: "prod", Region: "eu-central-1"},
			bucket: "prod-oidc-" + account, url: "https://prod-oidc-" + account + ".s3.eu-central-1.amazonaws.com",
			says: "--service-account-issuer=https://prod-oidc-" + account + ".s3.eu-central-1.amazonaws.com\n"},
		"the next command is told": {
			said: Proposal{Name: "prod", Region: "eu-central-1"}, bucket: "prod-oidc-" + account,
			says: "  tabard issuer bootstrap -f issuer.yaml\n"},
		"what goes to standard output has no name": {
			said: Proposal{Name: "prod", Region: "eu-central-1", File: "-"}, bucket: "prod-oidc-" + account,
			says: "  tabard issuer bootstrap -f FILE\n"},
		"an account that is said needs no session": {
			said: Proposal{Name: "prod", Region: "eu-central-1", Account: "210987654321"}, caller: nobody, bucket: "prod-oidc-210987654321"},
		"China has a domain of its own": {
			said: Proposal{Name: "prod", Region: "cn-north-1"}, url: "https://prod-oidc-" + account + ".s3.cn-north-1.amazonaws.com.cn"},
		"a bucket in an isolated partition": {
			said: Proposal{Name: "prod", Region: "us-iso-east-1"}, url: "https://prod-oidc-" + account + ".s3.us-iso-east-1.c2s.ic.gov"},
		"without a session the name has a random part": {
			said: Proposal{Name: "prod", Region: "eu-central-1"}, caller: nobody, bucket: "prod-oidc-4f1c00aa77", says: "ExpiredToken"},
		"a URL that is said is taken": {
			said: Proposal{Name: "prod", Region: "eu-central-1", URL: "https://oidc.example.com"}, url: "https://oidc.example.com"},
		"a bucket that is said is taken, and one that others hit upon is warned of": {
			said: Proposal{Name: "prod", Region: "eu-central-1", Bucket: "acme"}, bucket: "acme", says: "warning: the name of bucket acme"},
		"no region":                   {said: Proposal{Name: "prod"}, unusable: true, says: "--region"},
		"a region that is none":       {said: Proposal{Name: "prod", Region: "central"}, unusable: true, says: `region is "central"`},
		"an account that is none":     {said: Proposal{Name: "prod", Region: "eu-central-1", Account: "acme"}, unusable: true, says: "twelve digits"},
		"a name that no bucket takes": {said: Proposal{Name: "prod.acme", Region: "eu-central-1"}, unusable: true, says: "without dots"},
		"a name that is too long":     {said: Proposal{Name: strings.Repeat("a", 60), Region: "eu-central-1"}, unusable: true, says: "3 to 63"},
		"a name that ends the field":  {said: Proposal{Name: "a\nspec: {}", Bucket: "acme", Region: "eu-central-1"}, unusable: true, says: "--name"},
		"a URL without TLS":           {said: Proposal{Name: "prod", Region: "eu-central-1", URL: "http://oidc.example.com"}, unusable: true, says: "https"},
		"a file that is there":        {said: Proposal{Name: "prod", Region: "eu-central-1"}, exists: true, says: "issuer.yaml is there already"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			var written string
			p := test.said
			if p.File == "" {
				p.File = "issuer.yaml"
			}
			p.Say, p.Caller = &said, func(context.Context, string) (string, error) {
				if test.caller != nil {
					return "", test.caller
				}
				return account, nil
			}
			p.Random = bytes.NewReader([]byte{0x4f, 0x1c, 0x00, 0xaa, 0x77})
			p.Write = func(files ...File) error {
				if test.exists {
					return &fs.PathError{Path: files[0].Name, Err: fs.ErrExist}
				}
				written = files[0].Content
				return nil
			}
			err := p.Run(t.Context())
			if err != nil {
				said.WriteString(err.Error())
			}
			_, unusable := errors.AsType[Unusable](err)
			if unusable != test.unusable || (err != nil) != (test.unusable || test.exists) || !strings.Contains(said.String(), test.says) {
				t.Fatalf("it ended with %v and said\n%s\nwant %q, unusable %t", err, said.String(), test.says, test.unusable)
			}
			if err == nil {
				wantIssuer(t, written, test.bucket, test.url)
			}
		})
	}
}

// wantIssuer reads the file as bootstrap does.
func wantIssuer(t *testing.T, text, bucket, url string) {
	t.Helper()
	var got v1alpha1.OIDCIssuer
	if err := yaml.UnmarshalStrict([]byte(text), &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := core.Validate(got.Spec); err != nil {
		t.Errorf("the file is refused: %v", err)
	}
	if bucket != "" && got.Spec.Publication.S3.Bucket != bucket || url != "" && got.Spec.URL != url {
		t.Errorf("bucket %s and URL %s, want %s and %s", got.Spec.Publication.S3.Bucket, got.Spec.URL, bucket, url)
	}
	if !got.Spec.Publication.S3.Create || len(got.Spec.Providers) != 1 || got.Spec.DeletionPolicy != v1alpha1.DeletionPolicyRetain {
		t.Errorf("the spec is %+v", got.Spec)
	}
}
