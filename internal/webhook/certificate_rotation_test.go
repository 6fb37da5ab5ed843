package webhook_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/certificate"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/webhook"
)

// rotation is a cluster with two API servers and two replicas of the webhook
// behind one address, whose CA has come of age.
type rotation struct {
	t *testing.T
	// servers are the API servers; the second learns of webhook configurations
	// through a relay.
	servers []*testkit.APIServer
	etcd    *relay
	webhook *relay
	cluster client.Client
	// own are the operator's clients of the API servers, with its rights only.
	own []controller.APIServer
	// ahead is how far the operator's clock is ahead, so that nobody has to wait.
	ahead    time.Duration
	registry *prometheus.Registry
	metrics  *certificate.Metrics
	events   *events.FakeRecorder
	// told are the events so far.
	told []string
}

// TestARotationMissesNoPod renews the webhook's CA while pods are created all the
// time through two API servers. One of them does not see for a while what has
// changed: until it does, nothing is served that it would not trust. The operator
// is killed after each of its steps. No pod may go without its identity.
func TestARotationMissesNoPod(t *testing.T) {
	rotate(t, load{burst: 40, pause: time.Second, pods: 80, connections: 20})
}

// TestLongRotationUnderLoad is the same with as many pods as the API servers can create.
func TestLongRotationUnderLoad(t *testing.T) {
	rotate(t, load{burst: 80, pause: 200 * time.Millisecond, pods: 200, connections: 100})
}

func rotate(t *testing.T, load load) {
	t.Helper()
	r := newRotation(t)
	stop := r.createPods(load)
	old := r.secret()
	r.etcd.freeze(true) // the second API server lives on with the configuration that it knows

	operator := r.newOperator()
	forbidden := podOf("tabard-issuer")
	forbidden.Namespace = "tabard-system"
	if err := operator.Served.Create(t.Context(), forbidden, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("the operator may create pods in tabard-system, and become any account there: %v", err)
	}
	seen := map[string]bool{}
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(strings.Join(r.told, "\n"), "TrustNotProven"); {
		if time.Now().After(deadline) {
			t.Fatalf("the API server that is behind is not told of; told %q", r.told)
		}
		step := r.pass(operator)
		if step != "" && !seen[step] {
			seen[step] = true
			operator = r.newOperator() // killed after the step, with all that it remembers
		}
		if err := followersTrust(t, r.cluster, r.secret()["ca.crt"]); seen["PutBundle"] && err != nil {
			t.Errorf("after the step %s: %v", step, err)
		}
		if seen["Probe"] {
			r.ahead += 2 * time.Minute // it has seen enough of it
		}
	}
	for _, step := range []string{"IssueAuthority", "PutBundle", "IssueProbe", "Probe"} {
		if !seen[step] {
			t.Errorf("no step %s was made and survived", step)
		}
	}
	if last := r.told[len(r.told)-1]; !strings.Contains(last, r.servers[1].Config.Host+" (refused: ") || strings.Contains(last, r.servers[0].Config.Host) {
		t.Errorf("told %q, want the second API server as the one that does not trust", last)
	}
	if now := r.secret(); string(now["tls.crt"]) != string(old["tls.crt"]) {
		t.Fatal("the serving certificate was exchanged before every API server trusts the new CA")
	}

	r.etcd.freeze(false)
	r.awaitTrust(operator)
	r.passUntil(operator, "IssueServing")
	if last := r.told[len(r.told)-1]; !strings.Contains(last, "TrustProven") {
		t.Errorf("told %q, want that the trust is proven", last)
	}
	r.passUntil(operator, "Publish")
	r.servesTheNew(old, load.connections)
	if err := followersTrust(t, r.cluster, r.secret()["ca.crt"]); err != nil {
		t.Error(err)
	}
	created := stop()
	t.Logf("%d pods were created", created)
	if created < load.pods {
		t.Errorf("only %d pods were created: that is no load", created)
	}
}

func newRotation(t *testing.T) *rotation {
	t.Helper()
	first := webhook.Emptied(t)
	r := &rotation{t: t, registry: prometheus.NewRegistry(), events: events.NewFakeRecorder(1000),
		etcd: startRelay(t, 0, strings.TrimPrefix(first.Etcd(), "http://"))}
	r.metrics = certificate.NewMetrics(r.registry)
	r.servers = []*testkit.APIServer{first.APIServer, first.StartAnother(t,
		"--etcd-servers-overrides=admissionregistration.k8s.io/mutatingwebhookconfigurations#http://"+r.etcd.address())}
	r.cluster = first
	ports := []int{testkit.FreePort(t), testkit.FreePort(t)}
	r.webhook = startRelay(t, 50*time.Millisecond, fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1]))
	installNamespaces(t, r.cluster)
	r.agedSecret()
	installWebhook(t, r.cluster, r.webhook.address(), r.secret()["ca.crt"])
	installFollowers(t, r.cluster)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, len(ports))
	for _, port := range ports {
		go func() { ended <- serve(ctx, first.Config, port) }()
	}
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	for _, server := range r.servers {
		r.own = append(r.own, controller.APIServer{Address: server.Config.Host, Config: asOperator(t, r.cluster, server.Config)})
		served := must.Get(client.New(server.Config, client.Options{}))(t)
		eventually(t, func() error { return tryStrict(t, served) })
	}
	return r
}

