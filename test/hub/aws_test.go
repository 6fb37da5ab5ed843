package hub

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// What Open Cluster Management's own driver does in AWS, against the local AWS: what
// those have who come from it.

const (
	hubAccount   = "111111111111"
	spokeAccount = "222222222222"
	trustAnyone  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"222222222222"}}]}`
)

// driven is a hub with the driver awsirsa, and the AWS that it calls.
type driven struct {
	*ocm.Hub
	aws *awstest.Lab
}

// startEKS starts a local AWS with the hub's cluster in EKS.
func startEKS(t *testing.T) *awstest.Lab {
	t.Helper()
	return startEKSTrusting(t, nil)
}

// startEKSTrusting starts one that reads the documents of issuers with these roots.
func startEKSTrusting(t *testing.T, roots *x509.CertPool) *awstest.Lab {
	t.Helper()
	keys := must.Get(json.Marshal(awstest.KeySet(awstest.RSAKey(t, "key"))))(t)
	return startEKSOf(t, awslocal.Cluster{Issuer: "https://issuer.example.com", JWKS: keys}, roots)
}

// startEKSOf starts one where the hub has this issuer, whose documents are read with these roots.
func startEKSOf(t *testing.T, hub awslocal.Cluster, roots *x509.CertPool) *awstest.Lab {
	t.Helper()
	aws := awstest.Start(t, awslocal.Options{Accounts: []string{hubAccount, spokeAccount}, Region: "us-west-2", TrustedCAs: roots})
	hub.Account, hub.Name = hubAccount, "eks-hub"
	must.Do(t, aws.Admin().AddCluster(hub))
	return aws
}

// startDriven starts one. What is made before is there before the hub controller is.
func startDriven(t *testing.T, before ...func(*testkit.Cluster)) driven {
	t.Helper()
	aws := startEKS(t)
	aws.Role(spokeAccount, "ocm-managed-cluster-"+suffixA, trustAnyone, "")
	environment := hubSession(aws)
	aws.Admin().ClearJournal()
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub}})
	for _, each := range before {
		each(cluster)
	}
	return driven{ocm.StartHub(t, cluster, ocm.HubOptions{
		Drivers: []string{"csr", "awsirsa"}, ARN: hubARN, Flags: []string{"--aws-resource-tags=env=test"},
		Environment: environment,
	}), aws}
}

// hubSession is the environment of a hub controller that may do all in the hub's account, as a user of
// its own.
func hubSession(aws *awstest.Lab) []string {
	aws.User(hubAccount, "hub-controller", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)
	key := aws.Key(hubAccount, "hub-controller")
	return []string{
		"AWS_ENDPOINT_URL=" + aws.PlainURL(), "AWS_REGION=us-west-2", "AWS_EC2_METADATA_DISABLED=true", "AWS_ACCOUNT_ID=" + hubAccount,
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
	}
}

// calls are the operations of the driver so far.
func (d driven) calls() (operations []string) {
	for _, entry := range d.aws.Admin().Journal() {
		operations = append(operations, entry.Operation)
	}
	return operations
}

// accept makes a cluster of these annotations and accepts it.
func (d driven) accept(name string, annotations map[string]string) {
	d.Helper()
	made := ocm.New(ocm.ManagedCluster, "", name)
	made.SetAnnotations(annotations)
	d.Make(made)
	d.Accept(name)
	awaitCondition(d.Hub, name, "HubAcceptedManagedCluster", "True")
}

// makeWork makes a ManifestWork that an agent has yet to take back.
func makeWork(hub *testkit.Cluster, name string) {
	hub.Helper()
	work := ocm.New(ocm.ManifestWork, name, "work")
	work.SetFinalizers([]string{"cluster.open-cluster-management.io/manifest-work-cleanup"})
	work.Object["spec"] = map[string]any{}
	hub.Make(work)
}

// awaitGone waits until the driver has taken the cluster's access away.
func (d driven) awaitGone() {
	d.Helper()
	d.Await(func() error {
		if got := strings.Join(d.calls(), " "); !strings.Contains(got, "DeleteAccessEntry DeleteRole") {
			return fmt.Errorf("the driver has called %s, and neither DeleteAccessEntry nor DeleteRole", got)
		}
		return nil
	})
	if entries := d.aws.Admin().Clusters()[0].AccessEntries; len(entries) > 0 {
		d.Errorf("there are access entries: %+v", entries)
	}
}

// awaitGoneWithWorks waits so; then the cluster's work is still there.
func (d driven) awaitGoneWithWorks(name string) {
	d.Helper()
	d.awaitGone()
	work := ocm.New(ocm.ManifestWork, name, "work")
	if err := d.Get(d.Context(), client.ObjectKeyFromObject(work), work); err != nil {
		d.Errorf("the ManifestWork is not there any more: %v", err)
	}
}

var ofCluster1 = map[string]string{arnAnnotation: arnA, suffixAnnotation: suffixA}

func TestOCMTheDriverAWSIRSAMakesARoleAndAnAccessEntry(t *testing.T) {
	hub := startDriven(t)
	hub.accept("cluster1", ofCluster1)
	// It asks for nothing first, and calls both again in each of its passes.
	calls := hub.calls()
	slices.Sort(calls)
	if diff := cmp.Diff([]string{"CreateAccessEntry", "CreateRole"}, slices.Compact(calls)); diff != "" {
		t.Errorf("the driver's operations (-want +got):\n%s", diff)
	}
	entries := hub.aws.Admin().Clusters()[0].AccessEntries
	role := "arn:aws:iam::111111111111:role/ocm-hub-" + suffixA
	if len(entries) != 1 || entries[0].PrincipalARN != role || entries[0].Username != "cluster1" || entries[0].Stale {
		t.Errorf("the access entries are %+v, want one of %s", entries, role)
	}
}

func TestOCMTheDriverAWSIRSATakesTheAccessOfADeletedClusterAwayWhileThereAreWorks(t *testing.T) {
	hub := startDriven(t)
	hub.accept("cluster1", ofCluster1)
	makeWork(hub.Cluster, "cluster1")
	hub.Remove(ocm.New(ocm.ManagedCluster, "", "cluster1"))
	hub.awaitGoneWithWorks("cluster1")
}

// TestOCMTheDriverAWSIRSALeavesADeniedClusterItsAccessWhileThereAreWorks also says that the
// condition tells of the denial no sooner. The hub removes the bindings first in each pass. The work is
// there before the hub controller, which could otherwise learn of the denial first.
func TestOCMTheDriverAWSIRSALeavesADeniedClusterItsAccessWhileThereAreWorks(t *testing.T) {
	hub := startDriven(t, func(hub *testkit.Cluster) {
		hub.MakeNamespaces("cluster1")
		makeWork(hub, "cluster1")
	})
	hub.accept("cluster1", ofCluster1)
	deny(t, hub.Cluster, "cluster1")
	hub.Await(func() error {
		var binding rbacv1.RoleBinding
		err := hub.Get(t.Context(), client.ObjectKey{Namespace: "cluster1", Name: "open-cluster-management:managedcluster:cluster1:registration"}, &binding)
		if err == nil {
			return fmt.Errorf("the RoleBinding %s of the denied cluster is there", binding.Name)
		}
		return client.IgnoreNotFound(err)
	})
	if got := strings.Join(hub.calls(), " "); strings.Contains(got, "Delete") {
		t.Errorf("while there are works, the driver has called %s", got)
	}
	awaitCondition(hub.Hub, "cluster1", "HubAcceptedManagedCluster", "True")
	work := ocm.New(ocm.ManifestWork, "cluster1", "work")
	hub.Merge(work, `{"metadata": {"finalizers": null}}`)
	hub.Remove(work)
	hub.awaitGone()
	if message := awaitCondition(hub.Hub, "cluster1", "HubAcceptedManagedCluster", "False"); message != "Denied by hub cluster admin" {
		t.Errorf("the condition says %q", message)
	}
}

func TestOCMTheDriverAWSIRSADeletesWhatIsOfASuffixThatItHasNotMade(t *testing.T) {
	hub := startDriven(t)
	hub.aws.Role(hubAccount, "ocm-hub-"+suffixB, trustAnyone, "")
	hub.aws.Admin().ClearJournal()
	hub.accept("onprem-1", map[string]string{suffixAnnotation: suffixB})
	if calls := hub.calls(); len(calls) > 0 {
		t.Errorf("for a cluster with a suffix alone, the driver has called %q, want nothing", calls)
	}
	makeWork(hub.Cluster, "onprem-1")
	hub.Remove(ocm.New(ocm.ManagedCluster, "", "onprem-1"))
	hub.awaitGoneWithWorks("onprem-1")
}

// TestOCMAnAgentTakesItselfForAcceptedWhoseAccessCouldNotBeMade has a cluster whose own
// role is not there, so that no policy can name it.
func TestOCMAnAgentTakesItselfForAcceptedWhoseAccessCouldNotBeMade(t *testing.T) {
	hub, spoke := startDriven(t), startSpoke(t)
	must.Get(hub.aws.IAM(spokeAccount).DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: new("ocm-managed-cluster-" + suffixA)}))(t)
	ocm.StartAgent(t, ocm.AgentOptions{Klusterlet: spoke, Name: "cluster1", Bootstrap: hub.Bootstrap, HubARN: hubARN, ManagedARN: arnA, Suffix: suffixA})
	awaitAnnotations(hub.Hub, "cluster1")
	hub.Accept("cluster1")
	if message := awaitCondition(hub.Hub, "cluster1", "HubAcceptedManagedCluster", "False"); !strings.Contains(message, "MalformedPolicyDocument") {
		t.Errorf("the condition says %q", message)
	}
	wantExec(spoke, hub.Hub, "arn:aws:iam::111111111111:role/ocm-hub-"+suffixA)
}
