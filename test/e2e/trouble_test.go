package e2e

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/test/onlab"
)

// Steps of the story that scenarios begin after.
const afterOperator = 4

func TestKeyReplacedBehindTheOperator(t *testing.T) {
	s := lab(t, afterOperator)
	before := keyIDs(t, s)
	s.replaceSigningKey(t)

	var seen metav1.Condition
	err := onlab.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		issuer, err := s.issuer(ctx)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(issuer.Status.Conditions, "KeysInSync")
		if c == nil || c.Status != metav1.ConditionFalse {
			return fmt.Errorf("KeysInSync is %+v, expected False", c)
		}
		seen = *c
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("KeysInSync=False %s: %s", seen.Reason, seen.Message)
	if err := s.issuerReady(t.Context(), time.Minute); err != nil {
		t.Fatalf("the new key was not published: %v", err)
	}
	after := keyIDs(t, s)
	var added string
	for id := range after {
		if !before[id] {
			added = id
		}
	}
	if added == "" || !strings.Contains(seen.Message, added) {
		t.Errorf("the condition said %q, expected it to name the new key %q", seen.Message, added)
	}
	for id := range before {
		if !after[id] {
			t.Errorf("the old key %s is no longer published, though tokens that it signed are alive", id)
		}
	}
}

func TestDocumentsAndProviderGone(t *testing.T) {
	s := lab(t, afterOperator)
	s.stop(t, "tabard-issuer")
	deleteObjects(t, s)
	_, err := iam.NewFromConfig(s.admin).DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: aws.String(s.ProviderARN(s.account)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.detachIssuer(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = onlab.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		issuer, err := s.issuer(ctx)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(issuer.Status.Conditions, "IssuerPublished")
		if c == nil || c.Status == metav1.ConditionTrue || !strings.Contains(c.Message, "tabard issuer bootstrap") {
			return fmt.Errorf("IssuerPublished is %+v, expected it to name the command that repairs it", c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.RunTabard(t.Context(), "issuer", "bootstrap", "-f", s.issuerManifest())
	if err != nil {
		t.Fatalf("the repair failed: %v\n%s", err, out)
	}
	if err := s.issuerReady(t.Context(), 2*time.Minute); err != nil {
		t.Errorf("the repair did not help: %v", err)
	}
}

func TestAWSDownForAMinute(t *testing.T) {
	s := lab(t, afterOperator)
	pid, err := s.pid(t.Context(), "awslocal")
	if err != nil {
		t.Fatal(err)
	}
	// A stopped process takes connections and answers none of them.
	signal(t, pid, syscall.SIGSTOP)
	t.Cleanup(func() { signal(t, pid, syscall.SIGCONT) })
	err = onlab.Eventually(t.Context(), 2*time.Minute, func(ctx context.Context) error {
		issuer, err := s.issuer(ctx)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(issuer.Status.Conditions, "Ready")
		if c == nil || c.Status == metav1.ConditionTrue {
			return fmt.Errorf("Ready is %+v, expected it not to be True", c)
		}
		t.Logf("Ready=%s %s: %s", c.Status, c.Reason, c.Message)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := keyIDs(t, s)
	signal(t, pid, syscall.SIGCONT)
	if err := s.issuerReady(t.Context(), 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	after := keyIDs(t, s)
	for id := range before {
		if !after[id] {
			t.Errorf("key %s was lost while AWS was down", id)
		}
	}
}

func signal(t *testing.T, pid int, number syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, number); err != nil {
		t.Fatal(err)
	}
}

func TestOperatorKilledAgainAndAgain(t *testing.T) {
	s := lab(t, 3)
	for i := range 5 {
		if err := s.detachIssuer(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if _, err := s.Kubectl(t.Context(), "apply", "-f", s.issuerManifest()); err != nil {
				t.Fatal(err)
			}
		}
		s.stop(t, "tabard-issuer")
	}
	if err := s.detachIssuer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.issuerReady(t.Context(), 2*time.Minute); err != nil {
		t.Error(err)
	}
}

// keyIDs are the keys in the issuer's status.
func keyIDs(t *testing.T, s *Story) map[string]bool {
	t.Helper()
	issuer, err := s.issuer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, key := range issuer.Status.Keys {
		out[key.KeyID] = true
	}
	return out
}

// replaceSigningKey has the API server sign with another key. As in a real
// rotation it goes on trusting the old one: else nobody who holds a token, the
// operator included, could talk to it.
func (s *Story) replaceSigningKey(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	pub := filepath.Join(s.Dir, "pki", "service-account.pub")
	old, err := os.ReadFile(pub)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, kind string, der, more []byte) {
		if err := os.WriteFile(path, append(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), more...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(pub, "PUBLIC KEY", public, old)
	write(filepath.Join(s.Dir, "pki", "service-account.key"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key), nil)
	s.kill(t, "kube-apiserver", "kube-controller-manager")
	if out, err := s.RunTabard(t.Context(), "lab", "up", "--dir", s.Dir, "--localkube", s.Localkube); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// kill ends processes of the lab without warning.
func (s *Story) kill(t *testing.T, names ...string) {
	t.Helper()
	pids := make([]int, len(names))
	for i, name := range names { // a lab that lacks one no longer tells the others
		var err error
		if pids[i], err = s.pid(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for i, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatalf("kill %s (%d): %v", names[i], pid, err)
		}
	}
}

// stop kills a process that runs in the background of the lab.
func (s *Story) stop(t *testing.T, name string) {
	t.Helper()
	if out, err := s.RunTabard(t.Context(), "lab", "stop", "--dir", s.Dir, name); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func deleteObjects(t *testing.T, s *Story) {
	t.Helper()
	bucket := s.Env["TABARD_ISSUER_BUCKET"]
	for _, key := range []string{core.DiscoveryPath, core.KeysPath} {
		_, err := s3.NewFromConfig(s.admin).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String(key)})
		if err != nil {
			t.Fatal(err)
		}
	}
}
