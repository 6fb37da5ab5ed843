package issuer

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// part is of the life of a lab, which it finds well and leaves so, unless it is the last.
type part struct {
	name string
	test func(scenario)
}

// TestAnIssuersLife has two labs, each with about half of the waiting.
func TestAnIssuersLife(t *testing.T) {
	t.Parallel()
	t.Run("trouble of the cluster", life(
		part{"a person bootstraps the issuer", func(s scenario) { s.tell(beforeBootstrap, afterBootstrap) }},
		part{"the operator is killed again and again", scenario.testKilledOperator},
		part{"the key is replaced behind the operator", scenario.testReplacedKey},
		part{"documents and provider are gone", scenario.testNothingPublished},
		part{"the deletion waits for the trust of roles", scenario.testDeletion},
	))
	t.Run("trouble of AWS and people", life(
		part{"bootstrap writes nothing before it knows", scenario.testNothingWrittenYet},
		part{"the role is as the account demands", scenario.testRoleAsDemanded},
		part{"a person bootstraps the issuer", func(s scenario) { s.tell(beforeBootstrap, afterBootstrap) }},
		part{"a provider is unregistered", scenario.testUnregister},
		part{"another issuer's role is replaced only if told to", scenario.testAnotherIssuersRole},
		part{"the operator is started", func(s scenario) { s.tell(afterBootstrap, afterOperator) }},
		part{"AWS is down for a while", scenario.testSilentAWS},
		part{"a person looks at the issuer", scenario.testLooking},
		part{"a person carries a deletion on", scenario.testDeletionByAPerson},
	))
}

func life(parts ...part) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		s := open(t, beforeBootstrap)
		for _, each := range parts {
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
	s.startLasting()
	s.replaceSigningKey()
	added := ""
	s.must("", s.until(func(issuer v1alpha1.OIDCIssuer) error {
		for _, key := range issuer.Status.Keys {
			if !before[key.KeyID] && meta.IsStatusConditionTrue(issuer.Status.Conditions, core.TypeReady) {
				added = key.KeyID
				return nil
			}
		}
		return fmt.Errorf("it is not ready with a new key: %+v", issuer.Status)
	}))
	s.must("", onlab.Eventually(s.Context(), testkit.Patience, func(ctx context.Context) error {
		told, err := s.Kubectl(ctx, "get", "events", "-A", "-o", `jsonpath={range .items[?(@.type=="Warning")]}{.action} {.message}{"\n"}{end}`)
		if err != nil {
			return err
		}
		for line := range strings.Lines(told) {
			if strings.HasPrefix(line, core.TypeKeysInSync) && strings.Contains(line, added) {
				return nil
			}
		}
		return fmt.Errorf("no event names the new key %s; there are\n%s", added, told)
	}))
	s.ready()
	s.wantKept(before)
}

// startLasting starts the operator anew, and awaits its session with AWS. It has no lease,
// which a slow restart of the API server would take from it: one that starts after that has
// no session, and only bootstrap helps.
func (s scenario) startLasting() {
	s.Helper()
	s.stopOperator()
	before, err := s.Journal(s.Context())
	s.must("", err)
	s.must(s.Manage(s.Context(), "run", "-n", "tabard-system", "deployment/tabard-issuer", "--detach", "tabard-issuer", "--", s.Tabard,
		"operator", "--controllers=issuer", "--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0"))
	s.must("", onlab.Eventually(s.Context(), testkit.Patience, func(ctx context.Context) error {
		calls, err := s.Journal(ctx)
		if err != nil {
			return err
		}
		for _, call := range calls[len(before):] {
			if call.Operation == "AssumeRoleWithWebIdentity" && call.Status == http.StatusOK {
				return nil
			}
		}
		return fmt.Errorf("the operator has no session: %+v", calls[len(before):])
	}))
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
