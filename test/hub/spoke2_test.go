package hub

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// anywhere is a hub in EKS, and a cluster outside EKS with Tabard's admission hook.
type anywhere struct {
	*ocm.Hub
	aws   *awstest.Lab
	spoke operated
	hook  hook
	// name is the cluster's at the hub.
	name string
	// role is the cluster's in the hub's account.
	role string
	// key is what the Secret has.
	key aws.Credentials
}

// startAnywhere starts one, whose cluster is onprem-1 and has not begun to join. The hub's ClusterManager
// is the requirement's. The cluster's issuer is a server's URL with this path.
func startAnywhere(t *testing.T, path string) *anywhere {
	t.Helper()
	lab := startEKSTrusting(t, issuerRoots(t))
	hub := ocm.StartCluster(t, ocm.ClusterOptions{Authenticator: asEKS(t, lab), Foreign: []testkit.ForeignKinds{testkit.OCMOperators}})
	applyFields(t, hub)
	startHook(t, hub, ocm.HubNamespace)
	ocm.InstallOperator(t, hub, ocm.ClusterManagerOperator)
	ocm.StartNode(t, hub, ocm.NodeOptions{})
	hub.Make(ofPage(t, "ClusterManager", "disableManagedIam"))
	return startOutside(t, &ocm.Hub{Cluster: hub}, lab, "onprem-1", path)
}

// issuerRoots vouch for the issuers here: the servers of httptest have one certificate.
func issuerRoots(t *testing.T) *x509.CertPool {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return roots
}

// startOutside starts a cluster outside EKS for a hub, with an operator, a node and the admission hook.
func startOutside(t *testing.T, hub *ocm.Hub, lab *awstest.Lab, name, path string) *anywhere {
	t.Helper()
	var own *testkit.Cluster
	front := testkit.ServeIssuerAt(t, path, func(ctx context.Context) ([]byte, error) { return own.Keys(ctx) })
	own = ocm.StartCluster(t, ocm.ClusterOptions{Issuer: front.URL + path, Foreign: []testkit.ForeignKinds{testkit.OCMOperators}})
	applyFields(t, own)
	served := startHook(t, own, ocm.AgentNamespace)
	ocm.InstallOperator(t, own, ocm.KlusterletOperator)
	node := ocm.StartNode(t, own, ocm.NodeOptions{
		Programs:    map[string]string{"/tabard-eks-token": tokenProgram},
		Environment: []string{"AWS_ENDPOINT_URL=" + lab.PlainURL(), "AWS_EC2_METADATA_DISABLED=true"},
	})
	return &anywhere{Hub: hub, aws: lab, spoke: operated{own, node}, hook: served, name: name}
}

// ofPage is the object of docs/hub.md that has this kind and this text.
func ofPage(t *testing.T, kind, text string) *unstructured.Unstructured {
	t.Helper()
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "hub.md")))(t))
	for _, block := range testkit.Blocks(page, "yaml") {
		object := &unstructured.Unstructured{}
		must.Do(t, yaml.Unmarshal([]byte(block), &object.Object))
		if object.GetKind() == kind && strings.Contains(block, text) {
			return object
		}
	}
	t.Fatalf("the page has no %s with %s", kind, text)
	return nil
}

// applyFields gives Open Cluster Management's kinds the requirement's fields.
func applyFields(t *testing.T, cluster *testkit.Cluster) {
	t.Helper()
	process := testkit.StartTabard(t, nil, "hub", "fields", "--apply", "--kubeconfig="+cluster.Kubeconfig(cluster.Config))
	if code := process.ExitCode(); code != 0 {
		t.Fatalf("tabard hub fields --apply: exit code %d: %s", code, process.Log())
	}
}

// admit makes the cluster's role and its access entry, as an administrator does.
func (a *anywhere) admit(t *testing.T, trust string) {
	t.Helper()
	suffix := must.Get(corehub.Suffix(must.Get(corehub.ParseARN(hubARN))(t), corehub.ARN{}, a.name))(t)
	a.role = a.aws.Role(hubAccount, "ocm-hub-"+suffix, trust, "")
	a.makeEntry(t)
}

// makeEntry makes the access entry of the cluster's role.
func (a *anywhere) makeEntry(t *testing.T) {
	t.Helper()
	must.Get(eks.NewFromConfig(a.aws.As(a.aws.Administrator(hubAccount))).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{
		ClusterName: new("eks-hub"), PrincipalArn: &a.role, Username: &a.name, KubernetesGroups: []string{"open-cluster-management:" + a.name},
	}))(t)
}

const trustBroker = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::222222222222:user/onprem-broker"}}]}`

// iamConfig is the Secret with the key of a user.
func iamConfig(key aws.Credentials) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AgentNamespace, Name: "iam-config"}, StringData: map[string]string{
		"config":      "[default]\nregion = us-west-2\n",
		"credentials": "[default]\naws_access_key_id = " + key.AccessKeyID + "\naws_secret_access_key = " + key.SecretAccessKey + "\n",
	}}
}

