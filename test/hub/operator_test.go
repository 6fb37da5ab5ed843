package hub

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

func TestOCMTheOperatorsJoinAClusterByCertificateAndItsWorksArrive(t *testing.T) {
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"})
	bootstrap := ocm.MakeBootstrap(t, hub.Cluster)
	spoke := startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	ocm.MakeKlusterlet(t, spoke.Cluster, "cluster1", bootstrap, nil)

	cluster := ocm.New(ocm.ManagedCluster, "", "cluster1")
	hub.Await(func() error { return hub.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster) })
	approve(t, hub.Cluster, "cluster1")
	joined := &ocm.Hub{Cluster: hub.Cluster}
	joined.Accept("cluster1")
	awaitCondition(joined, "cluster1", "ManagedClusterJoined", "True")
	awaitCondition(joined, "cluster1", "ManagedClusterConditionAvailable", "True")
	wantArrives(t, hub.Cluster, spoke.Cluster, "cluster1")
	registersAddOns(spoke.Cluster)
	wantAddOn(t, hub.Cluster, spoke.Cluster, "cluster1")
}

// wantArrives says that what the hub has for a cluster arrives there, and that the hub is
// told of it.
func wantArrives(t *testing.T, hub, spoke *testkit.Cluster, name string) {
	t.Helper()
	wantWorkArrives(t, hub, spoke, name, "greeting")
}

// wantWorkArrives says so of a work with this name.
func wantWorkArrives(t *testing.T, hub, spoke *testkit.Cluster, name, called string) {
	t.Helper()
	work := ocm.New(ocm.ManifestWork, name, called)
	work.Object["spec"] = map[string]any{"workload": map[string]any{"manifests": []any{map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": called},
		"data": map[string]any{"from": "the hub"},
	}}}}
	hub.Make(work)
	var arrived corev1.ConfigMap
	spoke.Await(func() error {
		return spoke.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: called}, &arrived)
	})
	if diff := cmp.Diff(map[string]string{"from": "the hub"}, arrived.Data); diff != "" {
		t.Errorf("what has arrived (-want +got):\n%s", diff)
	}
	hub.Await(func() error {
		must.Do(t, hub.Get(t.Context(), client.ObjectKeyFromObject(work), work))
		if status, message := ocm.Condition(work, "Applied"); status != "True" {
			return fmt.Errorf("the ManifestWork is not applied: %s (%s)", status, message)
		}
		return nil
	})
}

// operated is a cluster with an operator of Open Cluster Management, and a node that
// runs it and what it deploys.
type operated struct {
	*testkit.Cluster
	*ocm.Node
}

func startOperator(t *testing.T, operator ocm.Operator, cluster ocm.ClusterOptions, node ocm.NodeOptions) operated {
	t.Helper()
	cluster.Foreign = append(cluster.Foreign, testkit.OCMOperators)
	started := ocm.StartCluster(t, cluster)
	ocm.InstallOperator(t, started, operator)
	return operated{started, ocm.StartNode(t, started, node)}
}

// approve approves a cluster's first certificate, as clusteradm accept does.
func approve(t *testing.T, hub *testkit.Cluster, name string) {
	t.Helper()
	requests := hub.Kube.CertificatesV1().CertificateSigningRequests()
	hub.Await(func() error {
		list := must.Get(requests.List(t.Context(), metav1.ListOptions{LabelSelector: "open-cluster-management.io/cluster-name=" + name}))(t)
		if len(list.Items) == 0 {
			return fmt.Errorf("there is no certificate signing request of %s", name)
		}
		request := &list.Items[0]
		block, _ := pem.Decode(request.Spec.Request)
		asked := must.Get(x509.ParseCertificateRequest(block.Bytes))(t)
		if !strings.HasPrefix(asked.Subject.CommonName, "system:open-cluster-management:"+name+":") {
			t.Fatalf("the certificate is for %s", asked.Subject.CommonName)
		}
		request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Accepted",
		})
		_, err := requests.UpdateApproval(t.Context(), request.Name, request, metav1.UpdateOptions{})
		return err
	})
}
