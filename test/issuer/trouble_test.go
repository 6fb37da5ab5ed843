package issuer

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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// trouble befalls a lab that is well and leaves it so, unless it is the last.
type trouble struct {
	name string
	test func(scenario)
}

// TestTrouble has two labs, each with about half of the waiting.
func TestTrouble(t *testing.T) {
	t.Run("of the cluster", troubles(
		trouble{"the operator is killed again and again", scenario.testKilledOperator},
		trouble{"the key is replaced behind the operator", scenario.testReplacedKey},
		trouble{"documents and provider are gone", scenario.testNothingPublished},
		trouble{"the deletion waits for the trust of roles", scenario.testDeletion},
	))
	t.Run("of AWS and people", troubles(
		trouble{"the operator is started", func(s scenario) { s.tell(afterBootstrap, afterOperator) }},
		trouble{"AWS is down for a while", scenario.testSilentAWS},
		trouble{"a person carries a deletion on", scenario.testDeletionByAPerson},
	))
}

func troubles(all ...trouble) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		s := open(t, afterBootstrap)
		for _, each := range all {
			if !t.Run(each.name, func(t *testing.T) { each.test(scenario{t, s.Story}) }) {
				return // the next would begin with a lab that is not well
			}
		}
	}
}

func (s scenario) testKilledOperator() {
	for i := range 5 {
		s.startOperator()
		if i == 0 {
			s.must(s.Kubectl(s.Context(), "apply", "-f", s.IssuerManifest()))
		}
		s.stopOperator()
	}
	s.startOperator()
	s.ready()
}

// testReplacedKey has nobody tell the operator to look. What it says then is true for a
// moment only, so its event is what is asked for.
func (s scenario) testReplacedKey() {
	before := s.keyIDs()
	s.replaceSigningKey()
	s.must("", onlab.Eventually(s.Context(), testkit.Patience, func(ctx context.Context) error {
		told, err := s.Kubectl(ctx, "get", "events", "-A", "-o", `jsonpath={range .items[?(@.type=="Warning")]}{.action} {.message}{"\n"}{end}`)
		if err != nil {
			return err
		}
		for line := range strings.Lines(told) {
			for id := range s.keyIDs() {
				if !before[id] && strings.HasPrefix(line, core.TypeKeysInSync) && strings.Contains(line, id) {
					return nil
				}
			}
		}
		return fmt.Errorf("no event names a new key of %v; there are\n%s", s.keyIDs(), told)
	}))
	s.ready()
	s.wantKept(before)
}

// wantKept demands that keys are still published: tokens that they signed are alive.
func (s scenario) wantKept(before map[string]bool) {
	s.Helper()
	after := s.keyIDs()
	for id := range before {
		if !after[id] {
			s.Errorf("the old key %s is no longer published, though tokens that it signed are alive", id)
		}
	}
}

// replaceSigningKey gives the API server a new key to sign with; the old verifies on.
func (s scenario) replaceSigningKey() {
	s.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	s.must("", err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	s.must("", err)
	pub := filepath.Join(s.Dir, "pki", "service-account.pub")
	old, err := os.ReadFile(pub)
	s.must("", err)
	write := func(path, kind string, der, more []byte) {
		s.Helper()
		s.must("", os.WriteFile(path, append(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), more...), 0o600))
	}
	write(pub, "PUBLIC KEY", public, old)
	write(filepath.Join(s.Dir, "pki", "service-account.key"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key), nil)
	s.must("", s.Kill(s.Context(), "kube-apiserver", "kube-controller-manager"))
	s.repair()
}

func (s scenario) testNothingPublished() {
	s.stopOperator()
	bucket := s.Env["TABARD_ISSUER_BUCKET"]
	for _, key := range []string{core.DiscoveryPath, core.KeysPath} {
		_, err := s3.NewFromConfig(s.Admin).DeleteObject(s.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String(key)})
		s.must("", err)
	}
	_, err := iam.NewFromConfig(s.Admin).DeleteOpenIDConnectProvider(s.Context(), &iam.DeleteOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: aws.String(s.ProviderARN(s.AccountID)),
	})
	s.must("", err)
	s.startOperator()
	s.condition(core.TypePublished, "tabard issuer bootstrap", func(c metav1.Condition) bool { return c.Status != metav1.ConditionTrue })
	s.must(s.bootstrap())
	s.look()
	s.ready()
}

func (s scenario) testSilentAWS() {
	status, err := s.Status(s.Context())
	s.must("", err)
	pid, err := status.PID("awslocal")
	s.must("", err)
	signal := func(number syscall.Signal) {
		s.Helper()
		s.must("", syscall.Kill(pid, number))
	}
	// A stopped process takes connections and answers none of them.
	signal(syscall.SIGSTOP)
	s.Cleanup(func() { signal(syscall.SIGCONT) })
	s.look()
	s.condition(core.TypeReady, "", func(c metav1.Condition) bool { return c.Status != metav1.ConditionTrue })
	before := s.keyIDs()
	signal(syscall.SIGCONT)
	s.look()
	s.ready()
	s.wantKept(before)
}
