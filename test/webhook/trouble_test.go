package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
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
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	roleAnnotated = "arn:aws:iam::111122223333:role/annotated"
	roleEven      = "arn:aws:iam::111122223333:role/even"
	roleOdd       = "arn:aws:iam::111122223333:role/odd"
)

// TestNoPodIsMissedInTrouble creates pods without a pause while, one after the
// other, a replica is restarted, the replicas are cut off from the API server,
// the config map changes all the time, and authority and certificate are rotated.
// A replica is always up, so every pod must get what it should.
func TestNoPodIsMissedInTrouble(t *testing.T) {
	c := startCluster(t)
	// The authority has lived two thirds of its life: the first thing that an
	// operator does is to rotate it.
	c.putCertificate(time.Now().AddDate(-8, 0, 0))
	c.makeAccounts()
	c.writeMapping(roleEven)
	first := c.replica("webhook-1", "--watch-config-map")
	c.replica("webhook-2", "--watch-config-map")
	c.await("two ready replicas", func(context.Context) bool { return c.balancer.count() == 2 })

	l := c.startLoad(
		kind{"shop", "annotated", []string{roleAnnotated}},
		kind{"shop", "mapped", []string{roleEven, roleOdd}},
		kind{"shop", "nobody", nil},
		kind{"vault", "annotated", []string{roleAnnotated}},
	)
	for range 2 {
		first.End()
		first.start()
		c.await("the restarted replica", func(context.Context) bool { return c.balancer.count() == 2 })
	}
	c.wire.set(true)
	<-time.After(10 * time.Second)
	c.wire.set(false)
	c.changeMapping(5 * time.Second)
	c.run("operator", "--controllers=certificate", "--leader-elect=false", "--log-level=debug",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--kubeconfig", c.kubeconfig("operator.kubeconfig", c.config.Host[len("https://"):]))
	c.awaitRotation()
	roles := l.end(t)
	for _, role := range []string{roleAnnotated, roleEven, roleOdd, ""} {
		if roles[role] == 0 {
			t.Errorf("no pod got the role %q: the test has not tested it", role)
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
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "tabard-webhook-cert", Labels: map[string]string{certificate.MarkLabel: certificate.MarkValue}},
		Type:       corev1.SecretTypeTLS, Data: data,
	})
	hooks := &admissionv1.MutatingWebhookConfiguration{}
	c.get("", "tabard-webhook", hooks)
	for i := range hooks.Webhooks {
		hooks.Webhooks[i].ClientConfig.CABundle = data[certificate.AuthoritiesKey]
	}
	must.Do(c.t, c.Update(c.t.Context(), hooks))
}

// awaitRotation waits until what is served is signed by another authority.
func (c *cluster) awaitRotation() {
	c.t.Helper()
	var before corev1.Secret
	c.get(system, "tabard-webhook-cert", &before)
	c.await("the rotation", func(ctx context.Context) bool {
		var now corev1.Secret
		err := c.Get(ctx, types.NamespacedName{Namespace: system, Name: "tabard-webhook-cert"}, &now)
		return err == nil && !bytes.Equal(now.Data["ca.crt"], before.Data["ca.crt"]) && !bytes.Equal(now.Data["tls.crt"], before.Data["tls.crt"])
	})
	<-time.After(5 * time.Second) // under load with the new one
}

func (c *cluster) get(namespace, name string, into client.Object) {
	c.t.Helper()
	must.Do(c.t, c.Get(c.t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, into))
}

// makeAccounts makes the namespaces, and ServiceAccounts of which one names its
// role.
func (c *cluster) makeAccounts() {
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vault", Labels: map[string]string{"tabard.dev/injection": "required"}}})
	for name, role := range map[string]string{"annotated": roleAnnotated, "misspelt": "arn:aws:iam:111122223333:role/misspelt", "mapped": "", "nobody": ""} {
		c.makeAccount(name, role)
	}
}

// writeMapping makes the config map give a role to every ServiceAccount mapped.
func (c *cluster) writeMapping(role string) {
	c.t.Helper()
	c.writeConfigMap(fmt.Sprintf(`{"*/mapped": {"RoleARN": %q}}`, role))
}

func (c *cluster) writeConfigMap(text string) {
	c.t.Helper()
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "pod-identity-webhook"},
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

// changeMapping changes the config map every 50 ms.
func (c *cluster) changeMapping(span time.Duration) {
	c.t.Helper()
	for i, end := 0, time.Now().Add(span); time.Now().Before(end); i++ {
		c.writeMapping([]string{roleOdd, roleEven}[i%2])
		<-time.After(50 * time.Millisecond)
	}
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
