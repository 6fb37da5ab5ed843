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
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
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
	return sessionOf(t, aws, "cluster1", arnA, "agent")
}

// sessionOf is that of the agents of a cluster, for whom a user stands in the spokes' account.
func sessionOf(t *testing.T, aws *awstest.Lab, cluster, arn, user string) []string {
	t.Helper()
	spoke := corehub.Spoke{
		Cluster: cluster, ARN: must.Get(corehub.ParseARN(arn))(t), Issuer: "https://oidc.eks.us-east-1.amazonaws.com/id/A",
		Agents: corehub.Agents{Namespace: "open-cluster-management-agent", Klusterlet: "klusterlet"},
	}
	own := must.Get(spoke.OwnRole(must.Get(corehub.ParseARN(hubARN))(t)))(t)
	aws.User(spokeAccount, user, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::222222222222:role/`+own.Name+`"}]}`)
	role := aws.Role(spokeAccount, own.Name, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::222222222222:user/`+user+`"}}]}`, own.Policy)
	var tags []iamtypes.Tag
	for key, value := range own.Tags {
		tags = append(tags, iamtypes.Tag{Key: &key, Value: &value})
	}
	must.Get(aws.IAM(spokeAccount).TagRole(t.Context(), &iam.TagRoleInput{RoleName: &own.Name, Tags: tags}))(t)
	session := must.Get(sts.NewFromConfig(aws.As(aws.Key(spokeAccount, user))).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: new("agents")}))(t).Credentials
	return []string{
		"AWS_ENDPOINT_URL=" + aws.PlainURL(), "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=" + *session.AccessKeyId, "AWS_SECRET_ACCESS_KEY=" + *session.SecretAccessKey, "AWS_SESSION_TOKEN=" + *session.SessionToken,
	}
}

// story is a hub with Open Cluster Management's operators, hub and agents, with its driver csr alone;
// Tabard's controller, its program for tokens and its local EKS; and a cluster in EKS that joins.
type story struct {
	*ocm.Hub
	// node runs the hub's pods.
	node  *ocm.Node
	aws   *awstest.Lab
	spoke operated
	// environment is that of the cluster's agents.
	environment []string
	// role is the cluster's in the hub's account.
	role string
	// key is the ID of the access key of Tabard's controller.
	key string
	// stop ends Tabard's controller.
	stop func()
}

// startStory starts one, whose cluster waits for being accepted.
func startStory(t *testing.T) *story {
	t.Helper()
	s := prepareStory(t, startEKS(t), nil, map[string]any{"authType": "csr"})
	s.run(t, corehub.On)
	s.aws.Admin().ClearJournal()
	return s
}

// prepareStory starts one with these drivers, and this environment of the hub's pods; Tabard's controller
// may run, and does not yet.
func prepareStory(t *testing.T, aws *awstest.Lab, hubEnvironment []string, drivers ...any) *story {
	t.Helper()
	s := &story{aws: aws, environment: spokeSession(t, aws), role: "arn:aws:iam::111111111111:role/ocm-hub-" + suffixA}
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{Authenticator: asEKS(t, aws)}, ocm.NodeOptions{Environment: hubEnvironment})
	ocm.MakeClusterManager(t, hub.Cluster, drivers...)
	s.Hub, s.node = &ocm.Hub{Cluster: hub.Cluster}, hub.Node
	s.ask(t)
	s.admit(t)
	return s
}

// ask starts the cluster, whose agents ask to join, and returns what they say of it.
func (s *story) ask(t *testing.T) (annotations map[string]string) {
	t.Helper()
	s.spoke = startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{
		Programs: awsCLI(t, tokenProgram+` install "$1"`), Environment: s.environment,
	})
	ocm.MakeKlusterlet(t, s.spoke.Cluster, "cluster1", ocm.MakeBootstrap(t, s.Cluster), awsirsa(hubARN, arnA))
	return awaitAnnotations(s.Hub, "cluster1")
}

// admit gives Tabard's controller its rights in the cluster, and an access key.
func (s *story) admit(t *testing.T) {
	t.Helper()
	s.InstallCRDs(t)
	s.Grant("hubaccess", testkit.Rights(t, hubaccess.Name))
	s.GrantIn(corehub.ControllerNamespace, "hubaccess", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
	key := s.aws.Administrator(hubAccount)
	s.key = key.AccessKeyID
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": s.aws.PlainURL(), "AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey} {
		t.Setenv(name, value)
	}
}

