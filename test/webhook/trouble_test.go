package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	roleAnnotated = "arn:aws:iam::111122223333:role/annotated"
	roleEven      = "arn:aws:iam::111122223333:role/even"
	roleOdd       = "arn:aws:iam::111122223333:role/odd"
)

// trouble is two replicas that are asked about pods all the time. One of them is always
// up, so every pod must get what it should.
type trouble struct {
	*cluster
	first, second *replica
	load          *load
}

func (c *cluster) startTrouble(pace pace) *trouble {
	c.t.Helper()
	c.makeAccounts()
	c.writeMapping(roleEven)
	in := &trouble{cluster: c, first: c.replica("webhook-1", "--watch-config-map"), second: c.replica("webhook-2", "--watch-config-map")}
	in.awaitBoth()
	in.load = c.startLoad(pace,
		kind{c.shop, "annotated", []string{roleAnnotated}},
		kind{c.shop, "mapped", []string{roleEven, roleOdd}},
		kind{c.shop, "nobody", nil},
		kind{c.vault, "annotated", []string{roleAnnotated}},
	)
	return in
}

// TestNoPodIsMissedInTrouble creates pods while, one after the other, the replicas are
// cut off from the API server, the config map changes, the certificate is exchanged, and
// a replica is restarted, so that the API server connects anew.
func TestNoPodIsMissedInTrouble(t *testing.T) {
	c := startCluster(t)
	c.putCertificate(time.Now())
	in := c.startTrouble(gently)
	in.wire.set(true)
	in.goOn()
	in.wire.set(false)
	in.changeMapping(func() bool { return in.load.roleCount(roleOdd) > 0 && in.load.roleCount(roleEven) > 0 })
	in.renewServing()
	in.restart()
	in.goOn()
	in.end()
}

// probe is the namespace, and the ServiceAccount, by which the operator asks whether the API
// server trusts a CA.
const probe = "tabard-probe"

// TestLongNoPodIsMissedInTrouble is the same with more pods and for longer, and an
// operator rotates authority and certificate.
func TestLongNoPodIsMissedInTrouble(t *testing.T) {
	c := newCluster(t, testkit.StartCluster(t, testkit.ClusterOptions{Issuer: "https://issuer.example.com"}), "webhook.yaml", probe)
	c.system = "tabard-system" // where the operator keeps the certificate
	for _, namespace := range []string{c.system, probe} {
		c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	c.create(shipped[corev1.ServiceAccount](t, "webhook.yaml", "ServiceAccount", probe))
	// The authority has lived two thirds of its life: the first thing that an
	// operator does is to rotate it.
	c.putCertificate(time.Now().AddDate(-8, 0, 0))
	in := c.startTrouble(withoutPause)
	for range 2 {
		in.restart()
	}
	in.wire.set(true)
	<-time.After(10 * time.Second)
	in.wire.set(false)
	end := time.Now().Add(5 * time.Second)
	in.changeMapping(func() bool { return time.Now().After(end) })
	c.run("operator", "--controllers=certificate", "--leader-elect=false", "--log-level=debug",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--kubeconfig", c.kubeconfig("operator.kubeconfig", c.config.Host[len("https://"):]))
	in.awaitRotation()
	in.goOn()
	in.end()
}

func (in *trouble) awaitBoth() {
	in.t.Helper()
	in.await("two ready replicas", func(context.Context) bool { return in.balancer.count() == 2 })
}

func (in *trouble) restart() {
	in.t.Helper()
	in.first.End()
	in.first.start()
	in.awaitBoth()
}

// renewServing stores another certificate by the same authority, and waits until both
// replicas serve it.
func (in *trouble) renewServing() {
	in.t.Helper()
	var secret corev1.Secret
	in.get(in.system, "tabard-webhook-cert", &secret)
	secret.Data = must.Get(certificate.Apply(certificate.IssueServing{Names: "127.0.0.1"}, secret.Data, time.Now(), rand.Reader))(in.t)
	must.Do(in.t, in.Update(in.t.Context(), &secret))
	block, _ := pem.Decode(secret.Data["tls.crt"])
	for _, r := range []*replica{in.first, in.second} {
		in.await("the new certificate of "+r.name, func(ctx context.Context) bool { return bytes.Equal(r.serves(ctx), block.Bytes) })
	}
}

// goOn waits until there are some more pods of each kind.
func (in *trouble) goOn() {
	in.t.Helper()
	before := in.load.counts()
	in.await("more pods of each kind", func(context.Context) bool {
		now := in.load.counts()
		for k, n := range before {
			if now[k] < n+10 {
				return false
			}
		}
		return true
	})
}

func (in *trouble) end() {
	in.t.Helper()
	roles := in.load.end(in.t)
	for _, role := range []string{roleAnnotated, roleEven, roleOdd, ""} {
		if roles[role] == 0 {
			in.t.Errorf("no pod got the role %q: the test has not tested it", role)
		}
	}
}

// putCertificate stores a certificate whose authority was made then, and lets the
// hooks trust it.
func (c *cluster) putCertificate(made time.Time) {
	c.t.Helper()
	data, err := certificate.Apply(certificate.IssueAll{Names: "127.0.0.1"}, nil, made, rand.Reader)
	if err == nil {
		data, err = certificate.Apply(certificate.IssueServing{Names: "127.0.0.1"}, data, time.Now(), rand.Reader)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.serve(data)
}

// serve stores a certificate, and lets the hooks trust its authorities.
func (c *cluster) serve(data map[string][]byte) {
	c.t.Helper()
	c.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.system, Name: "tabard-webhook-cert", Labels: map[string]string{certificate.MarkLabel: certificate.MarkValue}},
		Type:       corev1.SecretTypeTLS, Data: data,
	})
	hooks := &admissionv1.MutatingWebhookConfiguration{}
	c.get("", configuration, hooks)
	for i := range hooks.Webhooks {
		hooks.Webhooks[i].ClientConfig.CABundle = data[certificate.AuthoritiesKey]
	}
	must.Do(c.t, c.Update(c.t.Context(), hooks))
}