// agedSecret is what an operator left whose CA was made seven years ago.
func (r *rotation) agedSecret() {
	r.t.Helper()
	now := time.Now()
	data, err := core.Apply(core.IssueAll{Names: "127.0.0.1"}, nil, now.Add(-7*365*24*time.Hour), rand.Reader)
	if err != nil {
		r.t.Fatal(err)
	}
	if data, err = core.Apply(core.IssueServing{Names: "127.0.0.1"}, data, now.Add(-24*time.Hour), rand.Reader); err != nil {
		r.t.Fatal(err)
	}
	for name, data := range map[string]map[string][]byte{"tabard-webhook-authority": data, "tabard-webhook-cert": core.Published(data)} {
		create(r.t, r.cluster, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-certificate", Name: name, Labels: map[string]string{core.MarkLabel: core.MarkValue}},
			Type:       corev1.SecretTypeTLS, Data: data,
		})
	}
}

func (r *rotation) secret() map[string][]byte {
	r.t.Helper()
	var stored corev1.Secret
	must.Do(r.t, r.cluster.Get(r.t.Context(), types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-webhook-cert"}, &stored))
	return stored.Data
}

// newOperator is a process that has just started.
func (r *rotation) newOperator() *certificate.Controller {
	r.t.Helper()
	own := must.Get(client.New(r.own[0].Config, client.Options{}))(r.t)
	return &certificate.Controller{
		Host: own, Served: own, Configuration: "tabard-webhook", Validating: "tabard-role-selectors",
		Authority: types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-webhook-authority"},
		Secret:    types.NamespacedName{Namespace: "tabard-certificate", Name: "tabard-webhook-cert"},
		Events:    r.events, Metrics: r.metrics, Entropy: rand.Reader,
		Now: func() time.Time { return time.Now().Add(r.ahead) },
		Probe: certificate.DryRuns{Metrics: r.metrics, Now: time.Now, Servers: func(ctx context.Context) ([]controller.APIServer, error) {
			// These listen on loopback addresses, which cannot be listed.
			_, err := controller.APIServers(ctx, own, r.own[0].Config)
			return r.own, err
		}},
	}
}

// pass makes one, and returns the step that was made. The operator's clock goes
// on to the next.
func (r *rotation) pass(operator *certificate.Controller) string {
	r.t.Helper()
	before := r.steps()
	result, err := controller.Measured(operator.Metrics.Metrics, operator).Reconcile(logr.NewContext(r.t.Context(), logr.Discard()), reconcile.Request{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.ahead += result.RequeueAfter
	for len(r.events.Events) > 0 {
		r.told = append(r.told, <-r.events.Events)
	}
	for name, count := range r.steps() {
		if count != before[name] {
			return name
		}
	}
	return ""
}

// awaitTrust waits until both API servers accept the probe certificate.
func (r *rotation) awaitTrust(operator *certificate.Controller) {
	r.t.Helper()
	block, _ := pem.Decode(r.secret()["probe.crt"])
	eventually(r.t, func() error {
		for _, found := range operator.Probe.Look(r.t.Context(), core.Fingerprint(block.Bytes), certificate.LabelsFor(nil)) {
			if found.Verdict != core.Trusted {
				return fmt.Errorf("%+v", found)
			}
		}
		return nil
	})
}

func (r *rotation) passUntil(operator *certificate.Controller, step string) {
	r.t.Helper()
	eventually(r.t, func() error {
		if made := r.pass(operator); made != step {
			return fmt.Errorf("the step is %q, want %s; told %q", made, step, r.told)
		}
		return nil
	})
}

// steps is how many of each were made.
func (r *rotation) steps() map[string]float64 {
	r.t.Helper()
	families := must.Get(r.registry.Gather())(r.t)
	found := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "tabard_certificate_steps_total" {
				found[metric.GetLabel()[1].GetValue()] = metric.GetCounter().GetValue() // after the configuration
			}
		}
	}
	return found
}

// servesTheNew demands that the replicas serve by the new CA, and that the API
// servers have asked on so many new connections since.
func (r *rotation) servesTheNew(old map[string][]byte, connections int) {
	r.t.Helper()
	now := r.secret()
	block, _ := pem.Decode(now["ca.crt"])
	authority := must.Get(x509.ParseCertificate(block.Bytes))(r.t)
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	if strings.Contains(string(old["ca.crt"]), string(pem.EncodeToMemory(block))) || !strings.HasSuffix(string(now["ca.crt"]), string(old["ca.crt"])) {
		r.t.Error("the bundle is not that of a new CA and the old one")
	}
	for _, backend := range r.webhook.backends {
		eventually(r.t, func() error {
			connection, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}).DialContext(r.t.Context(), "tcp", backend)
			if err != nil {
				return err
			}
			return connection.Close()
		})
	}
	before := r.webhook.connections()
	eventually(r.t, func() error {
		if r.webhook.connections() < before+connections {
			return errors.New("the API servers do not open new connections")
		}
		return nil
	})
}
