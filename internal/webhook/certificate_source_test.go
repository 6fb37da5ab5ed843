package webhook_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	core "github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/webhook"
)

// source plays somebody else who keeps the webhook's certificate, as they do.
type source struct {
	t       *testing.T
	cluster client.Client
	// namespace is where it makes the Secret.
	namespace string
	// annotations are those that it leaves at the Secret.
	annotations map[string]string
	// withAuthority says that it puts its CA into the Secret, too.
	withAuthority bool
	// held is what it knows: certificate, CA, and their keys.
	held map[string][]byte
}

// TestOthersKeepTheCertificate applies the examples, plays whom they ask, and
// rotates certificate and CA as these do. The operator runs beside, and must
// touch neither Secret nor configuration.
func TestOthersKeepTheCertificate(t *testing.T) {
	sources := map[string]source{
		"cert-manager.yaml": {namespace: "tabard-certificate", annotations: map[string]string{"cert-manager.io/certificate-name": "tabard-webhook", "cert-manager.io/issuer-name": "tabard-webhook",
			"cert-manager.io/alt-names": "tabard-webhook.tabard-system.svc"}, withAuthority: true},
		"openshift.yaml": {namespace: "tabard-system", annotations: map[string]string{"service.beta.openshift.io/originating-service-name": "tabard-webhook",
			"service.beta.openshift.io/originating-service-uid": "0", "service.beta.openshift.io/expiry": "2028-01-01T00:00:00Z"}},
	}
	for example, s := range sources {
		t.Run(example, func(t *testing.T) {
			cluster := webhook.Emptied(t)
			s.cluster = cluster
			s.t = t
			ctx, cancel := context.WithCancel(ctrl.LoggerInto(t.Context(), ctrl.Log))
			port, ended := testkit.FreePort(t), make(chan error, 2)
			installNamespaces(t, s.cluster)
			installWebhook(t, s.cluster, fmt.Sprintf("127.0.0.1:%d", port), nil)
			s.apply(example)
			go func() { ended <- serveFrom(ctx, cluster.Config, port, s.namespace) }()
			go func() { ended <- keepCertificate(ctx, cluster.Config) }()
			s.rotate(port)
			cancel()
			if err := errors.Join(<-ended, <-ended); err != nil {
				t.Error(err)
			}
		})
	}
}

// apply does what kubectl apply --server-side does with an example. What
// cert-manager alone reads is only looked at.
func (s *source) apply(example string) {
	s.t.Helper()
	for _, text := range documents(s.t, "examples", "certificate", example) {
		object := &unstructured.Unstructured{}
		must.Do(s.t, yaml.UnmarshalStrict(text, object))
		if object.GroupVersionKind().Group == "cert-manager.io" {
			s.wantCertificate(object)
			continue
		}
		must.Do(s.t, s.cluster.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl")))
	}
}

// wantCertificate demands that the Certificate that the annotation names is for
// the webhook's Secret, and for the name by which API servers call the webhook.
func (s *source) wantCertificate(object *unstructured.Unstructured) {
	s.t.Helper()
	if object.GetKind() != "Certificate" || object.GetNamespace()+"/"+object.GetName() != "tabard-certificate/tabard-webhook" {
		return
	}
	secret, _, _ := unstructured.NestedString(object.Object, "spec", "secretName")
	names, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "dnsNames")
	if secret != "tabard-webhook-cert" || !slices.Contains(names, "tabard-webhook.tabard-system.svc") {
		s.t.Errorf("the Certificate is for Secret %q and names %q", secret, names)
	}
}

// rotate goes through a life: first certificate, another, another CA.
func (s *source) rotate(port int) {
	s.t.Helper()
	s.change(core.IssueAll{Names: "127.0.0.1"})
	s.store()
	s.inject()
	s.serves(port)
	s.change(core.IssueServing{Names: "127.0.0.1"})
	s.store()
	s.serves(port)
	s.change(core.IssueAuthority{})
	looked := operatorMetric(s.t, "controller_runtime_reconcile_total", "success")
	s.inject()
	s.change(core.IssueServing{Names: "127.0.0.1"})
	s.store()
	s.serves(port)
	eventually(s.t, func() error { return operatorSaw(s.t, looked) })
	s.untouched()
}