// awaitRotation waits until what is served is signed by another authority.
func (c *cluster) awaitRotation() {
	c.t.Helper()
	var before corev1.Secret
	c.get(c.system, "tabard-webhook-cert", &before)
	c.await("the rotation", func(ctx context.Context) bool {
		var now corev1.Secret
		err := c.Get(ctx, types.NamespacedName{Namespace: c.system, Name: "tabard-webhook-cert"}, &now)
		return err == nil && !bytes.Equal(now.Data["ca.crt"], before.Data["ca.crt"]) && !bytes.Equal(now.Data["tls.crt"], before.Data["tls.crt"])
	})
}

func (c *cluster) get(namespace, name string, into client.Object) {
	c.t.Helper()
	must.Do(c.t, c.Get(c.t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, into))
}

// makeAccounts makes the namespaces, and ServiceAccounts of which one names its
// role.
func (c *cluster) makeAccounts() {
	c.t.Helper()
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.shop}})
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.vault, Labels: map[string]string{"tabard.dev/injection": "required"}}})
	for name, role := range map[string]string{"annotated": roleAnnotated, "misspelt": "arn:aws:iam:111122223333:role/misspelt", "mapped": "", "nobody": ""} {
		c.makeAccount(name, role)
	}
	// With nobody behind them the hooks refuse this pod, as soon as they are asked.
	c.await("the hooks", func(ctx context.Context) bool {
		return c.createPod(ctx, kind{namespace: c.vault, account: "nobody"}).err != nil
	})
}

// writeMapping makes the config map give a role to every ServiceAccount mapped.
func (c *cluster) writeMapping(role string) {
	c.t.Helper()
	c.writeConfigMap(fmt.Sprintf(`{"*/mapped": {"RoleARN": %q}}`, role))
}

func (c *cluster) writeConfigMap(text string) {
	c.t.Helper()
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.system, Name: "pod-identity-webhook"},
		Data:       map[string]string{"config": text},
	}
	err := c.Update(c.t.Context(), config)
	if client.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
	}
	if err != nil {
		c.create(config)
	}
}

// changeMapping changes the config map all the time until it is enough.
func (c *cluster) changeMapping(enough func() bool) {
	c.t.Helper()
	i := 0
	c.await("enough changes", func(context.Context) bool {
		c.writeMapping([]string{roleOdd, roleEven}[i%2])
		i++
		return enough()
	})
}

func (c *cluster) await(what string, done func(context.Context) bool) {
	c.t.Helper()
	begin := time.Now()
	err := wait.PollUntilContextTimeout(c.t.Context(), 100*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		return done(ctx), nil
	})
	if err != nil {
		c.t.Fatalf("waiting for %s: %v", what, err)
	}
	c.t.Logf("%s: %.1f s", what, time.Since(begin).Seconds())
}
