package hub

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud/accessentry"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// spokeSession is the environment of agents that are the role of a cluster in EKS: the one that
// "tabard hub role --in spoke" prints, with its tags.
func spokeSession(t *testing.T, aws *awstest.Lab) []string {
	t.Helper()
	spoke := corehub.Spoke{
		Cluster: "cluster1", ARN: must.Get(corehub.ParseARN(arnA))(t), Issuer: "https://oidc.eks.us-east-1.amazonaws.com/id/A",
		Agents: corehub.Agents{Namespace: "open-cluster-management-agent", Klusterlet: "klusterlet"},
	}
	own := must.Get(spoke.OwnRole(must.Get(corehub.ParseARN(hubARN))(t)))(t)
	aws.User(spokeAccount, "agent", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::222222222222:role/`+own.Name+`"}]}`)
	role := aws.Role(spokeAccount, own.Name, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::222222222222:user/agent"}}]}`, own.Policy)
	var tags []iamtypes.Tag
	for key, value := range own.Tags {
		tags = append(tags, iamtypes.Tag{Key: &key, Value: &value})
	}
	must.Get(aws.IAM(spokeAccount).TagRole(t.Context(), &iam.TagRoleInput{RoleName: &own.Name, Tags: tags}))(t)
	session := must.Get(sts.NewFromConfig(aws.As(aws.Key(spokeAccount, "agent"))).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: new("agents")}))(t).Credentials
	return []string{
		"AWS_ENDPOINT_URL=" + aws.PlainURL(), "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=" + *session.AccessKeyId, "AWS_SECRET_ACCESS_KEY=" + *session.SecretAccessKey, "AWS_SESSION_TOKEN=" + *session.SessionToken,
	}
}

// runHubAccess runs Tabard's controller on a hub, with its own rights in the cluster alone.
func runHubAccess(t *testing.T, hub *testkit.Cluster, aws *awstest.Lab) {
	t.Helper()
	hub.InstallCRDs(t)
	hub.Grant("hubaccess", testkit.Rights(t, hubaccess.Name))
	key := aws.Administrator(hubAccount)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": aws.PlainURL(), "AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey} {
		t.Setenv(name, value)
	}
	ctrl.SetLogger(logr.Discard())
	mgr := must.Get(ctrl.NewManager(hub.As("hubaccess"), ctrl.Options{
		Scheme: hub.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	}))(t)
	auth := must.Get(awsauth.New(awsauth.Options{}))(t)
	must.Do(t, hubaccess.Add(t.Context(), mgr, hubaccess.Options{
		Flags: hubaccess.Flags{IAM: corehub.On, HubARN: hubARN}, As: identity.Identity{Base: identity.Session},
		AWS: hubaccess.AWS{Accounts: caller.New(auth), Roles: iamrole.New(auth), Entries: accessentry.New(auth)},
	}))
	testkit.RunManager(t, mgr)
}

// TestOCMTabardGivesAClusterItsAccess has Open Cluster Management's operators, hub and agents, with
// its driver csr alone on the hub; Tabard's controller, its program for tokens and its local EKS.
// A cluster in EKS is accepted, joins and gets its works. When it is denied, its access stays until
// the works are gone, and then goes.
func TestOCMTabardGivesAClusterItsAccess(t *testing.T) {
	aws := startEKS(t)
	environment := spokeSession(t, aws)
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{Authenticator: asEKS(t, aws)}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"})
	spoke := startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{
		Programs: awsCLI(t, tokenProgram+` install "$1"`), Environment: environment,
	})
	ocm.MakeKlusterlet(t, spoke.Cluster, "cluster1", ocm.MakeBootstrap(t, hub.Cluster), awsirsa(hubARN, arnA))
	joined := &ocm.Hub{Cluster: hub.Cluster}
	awaitAnnotations(joined, "cluster1")
	runHubAccess(t, hub.Cluster, aws)
	aws.Admin().ClearJournal()

	joined.Accept("cluster1")
	awaitAccess(t, hub.Cluster, "True", core.ReasonAccessGiven)
	awaitCondition(joined, "cluster1", "ManagedClusterJoined", "True")
	wantArrives(t, hub.Cluster, spoke.Cluster, "cluster1")
	role := "arn:aws:iam::111111111111:role/ocm-hub-" + suffixA
	wantAlone(t, hub.Cluster, func(cluster string) string { return mint(t, environment, cluster, role) })
	var made []string
	for _, call := range aws.Admin().Journal() {
		if strings.HasPrefix(call.Operation, "Create") {
			made = append(made, call.Operation)
		}
		if by := call.Caller; call.Operation == "AssumeRole" && !strings.Contains(by, ":assumed-role/ocm-managed-cluster-"+suffixA+"/") {
			t.Errorf("%s was called by %s", call.Operation, by)
		}
	}
	if !slices.Equal(made, []string{"CreateRole", "CreateAccessEntry"}) {
		t.Errorf("made in AWS were %v", made)
	}

	deny(t, hub.Cluster, "cluster1")
	awaitAccess(t, hub.Cluster, "False", core.ReasonWaitingForWorks)
	if entries := aws.Admin().Clusters()[0].AccessEntries; len(entries) != 1 {
		t.Errorf("while there are works, the entries are %v", entries)
	}
	last := mint(t, environment, "eks-hub", role) // with the role, nobody becomes it any more
	work := ocm.New(ocm.ManifestWork, "cluster1", "greeting")
	must.Do(t, client.IgnoreNotFound(hub.Delete(t.Context(), work)))
	hub.Await(func() error {
		if entries := aws.Admin().Clusters()[0].AccessEntries; len(entries) > 0 {
			return fmt.Errorf("the entries are %v", entries)
		}
		return nil
	})
	awaitUnauthorized(t, hub.Cluster, func() string { return last })
}

func deny(t *testing.T, hub *testkit.Cluster, name string) {
	t.Helper()
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	must.Do(t, hub.Patch(t.Context(), cluster, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"hubAcceptsClient":false}}`))))
}

// awaitAccess waits for the condition of the cluster's HubAccess.
func awaitAccess(t *testing.T, hub *testkit.Cluster, status string, reason core.Reason) {
	t.Helper()
	hub.Await(func() error {
		var access v1alpha1.HubAccess
		if err := hub.Get(t.Context(), client.ObjectKey{Name: "cluster1"}, &access); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(access.Status.Conditions, core.TypeReady)
		if ready == nil || string(ready.Status) != status || ready.Reason != string(reason) {
			return fmt.Errorf("the access is %+v", ready)
		}
		return nil
	})
}