// TestOCMAClusterFromAnywhereJoinsWithAMountedConfiguration has a cluster outside EKS whose
// Klusterlet is the requirement's. Its Secret is rotated while its agents run.
func TestOCMAClusterFromAnywhereJoinsWithAMountedConfiguration(t *testing.T) {
	a := startAnywhere(t, "")
	a.asksWithAKey(t)
	a.joinsByHand(t, trustBroker)
	wantNoRoles(t, a.spoke.Cluster)
	wantDeploymentsAsRendered(t, a.spoke.Cluster)
	a.rotate(t)
	a.withoutHook(t)
}

// asksWithAKey makes the cluster ask to join, with the key of a user in a Secret.
func (a *anywhere) asksWithAKey(t *testing.T) {
	t.Helper()
	a.aws.User(spokeAccount, "onprem-broker", mayAssume)
	a.key = a.aws.Key(spokeAccount, "onprem-broker")
	a.spoke.Make(iamConfig(a.key))
	a.asks(t, "iamConfigSecret")
}

// asks makes the cluster ask to join, with the Klusterlet of the page that has a text.
func (a *anywhere) asks(t *testing.T, text string) {
	t.Helper()
	made := ofPage(t, "Klusterlet", text)
	must.Do(t, unstructured.SetNestedField(made.Object, a.name, "spec", "clusterName"))
	a.spoke.Make(ocm.Bootstrap(t, ocm.MakeBootstrap(t, a.Hub.Cluster)), made)
	a.wantAsked(t)
}

// asksByCommand makes the cluster ask to join by "tabard hub join", and returns what that has said.
func (a *anywhere) asksByCommand(t *testing.T, flags ...string) (said string) {
	t.Helper()
	said = typed(t, a.spoke.Cluster, append([]string{"join", "--wait", "--timeout", "120", "--cluster-name", a.name,
		"--hub-token", ocm.MakeBootstrap(t, a.Hub.Cluster).BearerToken, "--hub-apiserver", a.Hub.Config.Host,
		"--registration-auth", "awsirsa", "--hub-cluster-arn", hubARN}, flags...)...)
	a.wantAsked(t)
	return said
}

// wantAsked waits until the hub knows the cluster, and says what it has to know.
func (a *anywhere) wantAsked(t *testing.T) {
	t.Helper()
	suffix := must.Get(corehub.Suffix(must.Get(corehub.ParseARN(hubARN))(t), corehub.ARN{}, a.name))(t)
	want := map[string]string{arnAnnotation: "", suffixAnnotation: suffix}
	if diff := cmp.Diff(want, awaitAnnotations(a.Hub, a.name)); diff != "" {
		t.Errorf("the annotations of the ManagedCluster (-want +got):\n%s", diff)
	}
}

// joinsByHand is join on a hub whose hub controller is Open Cluster Management's with the driver awsirsa:
// it has made nothing before.
func (a *anywhere) joinsByHand(t *testing.T, trust string) {
	t.Helper()
	wantHubMakesNothing(t, a.Hub.Cluster)
	for _, call := range a.aws.Admin().Journal() {
		if call.Service == "eks" || call.Service == "iam" && strings.HasPrefix(call.Operation, "CreateRole") {
			t.Errorf("%s was called by %s, and nobody has made anything yet", call.Operation, call.Caller)
		}
	}
	a.join(t, trust)
}

// join makes the cluster's role with this trust policy, and accepts the cluster, which gets its works
// then.
func (a *anywhere) join(t *testing.T, trust string) {
	t.Helper()
	a.admit(t, trust)
	a.Accept(a.name)
	awaitCondition(a.Hub, a.name, "ManagedClusterJoined", "True")
	awaitCondition(a.Hub, a.name, "ManagedClusterConditionAvailable", "True")
	wantArrives(t, a.Hub.Cluster, a.spoke.Cluster, a.name)
}

// wantNoRoles says that no ServiceAccount of agents has a role.
func wantNoRoles(t *testing.T, spoke *testkit.Cluster) {
	t.Helper()
	for _, name := range []string{"klusterlet-registration-sa", "klusterlet-work-sa"} {
		var account corev1.ServiceAccount
		must.Do(t, spoke.Get(t.Context(), client.ObjectKey{Namespace: ocm.AgentNamespace, Name: name}, &account))
		if role := account.Annotations["eks.amazonaws.com/role-arn"]; role != "" {
			t.Errorf("the ServiceAccount %s has the role %s", name, role)
		}
	}
}

