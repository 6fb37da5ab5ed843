package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// awaitHub waits until the operator has made the kinds of a hub.
func awaitHub(t *testing.T, hub *testkit.Cluster) {
	t.Helper()
	hub.Await(func() error {
		return client.IgnoreNotFound(hub.Get(t.Context(), client.ObjectKey{Name: "any"}, ocm.New(ocm.ManagedCluster, "", "any")))
	})
}

// reachFlags are how a cluster reaches the hub first, as clusteradm get token prints it.
func reachFlags(t *testing.T, hub *testkit.Cluster) []string {
	t.Helper()
	var printed struct {
		Token  string `json:"hub-token"`
		Server string `json:"hub-apiserver"`
	}
	said := ocm.Clusteradm(t, hub, "get", "token", "--output=json")
	must.Do(t, json.Unmarshal([]byte(said), &printed))
	if printed.Token == "" || printed.Server != hub.Config.Host {
		t.Fatalf("clusteradm get token says:\n%s", said)
	}
	return []string{"--hub-token", printed.Token, "--hub-apiserver", printed.Server}
}

// oneReplica is a file for clusteradm by which it installs an operator with one replica: the
// nodes' operators elect no leader.
func oneReplica(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "values.yaml")
	must.Do(t, os.WriteFile(path, []byte("replicaCount: 1\n"), 0o600))
	return path
}

// wantJoined says that a cluster has joined a hub and gets its works.
func wantJoined(t *testing.T, hub, spoke *testkit.Cluster, name string) {
	t.Helper()
	joined := &ocm.Hub{Cluster: hub}
	awaitCondition(joined, name, "ManagedClusterJoined", "True")
	awaitCondition(joined, name, "ManagedClusterConditionAvailable", "True")
	wantArrives(t, hub, spoke, name)
}

// TestOCMClusteradmGoesOnWithTabard has a hub and a cluster of ours: clusteradm prints the token,
// joins the cluster once more and accepts it.
func TestOCMClusteradmGoesOnWithTabard(t *testing.T) {
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	ocm.MakeBootstrap(t, hub.Cluster) // which the operator's chart has
	typed(t, hub.Cluster, "init", "--registration-drivers", "csr")
	awaitHub(t, hub.Cluster)
	spoke := startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{})
	applyFields(t, spoke.Cluster)
	join := append([]string{"join", "--cluster-name", "cluster1"}, reachFlags(t, hub.Cluster)...)
	typed(t, spoke.Cluster, append(join, "--addon-kubeclient-registration-auth", "token", "--klusterlet-annotation", "zone=a")...)
	before := specOf(t, spoke.Cluster, ocm.Klusterlet, "klusterlet")["registrationConfiguration"].(map[string]any) //nolint:forcetypeassert // by its schema
	ocm.Clusteradm(t, spoke.Cluster, join...)
	wantFieldsGone(t, spoke.Cluster, "awsIrsa.iamConfigSecret is added")
	after := specOf(t, spoke.Cluster, ocm.Klusterlet, "klusterlet")["registrationConfiguration"].(map[string]any) //nolint:forcetypeassert // by its schema
	for _, field := range []string{"registrationDriver", "addOnKubeClientRegistrationDriver", "clusterAnnotations"} {
		if diff := cmp.Diff(before[field], after[field]); diff != "" || before[field] == nil {
			t.Errorf("%s of tabard hub join after clusteradm join (-want +got):\n%s", field, diff)
		}
	}
	acceptByClusteradm(&ocm.Hub{Cluster: hub.Cluster}, "cluster1")
	wantJoined(t, hub.Cluster, spoke.Cluster, "cluster1")
}

// acceptByClusteradm accepts a cluster that was joined twice. The second join starts its agent anew,
// under another name. Where the first agent had asked for a certificate by then, clusteradm approves
// none of the two without --skip-approve-check; and where the second asks later, it approves that
// one the next time it is called.
func acceptByClusteradm(hub *ocm.Hub, name string) {
	hub.Helper()
	said := ocm.Clusteradm(hub, hub.Cluster, "accept", "--clusters="+name, "--skip-approve-check", "--wait", "--timeout=60")
	if !strings.Contains(said, "set hubAcceptsClient to true for managed cluster "+name) {
		hub.Errorf("clusteradm accept says:\n%s", said)
	}
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	hub.Await(func() error {
		if err := hub.Get(hub.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
			return err
		}
		if status, message := ocm.Condition(cluster, "ManagedClusterJoined"); status != "True" {
			ocm.Clusteradm(hub, hub.Cluster, "accept", "--clusters="+name, "--skip-approve-check")
			return fmt.Errorf("the ManagedCluster %s has not joined: %q (%s)", name, status, message)
		}
		return nil
	})
}

