package api

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// start runs a controller as its Deployment in the hosting cluster does: with the tokens
// of its ServiceAccount there, and with a kubeconfig of its ServiceAccount in the cluster
// that it serves.
func (w *world) start(t *testing.T, controller string, flags ...string) *testkit.Process {
	t.Helper()
	name := "tabard-" + controller
	token := w.aws.Write(name+".token", w.host.Token(system, name, 0, audience))
	environment := []string{
		"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Write("ca.crt", string(w.aws.CACertificate())), "TABARD_LAB_CA=" + w.aws.Path("ca.crt"),
		"AWS_REGION=" + region, "AWS_ROLE_ARN=arn:aws:iam::" + account + ":role/" + name, "AWS_WEB_IDENTITY_TOKEN_FILE=" + token,
	}
	return testkit.StartTabard(t, environment, append([]string{"operator", "--controllers=" + controller, "--service-account=" + name,
		"--kubeconfig=" + w.served.Kubeconfig(w.served.Account(system, name)), "--host-kubeconfig=" + w.host.Kubeconfig(w.host.Account(system, name)),
		"--metrics-bind-address=0", "--health-probe-bind-address=0"}, flags...)...)
}

// TestTheServedClusterIsServedFromAnother: Tabard does not run in the cluster that it
// serves, as with hosted control planes.
func TestTheServedClusterIsServedFromAnother(t *testing.T) {
	w := newWorld(t)
	namespace := w.served.NewNamespace()
	w.host.MakeNamespaces(namespace)
	issuer := w.newIssuer("served")
	w.served.Make(issuer)
	w.start(t, "issuer")
	w.served.Await(func() error { return w.says("served", "Ready", "") })

	// They are the same in both clusters: who looks at the wrong one would find them there.
	w.host.Make(allow(namespace), ask(namespace, "of-the-host"))
	w.served.Make(allow(namespace), ask(namespace, "checkout"))
	controller := w.start(t, "credentials", "--infrastructure-name=served", "--region="+region, "--credentials-permissions-boundary="+boundary)
	w.served.Await(func() error { return w.becomeWhatIsAsked(w.served, namespace) })
	w.served.Await(func() error { return w.isJudged(allow(namespace)) })
	if err := w.becomeWhatIsAsked(w.host, namespace); err == nil || !strings.Contains(err.Error(), "AccessDenied") && !strings.Contains(err.Error(), "InvalidIdentityToken") {
		t.Errorf("the hosting cluster's ServiceAccount of the same name gets %v, want that it is refused", err)
	}
	w.untouched(t, namespace)

	// What it leaves when it ends, the next one takes up.
	controller.End()
	w.served.Remove(ask(namespace, "checkout"))
	w.start(t, "credentials", "--infrastructure-name=served", "--region="+region, "--credentials-permissions-boundary="+boundary)
	w.served.Await(func() error { return w.gone(ask(namespace, "checkout")) })
	w.untouched(t, namespace)
	w.served.Remove(issuer)
	w.served.Await(func() error { return w.gone(issuer) })
	w.served.Remove(allow(namespace))
}

// isJudged: the policy in AWS was made by hand, and lets roles write the bucket of the
// issuer.
func (w *world) isJudged(judged *v1alpha1.CredentialsBoundary) error {
	if err := w.served.Get(w.served.Context(), client.ObjectKeyFromObject(judged), judged); err != nil {
		return err
	}
	ready := meta.FindStatusCondition(judged.Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "IssuerBucketNotKept" || !strings.Contains(ready.Message, bucketOf("served")) {
		return fmt.Errorf("the boundary says %+v, want that its policy does not keep roles from %s", ready, bucketOf("served"))
	}
	return nil
}

// becomeWhatIsAsked has a ServiceAccount of a cluster become the role of the request.
func (w *world) becomeWhatIsAsked(from *testkit.Cluster, namespace string) error {
	found, err := w.account(namespace)
	if err != nil {
		return err
	}
	if err := from.Get(from.Context(), client.ObjectKeyFromObject(found), &corev1.ServiceAccount{}); err != nil {
		from.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "checkout"}})
	}
	return w.become(from, namespace, "checkout", found.Annotations[credentials.RoleAnnotation])
}

// untouched is what is true of both clusters all the time: leases are where Tabard runs,
// and all else where it serves.
func (w *world) untouched(t *testing.T, namespace string) {
	t.Helper()
	leases := func(c *testkit.Cluster) (names []string) {
		for _, lease := range must.Get(c.Kube.CoordinationV1().Leases(system).List(t.Context(), metav1.ListOptions{}))(t).Items {
			names = append(names, lease.Name)
		}
		return names
	}
	if got := leases(w.served); len(got) > 0 {
		t.Errorf("the served cluster has the leases %q, want none", got)
	}
	if got := strings.Join(leases(w.host), " "); got != "tabard-operator-credentials tabard-operator-issuer" {
		t.Errorf("the hosting cluster has the leases %q", got)
	}
	var hosts cloudv1.CredentialsRequest
	must.Do(t, w.host.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "checkout"}, &hosts))
	if len(hosts.Finalizers) > 0 || hosts.Generation != 1 || hosts.Status.Provisioned {
		t.Errorf("the hosting cluster's request was touched: %+v", hosts)
	}
	if grants := w.grants(w.host); len(grants) > 0 {
		t.Errorf("the hosting cluster has the grants %+v", grants)
	}
	if err := w.host.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "of-the-host"}, &corev1.ServiceAccount{}); err == nil {
		t.Error("the hosting cluster's request has its ServiceAccount")
	}
}