// wantDeploymentsAsRendered says that the operator's Deployments are as it has made them.
func wantDeploymentsAsRendered(t *testing.T, spoke *testkit.Cluster) {
	t.Helper()
	for _, name := range []string{"klusterlet-registration-agent", "klusterlet-work-agent"} {
		var deployment appsv1.Deployment
		must.Do(t, spoke.Get(t.Context(), client.ObjectKey{Namespace: ocm.AgentNamespace, Name: name}, &deployment))
		spec := deployment.Spec.Template.Spec
		if len(spec.InitContainers) != 1 || spec.InitContainers[0].Image != "amazon/aws-cli:latest" {
			t.Errorf("the Deployment %s has the init containers %+v", name, spec.InitContainers)
		}
		for _, volume := range spec.Volumes {
			if volume.Name == "dot-aws" && volume.EmptyDir == nil {
				t.Errorf("the Deployment %s has the volume %+v", name, volume)
			}
		}
	}
}

// rotate gives the agents another key, and disables the first.
func (a *anywhere) rotate(t *testing.T) {
	t.Helper()
	starts := a.spoke.Starts("klusterlet-registration-agent") + a.spoke.Starts("klusterlet-work-agent")
	var before corev1.Secret
	must.Do(t, a.spoke.Get(t.Context(), client.ObjectKey{Namespace: ocm.AgentNamespace, Name: "iam-config"}, &before))
	first := a.key
	a.key = a.aws.Key(spokeAccount, "onprem-broker")
	before.StringData = iamConfig(a.key).StringData
	must.Do(t, a.spoke.Update(t.Context(), &before))
	must.Get(a.aws.IAM(spokeAccount).UpdateAccessKey(t.Context(), &iam.UpdateAccessKeyInput{
		UserName: new("onprem-broker"), AccessKeyId: &first.AccessKeyID, Status: iamtypes.StatusTypeInactive,
	}))(t)
	a.withoutEntry(t)
	wantWorkArrives(t, a.Hub.Cluster, a.spoke.Cluster, "onprem-1", "after-the-rotation")
	if now := a.spoke.Starts("klusterlet-registration-agent") + a.spoke.Starts("klusterlet-work-agent"); now != starts {
		t.Errorf("agents were started %d times, want %d: a rotation needs no restart", now, starts)
	}
	for _, call := range a.aws.Admin().Journal() {
		if call.Operation == "AssumeRole" && strings.Contains(call.Caller, "onprem-broker") {
			return
		}
	}
	t.Error("nobody has become the role with the second key")
}

// session is the environment of a program with the key that the Secret has now.
func (a *anywhere) session() []string {
	return []string{"AWS_ENDPOINT_URL=" + a.aws.PlainURL(), "AWS_EC2_METADATA_DISABLED=true", "AWS_ACCESS_KEY_ID=" + a.key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + a.key.SecretAccessKey}
}

// withoutEntry takes the access entry away until an agent has asked for a new token: before that,
// agents go on with the token that they have.
func (a *anywhere) withoutEntry(t *testing.T) {
	t.Helper()
	admin := eks.NewFromConfig(a.aws.As(a.aws.Administrator(hubAccount)))
	must.Get(admin.DeleteAccessEntry(t.Context(), &eks.DeleteAccessEntryInput{ClusterName: new("eks-hub"), PrincipalArn: &a.role}))(t)
	token := mint(t, a.session(), "eks-hub", a.role)
	awaitUnauthorized(t, a.Hub.Cluster, func() string { return token })
	a.aws.Admin().ClearJournal()
	nudge := ocm.New(ocm.ManifestWork, "onprem-1", "nudge") // of which the agent tells the hub
	nudge.Object["spec"] = map[string]any{"workload": map[string]any{"manifests": []any{}}}
	a.Make(nudge)
	a.Await(func() error {
		for _, call := range a.aws.Admin().Journal() {
			if call.Operation == "AssumeRole" {
				return nil
			}
		}
		return fmt.Errorf("no agent has asked for a new token")
	})
	a.makeEntry(t)
}

// wantHubMakesNothing says that the hub controller, which the operator gives the driver awsirsa and the
// role that makes roles, has neither.
func wantHubMakesNothing(t *testing.T, hub *testkit.Cluster) {
	t.Helper()
	var account corev1.ServiceAccount
	hub.Await(func() error {
		return hub.Get(t.Context(), client.ObjectKey{Namespace: ocm.HubNamespace, Name: "registration-controller-sa"}, &account)
	})
	if role := account.Annotations["eks.amazonaws.com/role-arn"]; role != "" {
		t.Errorf("the hub controller has the role %s", role)
	}
	var deployment appsv1.Deployment
	must.Do(t, hub.Get(t.Context(), client.ObjectKey{Namespace: ocm.HubNamespace, Name: "cluster-manager-registration-controller"}, &deployment))
	if args := deployment.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--enabled-registration-drivers=awsirsa") {
		t.Errorf("the operator's Deployment has the arguments %q", args)
	}
	activities := map[corehub.Activity]int{}
	for _, pod := range podsIn(hub, ocm.HubNamespace) {
		activities[activityOf(pod.Labels, &pod.Spec)]++
	}
	if activities[corehub.Idle] != 1 || activities[corehub.Acting]+activities[corehub.Unclear] > 0 {
		t.Errorf("the pods do %v, want one hub controller that makes no roles", activities)
	}
}
