package issuer

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// cdn reads a private bucket with credentials of its own, and answers without asking for any.
type cdn struct {
	*httptest.Server
	mu    sync.Mutex
	keeps bool // what it has answered, however old
	cache map[string]answer
}

type answer struct {
	status  int
	body    []byte
	control string
}

func startCDN(t *testing.T, client *s3.Client, bucket string) *cdn {
	t.Helper()
	c := &cdn{cache: map[string]answer{}}
	c.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		kept, is := c.cache[r.URL.Path]
		if !is || !c.keeps {
			kept = answer{status: http.StatusForbidden}
			object, err := client.GetObject(r.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String(strings.TrimPrefix(r.URL.Path, "/"))})
			if err == nil {
				body, _ := io.ReadAll(object.Body)
				kept = answer{http.StatusOK, body, aws.ToString(object.CacheControl)}
			}
			c.cache[r.URL.Path] = kept
		}
		w.Header().Set("Cache-Control", kept.control)
		w.WriteHeader(kept.status)
		_, _ = w.Write(kept.body)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *cdn) keep(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keeps = on
}

// private is a lab with a private bucket, made as the page says it, and the page's files.
type private struct {
	scenario
	cdn    *cdn
	bucket string
	page   string
	folder string
	roots  string // file of the CAs that the programs trust
}

func startPrivate(t *testing.T) *private {
	t.Helper()
	p := &private{scenario: open(t, afterBootstrap-1), folder: t.TempDir()}
	p.install()
	p.page = string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "private-bucket.md")))(t))
	p.bucket = p.Env["TABARD_ISSUER_BUCKET"] + "-private"
	client := s3.NewFromConfig(p.Admin, func(o *s3.Options) { o.UsePathStyle = true })
	must.Get(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &p.bucket,
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: s3types.BucketLocationConstraint(p.Env["AWS_REGION"])}}))(t)
	policy := p.here(testkit.Blocks(p.page, "json")[0])
	must.Get(client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: &p.bucket, Policy: &policy}))(t)
	p.cdn = startCDN(t, client, p.bucket)
	must.Do(t, os.WriteFile(filepath.Join(p.folder, "issuer.yaml"), []byte(p.here(testkit.Blocks(p.page, "yaml")[0])), 0o600))

	p.roots = filepath.Join(p.folder, "roots.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cdn.Certificate().Raw})
	must.Do(t, os.WriteFile(p.roots, append(must.Get(os.ReadFile(p.Env["TABARD_LAB_CA"]))(t), certificate...), 0o600))
	p.trustCDN()
	return p
}

// trustCDN lets the programs trust the CDN's certificate, as they would one of a public CA.
func (p *private) trustCDN() { p.Env["TABARD_LAB_CA"], p.Env["CURL_CA_BUNDLE"] = p.roots, p.roots }

// here has this lab's names in the place of the page's.
func (p *private) here(text string) string {
	lab := p.Env["TABARD_ISSUER_URL"]
	replaced := []string{
		"https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com", strings.TrimSuffix(lab, p.Env["TABARD_ISSUER_BUCKET"]) + p.bucket,
		"acme-oidc-4f1c", p.bucket, "region: eu-central-1", "region: " + p.Env["AWS_REGION"],
		"-f issuer.yaml", "-f " + p.folder + "/issuer.yaml",
	}
	if p.cdn != nil {
		replaced = append(replaced, "https://oidc.example.com", p.cdn.URL)
	}
	return strings.NewReplacer(replaced...).Replace(text)
}

// TestCommandLineAPrivateBucketBehindACDN types the commands of docs/private-bucket.md twice, with its
// policy, its OIDCIssuer, and a server in the place of CloudFront.
func TestCommandLineAPrivateBucketBehindACDN(t *testing.T) {
	p := startPrivate(t)
	blocks := testkit.Blocks(p.page, "sh")
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks of commands, the test knows 3", len(blocks))
	}
	publish := strings.Replace(p.here(blocks[0]), "bootstrap", "bootstrap --allow-other-issuer", 1) // the lab's tokens name the lab's URL
	for range 2 {
		p.follow(publish, "")
		said := p.follow(p.here(blocks[1]), "")
		for _, want := range []string{`"issuer":"` + p.cdn.URL + `"`, "max-age=60", "names the issuer and its keys document"} {
			if !strings.Contains(strings.ReplaceAll(said, `": "`, `":"`), want) {
				t.Errorf("it does not say %q: %s", want, said)
			}
		}
		if said := p.follow(p.here(blocks[2]), ""); strings.TrimSpace(said) != "403" {
			t.Errorf("the private bucket answers %s", said)
		}
	}

	// A cache that keeps more than it should shows the document of the former key.
	p.cdn.keep(true)
	p.replaceSigningKey()
	p.trustCDN() // the lab's environment is read anew after it
	p.wantSaid(1, "NotYetVisible is an older version than the bucket holds", "bootstrap", "-f", filepath.Join(p.folder, "issuer.yaml"), "--allow-other-issuer")
	p.cdn.keep(false)
	p.follow(publish, "")
}