// TestOCMTabardGoesOnWithClusteradm has a hub and a cluster that clusteradm makes of nothing, with
// the operators of its charts: each command of ours goes on with them.
func TestOCMTabardGoesOnWithClusteradm(t *testing.T) {
	hub, spoke := ocm.StartCluster(t, ocm.ClusterOptions{}), ocm.StartCluster(t, ocm.ClusterOptions{})
	ocm.StartNode(t, hub, ocm.NodeOptions{})
	ocm.StartNode(t, spoke, ocm.NodeOptions{})
	ocm.Clusteradm(t, hub, "init", "--registration-drivers=csr", "--feature-gates=ManifestWorkReplicaSet=true", "--cluster-manager-values-file="+oneReplica(t))
	awaitHub(t, hub)

	want := specOf(t, hub, ocm.ClusterManager, "cluster-manager")
	gates, _, err := unstructured.NestedSlice(want, "registrationConfiguration", "featureGates")
	must.Do(t, err)
	gates = append(gates, map[string]any{"feature": "ClusterImporter", "mode": "Disable"})
	must.Do(t, unstructured.SetNestedSlice(want, gates, "registrationConfiguration", "featureGates"))
	typed(t, hub, "init", "--feature-gates", "ClusterImporter=false")
	if diff := cmp.Diff(want, specOf(t, hub, ocm.ClusterManager, "cluster-manager")); diff != "" {
		t.Errorf("the ClusterManager of clusteradm after tabard hub init (-want +got):\n%s", diff)
	}

	reach := reachFlags(t, hub)
	ocm.Clusteradm(t, spoke, append([]string{"join", "--cluster-name=cluster1", "--klusterlet-values-file=" + oneReplica(t)}, reach...)...)
	want = specOf(t, spoke, ocm.Klusterlet, "klusterlet")
	typed(t, spoke, append([]string{"join", "--wait", "--timeout", "60", "--cluster-name", "cluster1"}, reach...)...)
	if diff := cmp.Diff(want, specOf(t, spoke, ocm.Klusterlet, "klusterlet")); diff != "" {
		t.Errorf("the Klusterlet of clusteradm after tabard hub join (-want +got):\n%s", diff)
	}
	if said := typed(t, hub, "accept", "--clusters", "cluster1", "--wait", "--timeout", "120"); !strings.Contains(said, "cluster1 has joined") {
		t.Errorf("accept says:\n%s", said)
	}
	wantJoined(t, hub, spoke, "cluster1")
}

// TestOCMTabardGoesOnWithClusteradmByARole has a cluster in EKS whose join clusteradm begins.
func TestOCMTabardGoesOnWithClusteradmByARole(t *testing.T) {
	eks := startStandIn(t)
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{Authenticator: eks.kubeconfig}, ocm.NodeOptions{})
	ocm.MakeBootstrap(t, hub.Cluster)
	typed(t, hub.Cluster, "init", "--registration-drivers", "csr")
	awaitHub(t, hub.Cluster)
	spoke := ocm.StartCluster(t, ocm.ClusterOptions{})
	ocm.StartNode(t, spoke, ocm.NodeOptions{Programs: eks.programs})

	join := append(reachFlags(t, hub.Cluster), "--cluster-name", "cluster1", "--registration-auth", "awsirsa", "--hub-cluster-arn", hubARN, "--managed-cluster-arn", arnA)
	ocm.Clusteradm(t, spoke, append([]string{"join", "--klusterlet-values-file=" + oneReplica(t)}, join...)...)
	want := specOf(t, spoke, ocm.Klusterlet, "klusterlet")
	// Open Cluster Management's default for add-ons is a certificate, which EKS does not sign.
	must.Do(t, unstructured.SetNestedMap(want, map[string]any{"authType": "token", "token": map[string]any{"expirationSeconds": int64(86400)}},
		"registrationConfiguration", "addOnKubeClientRegistrationDriver"))
	typed(t, spoke, append([]string{"join"}, join...)...)
	if diff := cmp.Diff(want, specOf(t, spoke, ocm.Klusterlet, "klusterlet")); diff != "" {
		t.Errorf("the Klusterlet of clusteradm after tabard hub join (-want +got):\n%s", diff)
	}
	eks.admit("arn:aws:iam::111111111111:role/ocm-hub-"+suffixA, "cluster1")
	joined := &ocm.Hub{Cluster: hub.Cluster}
	awaitAnnotations(joined, "cluster1")
	typed(t, hub.Cluster, "accept", "--clusters", "cluster1", "--wait", "--timeout", "120")
	wantJoined(t, hub.Cluster, spoke, "cluster1")
}