func (s *source) change(step core.Step) {
	s.t.Helper()
	var err error
	if s.held, err = core.Apply(step, s.held, time.Now(), rand.Reader); err != nil {
		s.t.Fatal(err)
	}
}

// store writes the Secret: certificate and key, of the type for that.
func (s *source) store() {
	s.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "tabard-webhook-cert"}}
	must.Get(ctrl.CreateOrUpdate(s.t.Context(), s.cluster, secret, func() error {
		secret.Annotations, secret.Type = s.annotations, corev1.SecretTypeTLS
		secret.Data = map[string][]byte{"tls.crt": s.held["tls.crt"], "tls.key": s.held["tls.key"]}
		if s.withAuthority {
			secret.Data["ca.crt"] = s.held["ca.crt"]
		}
		return nil
	}))(s.t)
}

// inject writes the caBundles.
func (s *source) inject() {
	s.t.Helper()
	configuration := s.configuration()
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.CABundle = s.held["ca.crt"]
	}
	must.Do(s.t, s.cluster.Update(s.t.Context(), configuration))
}

func (s *source) configuration() *admissionregistrationv1.MutatingWebhookConfiguration {
	s.t.Helper()
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	must.Do(s.t, s.cluster.Get(s.t.Context(), types.NamespacedName{Name: "tabard-webhook"}, configuration))
	return configuration
}

// serves waits until the webhook serves the certificate of the moment, and pods
// that need their identity start.
func (s *source) serves(port int) {
	s.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.held["ca.crt"])
	eventually(s.t, func() error {
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		connection, err := dialer.DialContext(s.t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		defer connection.Close() //nolint:errcheck // it was only to be opened
		secured, ok := connection.(*tls.Conn)
		if !ok {
			return fmt.Errorf("connection is %T", connection)
		}
		served := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.ConnectionState().PeerCertificates[0].Raw})
		if string(served) != string(s.held["tls.crt"]) {
			return errors.New("the webhook serves another certificate")
		}
		return tryStrict(s.t, s.cluster)
	})
}

// untouched demands that nobody else has changed Secret or caBundles.
func (s *source) untouched() {
	s.t.Helper()
	for _, hook := range s.configuration().Webhooks {
		if string(hook.ClientConfig.CABundle) != string(s.held["ca.crt"]) {
			s.t.Errorf("the caBundle of %s was changed", hook.Name)
		}
	}
	var secret corev1.Secret
	must.Do(s.t, s.cluster.Get(s.t.Context(), types.NamespacedName{Namespace: s.namespace, Name: "tabard-webhook-cert"}, &secret))
	if string(secret.Data["tls.crt"]) != string(s.held["tls.crt"]) || secret.Data["ca.key"] != nil || secret.Labels[core.MarkLabel] != "" {
		s.t.Errorf("the Secret was changed: it has %d entries, labels %v", len(secret.Data), secret.Labels)
	}
}

// operatorSaw says that the operator of this process has looked since it had
// looked so often, and leaves the certificate to somebody else.
func operatorSaw(t *testing.T, looked float64) error {
	t.Helper()
	if now := operatorMetric(t, "controller_runtime_reconcile_total", "success"); now <= looked {
		return errors.New("the operator has not looked")
	}
	if operatorMetric(t, "tabard_certificate_phase", "external") != 1 {
		return errors.New("the operator does not leave the certificate to somebody else")
	}
	return nil
}

// operatorMetric is the sum of the operator's metrics of a name that have that
// value as a label; results of Reconcile included.
func operatorMetric(t *testing.T, name, label string) float64 {
	t.Helper()
	families := must.Get(metrics.Registry.Gather())(t)
	sum := 0.0
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, pair := range metric.GetLabel() {
				if family.GetName() == name && pair.GetValue() == label {
					sum += metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}