// run runs Tabard's controller on the hub, with its own rights in the cluster alone, in the place of one
// that ran before.
func (s *story) run(t *testing.T, iam corehub.Switch) {
	t.Helper()
	if s.stop != nil {
		s.stop()
	}
	ctrl.SetLogger(logr.Discard())
	mgr := must.Get(ctrl.NewManager(s.As("hubaccess"), ctrl.Options{
		Scheme: s.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	}))(t)
	auth := must.Get(awsauth.New(awsauth.Options{}))(t)
	must.Do(t, hubaccess.Add(t.Context(), mgr, hubaccess.Options{
		Flags: hubaccess.Flags{IAM: iam, HubARN: hubARN}, As: identity.Identity{Base: identity.Session},
		AWS: hubaccess.AWS{Accounts: caller.New(auth), Roles: iamrole.New(auth), Entries: accessentry.New(auth)},
	}))
	s.stop = testkit.RunManager(t, mgr)
}

// join accepts the cluster, and waits until it has its access and has used it.
func (s *story) join(t *testing.T) {
	t.Helper()
	s.Accept("cluster1")
	awaitAccess(t, s.Cluster, "True", core.ReasonAccessGiven)
	awaitCondition(s.Hub, "cluster1", "ManagedClusterJoined", "True")
}

// awaitNoEntry waits until nobody has access.
func (s *story) awaitNoEntry() {
	s.Helper()
	s.Await(func() error {
		if entries := s.entries(); len(entries) > 0 {
			return fmt.Errorf("the access entries are %v, want none", entries)
		}
		return nil
	})
}

func (s *story) entries() []awslocal.AccessEntry { return s.aws.Admin().Clusters()[0].AccessEntries }

// mint is a fresh token of the cluster.
func (s *story) mint(t *testing.T) string {
	t.Helper()
	return mint(t, s.environment, "eks-hub", s.role)
}

// TestOCMTabardGivesAClusterItsAccess has a cluster in EKS that is accepted, joins and gets its works.
// When it is denied, its access stays until the works are gone, and then goes.
func TestOCMTabardGivesAClusterItsAccess(t *testing.T) {
	s := startStory(t)
	s.join(t)
	wantArrives(t, s.Cluster, s.spoke.Cluster, "cluster1")
	wantAlone(t, s.Cluster, func(cluster string) string { return mint(t, s.environment, cluster, s.role) })
	var made []string
	for _, call := range s.aws.Admin().Journal() {
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
	registersAddOns(s.spoke.Cluster)
	addOn, own := wantAddOn(t, s.Cluster, s.spoke.Cluster, "cluster1")
	wantAddOnGoes(t, s.Cluster, s.spoke.Cluster, addOn, own)

	deny(t, s.Cluster, "cluster1")
	awaitAccess(t, s.Cluster, "False", core.ReasonWaitingForWorks)
	if entries := s.entries(); len(entries) != 1 {
		t.Errorf("while there are works, the entries are %v", entries)
	}
	last := s.mint(t) // with the role, nobody becomes it any more
	work := ocm.New(ocm.ManifestWork, "cluster1", "greeting")
	must.Do(t, client.IgnoreNotFound(s.Delete(t.Context(), work)))
	s.awaitNoEntry()
	awaitUnauthorized(t, s.Cluster, func() string { return last })
}

func deny(t *testing.T, hub *testkit.Cluster, name string) {
	t.Helper()
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	must.Do(t, hub.Patch(t.Context(), cluster, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"hubAcceptsClient":false}}`))))
}

// awaitAccess waits for the condition of the cluster's HubAccess.
func awaitAccess(t *testing.T, hub *testkit.Cluster, status string, reason core.Reason) {
	t.Helper()
	hub.Await(func() error { return hasAccess(hub, "cluster1", status, reason) })
}

// hasAccess is an error unless the HubAccess of a cluster has this condition.
func hasAccess(hub *testkit.Cluster, name, status string, reason core.Reason) error {
	var access v1alpha1.HubAccess
	if err := hub.Get(hub.Context(), client.ObjectKey{Name: name}, &access); err != nil {
		return err
	}
	ready := meta.FindStatusCondition(access.Status.Conditions, core.TypeReady)
	if ready == nil || string(ready.Status) != status || ready.Reason != string(reason) {
		return fmt.Errorf("the access of %s is %+v, want Ready %s, %s", name, ready, status, reason)
	}
	return nil
}
