package signingkeys

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
	"github.com/tabard-dev/tabard/test/node/bed"
)

// namespace is that of the workload.
const namespace = "team-a"

// cluster is a bed whose API server's keys are rotated under a workload.
type cluster struct {
	*bed.Bed
	t    *testing.T
	role bed.Role
	// pods are the IDs of the keys that signed the pods' tokens for AWS.
	pods map[string]string
	// behind is how far the local AWS's clock is behind the true time.
	behind time.Duration
}

// open makes a bed with a role for the workload. Its credentials are seconds from
// their end when they are made, so that the SDK takes new ones by the pod's token all
// the time: the local AWS makes them by a clock that is behind, and judges tokens and
// signatures by the true time.
func open(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Bed: bed.Open(t), t: t, pods: map[string]string{}}
	c.LoadWorkload()
	c.role = c.Team(namespace, nil)
	c.advance(-lifetime + 5*time.Second - keyCache)
	return c
}

const (
	// lifetime is that of credentials, by the local AWS's clock.
	lifetime = time.Hour
	// keyCache is longer than the local AWS keeps the keys that it has fetched.
	keyCache = 6 * time.Minute
)

// advance moves the local AWS's clock, and lets it judge tokens and signatures by the
// true time all the same.
func (c *cluster) advance(by time.Duration) {
	c.t.Helper()
	c.behind -= by
	c.Clock(map[string]string{"advance": by.String(), "tokenOffset": c.behind.String(), "signatureOffset": c.behind.String()})
}

// passKeyCache lets the time pass on the local AWS's clock for which it keeps keys.
// Credentials that are made from the first such time on are made for five seconds.
func (c *cluster) passKeyCache() {
	c.t.Helper()
	c.advance(keyCache)
}

// keyPair is a signing key in the forms of the API server's files.
type keyPair struct {
	id              string
	private, public []byte
}

func newKeyPair(t *testing.T) keyPair {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	id := must.Get(core.KeyID(&key.PublicKey))(t)
	public := must.Get(x509.MarshalPKIXPublicKey(&key.PublicKey))(t)
	return keyPair{
		id:      id,
		private: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		public:  pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
	}
}

// current is the key pair that the lab was made with.
func (c *cluster) current() keyPair {
	c.t.Helper()
	pair := keyPair{id: c.activeKeys()[0]}
	for file, into := range map[string]*[]byte{"service-account.key": &pair.private, "service-account.pub": &pair.public} {
		text := must.Get(os.ReadFile(filepath.Join(c.Dir, "pki", file)))(c.t)
		*into = text
	}
	return pair
}

// expectKey starts a pod whose token must be signed by a key.
func (c *cluster) expectKey(pod string, want keyPair) {
	c.t.Helper()
	c.create(pod)
	if got := c.pods[pod]; got != want.id {
		c.t.Fatalf("the token of pod %s is signed by %s, want %s", pod, got, want.id)
	}
}

// trust lists the keys by which the API server verifies tokens; it reads them when it
// starts.
func (c *cluster) trust(pairs ...keyPair) {
	c.t.Helper()
	var all [][]byte
	for _, pair := range pairs {
		all = append(all, pair.public)
	}
	c.write("service-account.pub", bytes.Join(all, nil))
}

// signWith names the key by which the API server signs tokens; it reads it when it
// starts.
func (c *cluster) signWith(pair keyPair) {
	c.t.Helper()
	c.write("service-account.key", pair.private)
}

func (c *cluster) write(file string, text []byte) {
	c.t.Helper()
	must.Do(c.t, os.WriteFile(filepath.Join(c.Dir, "pki", file), text, 0o600))
}

// restart restarts programs of the control plane as a person does.
func (c *cluster) restart(names ...string) {
	c.t.Helper()
	began := time.Now()
	for _, name := range names {
		c.Run("lab", "stop", "--dir", c.Dir, name)
	}
	c.Run("lab", "up", "--dir", c.Dir, "--localkube", c.Localkube)
	c.Since(began, "restart of "+strings.Join(names, " and "))
}

// awaitAnswers waits until AWS has answered both containers of a pod.
func (c *cluster) awaitAnswers(pod string) {
	c.t.Helper()
	for _, operation := range []string{"GetCallerIdentity", "PutObject"} {
		c.awaitAnswer(pod, operation)
	}
}

// awaitAnswer waits until AWS has answered a call of a pod.
func (c *cluster) awaitAnswer(pod, operation string) {
	c.t.Helper()
	c.Eventually(fmt.Sprintf("AWS answers %s of pod %s", operation, pod), func(context.Context) error {
		if !slices.ContainsFunc(c.calls(pod), func(call onlab.Call) bool {
			return call.Operation == operation && call.Status == http.StatusOK
		}) {
			return errors.New("it has not")
		}
		return nil
	})
}

// calls are the journal's calls with credentials that AWS gave a pod.
func (c *cluster) calls(pod string) []onlab.Call {
	c.t.Helper()
	return slices.DeleteFunc(c.Calls(c.role), func(call onlab.Call) bool { return !strings.HasSuffix(call.Caller, "/"+pod) })
}