// TestOCMClusteradmAcceptsAClusterFromAnywhere has a cluster outside EKS of ours: clusteradm prints
// the token and accepts the cluster, which has no certificate to approve.
func TestOCMClusteradmAcceptsAClusterFromAnywhere(t *testing.T) {
	a := startAnywhere(t, "")
	awaitHub(t, a.Hub.Cluster)
	ocm.MakeBootstrap(t, a.Hub.Cluster)
	a.aws.User(spokeAccount, "onprem-broker", mayAssume)
	a.key = a.aws.Key(spokeAccount, "onprem-broker")
	a.spoke.Make(iamConfig(a.key))
	typed(t, a.spoke.Cluster, append([]string{
		"join", "--cluster-name", "onprem-1", "--registration-auth", "awsirsa", "--hub-cluster-arn", hubARN, "--iam-config-secret", "iam-config",
	}, reachFlags(t, a.Hub.Cluster)...)...)
	awaitAnnotations(a.Hub, "onprem-1")
	a.admit(t, trustBroker)
	ocm.Clusteradm(t, a.Hub.Cluster, "accept", "--clusters=onprem-1")
	wantJoined(t, a.Hub.Cluster, a.spoke.Cluster, "onprem-1")
}

// specOf is the spec of an object of Open Cluster Management's without a namespace.
func specOf(t *testing.T, in *testkit.Cluster, kind schema.GroupVersionKind, name string) map[string]any {
	t.Helper()
	object := ocm.New(kind, "", name)
	must.Do(t, in.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	spec, _, err := unstructured.NestedMap(object.Object, "spec")
	must.Do(t, err)
	return spec
}

// wantFieldsGone says that clusteradm has taken the requirement's fields from the definitions, and
// puts them back.
func wantFieldsGone(t *testing.T, cluster *testkit.Cluster, back string) {
	t.Helper()
	if said := typed(t, cluster, "fields", "--apply"); !strings.Contains(said, back) {
		t.Errorf("tabard hub fields --apply after clusteradm does not say %q:\n%s", back, said)
	}
}

// awsDriverOf is what the ClusterManager of a hub says of the driver for AWS.
func awsDriverOf(t *testing.T, hub *testkit.Cluster) map[string]any {
	t.Helper()
	drivers, _, err := unstructured.NestedSlice(specOf(t, hub, ocm.ClusterManager, "cluster-manager"), "registrationConfiguration", "registrationDrivers")
	must.Do(t, err)
	for _, each := range drivers {
		if driver := each.(map[string]any); driver["authType"] == "awsirsa" { //nolint:forcetypeassert // by its schema
			aws, _ := driver["awsirsa"].(map[string]any)
			return aws
		}
	}
	return nil
}

// TestOCMClusteradmInitWritesTheDriversAnew says what of a ClusterManager of ours is lost when
// clusteradm init runs after it, and that our commands put it back.
func TestOCMClusteradmInitWritesTheDriversAnew(t *testing.T) {
	hub := ocm.StartCluster(t, ocm.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMOperators}})
	ocm.InstallOperator(t, hub, ocm.ClusterManagerOperator)
	applyFields(t, hub)
	ours := []string{"init", "--registration-drivers", "csr,awsirsa", "--disable-managed-iam", "--hub-cluster-arn", hubARN, "--aws-resource-tags", "env=test"}
	typed(t, hub, ours...)
	aws := map[string]any{"hubClusterArn": hubARN, "tags": []any{"env=test"}, "disableManagedIam": true}
	want := func(when string, want map[string]any) {
		t.Helper()
		if diff := cmp.Diff(want, awsDriverOf(t, hub)); diff != "" {
			t.Errorf("the driver awsirsa %s (-want +got):\n%s", when, diff)
		}
	}
	want("of tabard hub init", aws)

	ocm.Clusteradm(t, hub, "init")
	want("after clusteradm init without drivers, which writes csr alone", nil)
	wantFieldsGone(t, hub, "awsirsa.disableManagedIam is added")
	typed(t, hub, ours...)
	want("of tabard hub init again", aws)

	ocm.Clusteradm(t, hub, "init", "--registration-drivers=csr,awsirsa", "--hub-cluster-arn="+hubARN)
	want("after clusteradm init with drivers", map[string]any{"hubClusterArn": hubARN})
	applyFields(t, hub)
	typed(t, hub, ours...)
	want("of tabard hub init at last", aws)
}
