package webhook

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// cell is one cell of the table in docs/webhook.md: what becomes of a pod of a
// ServiceAccount under one of the two hooks.
type cell struct {
	kind kind
	// role is what the pod gets; refusal is in the text by which it is refused
	// instead, warning in one that comes with it.
	role, refusal, warning string
}

// pods of a ServiceAccount, first under the hook that fails open, then under the
// one that does not.
func (c *cluster) pods(account string, open, closed cell) []cell {
	open.kind, closed.kind = kind{namespace: c.shop, account: account}, kind{namespace: c.vault, account: account}
	return []cell{open, closed}
}

// TestWhatHappensWhenTheWebhookCannotKnow is the table of docs/webhook.md, cell
// by cell, through a real API server.
func TestWhatHappensWhenTheWebhookCannotKnow(t *testing.T) {
	c := startCluster(t)
	c.putCertificate(time.Now())
	c.makeAccounts()
	said := c.hearWarnings()
	injected := cell{role: roleAnnotated}

	t.Run("the webhook is down", func(t *testing.T) {
		c.check(t, said, c.pods("annotated", cell{}, cell{refusal: `failed calling webhook "required.pod-identity.tabard.dev"`}))
	})
	t.Run("ServiceAccounts are not read yet", func(t *testing.T) {
		c.wire.set(true)
		// Without its API server it cannot have its certificate from the Secret.
		r := c.replica("unsynced", c.servingFiles()...)
		c.await("its listener", r.listens)
		c.balancer.force(r)
		c.check(t, said, c.pods("annotated", cell{}, cell{refusal: "have not been read yet"}))
		c.balancer.remove(r)
		c.wire.set(false)
	})
	t.Run("the configuration cannot be read", func(t *testing.T) {
		c.writeConfigMap("{")
		r := c.replica("misconfigured", "--watch-config-map")
		c.awaitReady(r)
		c.check(t, said, c.pods("annotated", injected, injected))
		c.check(t, said, c.pods("mapped", cell{}, cell{refusal: "configuration could not be read"}))
		c.balancer.remove(r)
	})
	c.writeMapping(roleEven)
	r := c.replica("webhook", "--watch-config-map")
	c.awaitReady(r)
	t.Run("the configuration cannot be read any more", func(t *testing.T) {
		c.writeConfigMap("{")
		c.check(t, said, c.pods("mapped", cell{role: roleEven}, cell{role: roleEven}))
	})
	t.Run("the role is none", func(t *testing.T) {
		c.check(t, said, c.pods("misspelt", cell{warning: "misspelt"}, cell{refusal: "misspelt"}))
	})
	t.Run("the annotation is nearly right", func(t *testing.T) {
		for _, namespace := range []string{c.shop, c.vault} {
			c.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nearly",
				Annotations: map[string]string{"eks.amazon.com/role-arn": roleAnnotated}}})
		}
		hint := cell{warning: "has the annotation eks.amazon.com/role-arn: did you mean eks.amazonaws.com/role-arn?"}
		c.check(t, said, c.pods("nearly", hint, hint))
	})
	t.Run("there is no such ServiceAccount", func(t *testing.T) {
		c.check(t, said, c.pods("ghost", cell{}, cell{refusal: "ServiceAccount " + c.vault + "/ghost does not exist"}))
	})
	t.Run("the API server is down", func(t *testing.T) {
		c.wire.set(true)
		c.makeAccount("annotated-later", roleAnnotated)
		c.check(t, said, c.pods("annotated", injected, injected))
		c.check(t, said, c.pods("annotated-later", cell{}, cell{refusal: "could not be read"}))
		c.wire.set(false)
	})
}

// check creates a pod for each cell, and looks what became of it.
func (c *cluster) check(t *testing.T, said *warnings, cells []cell) {
	t.Helper()
	for _, want := range cells {
		said.take()
		got := c.createPod(t.Context(), want.kind)
		text := ""
		if got.err != nil {
			text = got.err.Error()
		}
		if got.role != want.role && want.refusal == "" || (got.err != nil) != (want.refusal != "") || !strings.Contains(text, want.refusal) {
			t.Errorf("a pod of %v gets role %q, error %v; want role %q, refusal with %q", want.kind, got.role, got.err, want.role, want.refusal)
		}
		if heard := strings.Join(said.take(), "\n"); !strings.Contains(heard, want.warning) {
			t.Errorf("with a pod of %v come the warnings %q, want one with %q", want.kind, heard, want.warning)
		}
	}
}

// warnings are those that came with answers of the API server.
type warnings struct {
	mu   sync.Mutex
	said []string
}

// HandleWarningHeaderWithContext keeps a warning.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said
	w.said = nil
	return said
}

// hearWarnings makes the cluster's client keep warnings.
func (c *cluster) hearWarnings() *warnings {
	c.t.Helper()
	heard := &warnings{}
	config := rest.CopyConfig(c.config)
	config.WarningHandlerWithContext = heard
	made := must.Get(client.New(config, client.Options{}))(c.t)
	c.Client = made
	return heard
}

func (c *cluster) makeAccount(name, role string) {
	c.t.Helper()
	for _, namespace := range []string{c.shop, c.vault} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if role != "" {
			account.Annotations = map[string]string{"eks.amazonaws.com/role-arn": role}
		}
		c.create(account)
	}
}

// servingFiles are flags by which a replica serves with the Secret's certificate
// without reading the Secret.
func (c *cluster) servingFiles() []string {
	c.t.Helper()
	var secret corev1.Secret
	c.get(c.system, "tabard-webhook-cert", &secret)
	args := []string{}
	for name, flag := range map[string]string{"tls.crt": "--tls-cert", "tls.key": "--tls-key"} {
		path := filepath.Join(c.dir, name)
		must.Do(c.t, os.WriteFile(path, secret.Data[name], 0o600))
		args = append(args, flag, path)
	}
	return args
}

// listens says whether it can be connected to.
func (r *replica) listens(ctx context.Context) bool {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", r.port))
	return err == nil && connection.Close() == nil
}

func (c *cluster) awaitReady(r *replica) {
	c.t.Helper()
	c.await("a ready replica", func(context.Context) bool {
		c.balancer.mu.Lock()
		defer c.balancer.mu.Unlock()
		return c.balancer.ready[r]
	})
}