// create makes a pod and waits until it has its token.
func (c *cluster) create(pod string) {
	c.t.Helper()
	text := must.Get(os.ReadFile("pod.yaml"))(c.t)
	file := filepath.Join(c.t.TempDir(), pod+".yaml")
	must.Do(c.t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "POD", pod)), 0o600))
	c.Apply(namespace, file, c.role)
	c.Eventually(pod+" has a token", func(ctx context.Context) error {
		id, err := c.tokenKey(ctx, pod)
		c.pods[pod] = id
		return err
	})
	c.t.Logf("pod %s has a token by key %s", pod, c.pods[pod])
}

// tokenKey is the ID of the key that signed the token which the kubelet gave a pod
// for AWS.
func (c *cluster) tokenKey(ctx context.Context, pod string) (string, error) {
	found, err := c.Kube.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	token := filepath.Join(c.Dir, "node", "kubelet", "pods", string(found.UID), "volumes", "kubernetes.io~projected", "aws-iam-token", "token")
	raw, err := c.RunTabard(ctx, "lab", "node-exec", "--dir", c.Dir, "--", "cat", token)
	if err != nil {
		return "", err
	}
	header, err := core.TokenHeader(strings.TrimSpace(raw))
	return header.KeyID, err
}

// issuer is the OIDCIssuer of the lab.
func (c *cluster) issuer(ctx context.Context) (issuer v1alpha1.OIDCIssuer, err error) {
	text, err := c.Kube.Discovery().RESTClient().Get().AbsPath("/apis/identity.tabard.dev/v1alpha1/oidcissuers/lab").DoRaw(ctx)
	if err != nil {
		return issuer, err
	}
	return issuer, json.Unmarshal(text, &issuer)
}

// awaitKeys waits until KeysInSync has a status and a reason and its message all
// texts. It returns the issuer.
func (c *cluster) awaitKeys(status metav1.ConditionStatus, reason core.Reason, texts ...string) v1alpha1.OIDCIssuer {
	c.t.Helper()
	var issuer v1alpha1.OIDCIssuer
	began := time.Now()
	c.Eventually(fmt.Sprintf("KeysInSync is %s %s and says %q", status, reason, texts), func(ctx context.Context) (err error) {
		if issuer, err = c.issuer(ctx); err != nil {
			return err
		}
		seen := meta.FindStatusCondition(issuer.Status.Conditions, core.TypeKeysInSync)
		if seen == nil || seen.Status != status || seen.Reason != string(reason) ||
			slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(seen.Message, text) }) {
			return fmt.Errorf("it is %+v", seen)
		}
		c.t.Logf("after %.1f s KeysInSync is %s %s: %s", time.Since(began).Seconds(), seen.Status, seen.Reason, seen.Message)
		return nil
	})
	return issuer
}

// activeKeys are the IDs of the keys that the issuer knows to be in use.
func (c *cluster) activeKeys() []string {
	c.t.Helper()
	issuer := must.Get(c.issuer(c.t.Context()))(c.t)
	var ids []string
	for _, key := range issuer.Status.Keys {
		if key.State == v1alpha1.KeyActive {
			ids = append(ids, key.KeyID)
		}
	}
	return ids
}

// published are the IDs of the keys in the document that anybody reads.
func (c *cluster) published() []string {
	c.t.Helper()
	client := must.Get(c.Client())(c.t)
	request := must.Get(http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.Env["TABARD_ISSUER_URL"]+"/"+core.KeysPath, nil))(c.t)
	response, err := client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // read only
	text := must.Get(io.ReadAll(response.Body))(c.t)
	keys := must.Get(core.ReadJWKS(text))(c.t)
	var ids []string
	for _, key := range keys {
		ids = append(ids, key.ID)
	}
	return ids
}

// journal is every call of the local AWS, none of them forgotten.
func (c *cluster) journal() []onlab.Call {
	c.t.Helper()
	const kept = 10000
	all := must.Get(c.Journal(c.t.Context()))(c.t)
	if len(all) >= kept {
		c.t.Fatalf("the journal has %d calls, it may have forgotten others", len(all))
	}
	return all
}

// exchanges are the journal's exchanges of tokens for credentials of the role: those
// that were granted and those that were refused.
func (c *cluster) exchanges() (granted, refused []onlab.Call) {
	c.t.Helper()
	for _, call := range c.journal() {
		switch {
		case call.Operation != "AssumeRoleWithWebIdentity" || call.Resource != c.role.ARN:
		case call.Status == http.StatusOK:
			granted = append(granted, call)
		default:
			refused = append(refused, call)
		}
	}
	return granted, refused
}

// credentials counts the credentials with which a pod has called AWS. Each are of an
// exchange of their own.
func (c *cluster) credentials(pod string) int {
	c.t.Helper()
	used := map[string]bool{}
	for _, call := range c.calls(pod) {
		used[call.AccessKeyID] = true
	}
	return len(used)
}

// expectRenewal waits until AWS has taken the tokens of pods again, that of each
// container at least once.
func (c *cluster) expectRenewal(pods ...string) {
	c.t.Helper()
	before := map[string]int{}
	for _, pod := range pods {
		before[pod] = c.credentials(pod)
	}
	c.Eventually(fmt.Sprintf("%q take new credentials", pods), func(context.Context) error {
		for _, pod := range pods {
			if got := c.credentials(pod); got < before[pod]+3 {
				return fmt.Errorf("%s had %d credentials, it has %d", pod, before[pod], got)
			}
		}
		return nil
	})
}
