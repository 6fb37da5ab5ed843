package certificate_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	managerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var shared = testkit.SharedCluster(testkit.ClusterOptions{})

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// patience is how long the manager waits for what a controller watches, before it ends.
const patience = 5 * time.Second

// TestTheSecondKeepsTheFirstFromNothing: with the rights of the first alone, the first goes on,
// and the second begins when it gets its own.
func TestTheSecondKeepsTheFirstFromNothing(t *testing.T) {
	cluster := shared(t)
	const user = "system:serviceaccount:tabard-certificate:tabard-certificate"
	testkit.Create(t, cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tabard-certificate"}})
	testkit.Grant(t, cluster.Config, user, testkit.Rights(t, "certificate"))
	more := metav1.ObjectMeta{Namespace: "tabard-certificate", Name: "tabard-certificate-ocm"}
	own := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"tabard-webhook-authority", "tabard-webhook-cert"}, Verbs: []string{"get", "list", "watch", "update"}},
	}
	testkit.GrantIn(t, cluster.Config, "tabard-certificate", user, own...)
	served := func(stored *admissionv1.MutatingWebhookConfiguration) {
		none := admissionv1.SideEffectClassNone
		for i := range stored.Webhooks {
			stored.Webhooks[i].SideEffects, stored.Webhooks[i].AdmissionReviewVersions = &none, []string{"v1"}
		}
		testkit.Create(t, cluster, stored)
	}
	served(configuration())
	served(ocmConfiguration())

	config := rest.CopyConfig(cluster.Config)
	config.Impersonate.UserName = user
	mgr := must.Get(ctrl.NewManager(config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, Controller: managerconfig.Controller{CacheSyncTimeout: patience},
	}))(t)
	must.Do(t, certificate.Add(mgr, certificate.Options{Namespace: "tabard-certificate"}))
	must.Do(t, certificate.Add(mgr, certificate.OCM(nil, "tabard-certificate")))
	testkit.RunManager(t, mgr)
	begun := time.Now()
	trusted := func(name string) error {
		var stored admissionv1.MutatingWebhookConfiguration
		if err := cluster.Get(t.Context(), types.NamespacedName{Name: name}, &stored); err != nil {
			return err
		}
		for _, hook := range stored.Webhooks {
			if len(hook.ClientConfig.CABundle) == 0 {
				return fmt.Errorf("the hook %s of %s is not told a CA", hook.Name, name)
			}
		}
		return nil
	}
	testkit.Await(t, func() error { return trusted("tabard-webhook") })
	testkit.Await(t, func() error {
		if time.Since(begun) < patience+time.Second {
			return errors.New("a manager that waits for the second would not have ended yet")
		}
		return nil
	})
	if trusted("tabard-ocm") == nil {
		t.Fatal("the second has kept a certificate without the right to")
	}
	testkit.Create(t, cluster,
		&rbacv1.Role{ObjectMeta: more, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"tabard-ocm-authority", "tabard-ocm-cert"}, Verbs: []string{"get", "list", "watch", "update"}}}},
		&rbacv1.RoleBinding{ObjectMeta: more, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: more.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}})
	testkit.Grant(t, cluster.Config, user, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: more.Name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"mutatingwebhookconfigurations"}, ResourceNames: []string{"tabard-ocm"}, Verbs: []string{"get", "list", "watch", "patch"}}}})
	testkit.Await(t, func() error { return errors.Join(trusted("tabard-ocm"), trusted("tabard-webhook")) })
}
