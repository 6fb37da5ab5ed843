package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/eksauth"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

const (
	trustAgents = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::222222222222:user/agent"}}]}`
	mayAssume   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::111111111111:role/ocm-hub-*"}]}`
)

// TestOCMTabardsTokenProgramIsInThePlaceOfTheAWSCLI has Open Cluster Management's
// operators and agents, Tabard's program for tokens, and the local AWS. The agents have
// the access key of a user in the spoke's account.
func TestOCMTabardsTokenProgramIsInThePlaceOfTheAWSCLI(t *testing.T) {
	aws := startEKS(t)
	aws.User(spokeAccount, "agent", mayAssume)
	key := aws.Key(spokeAccount, "agent")
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{Authenticator: asEKS(t, aws)}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"})
	environment := []string{
		"AWS_ENDPOINT_URL=" + aws.PlainURL(), "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
	}
	spoke := startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{
		Programs: awsCLI(t, tokenProgram+` install "$1"`), Environment: environment,
	})
	ocm.MakeKlusterlet(t, spoke.Cluster, "cluster1", ocm.MakeBootstrap(t, hub.Cluster), awsirsa(hubARN, arnA))
	joined := &ocm.Hub{Cluster: hub.Cluster}
	awaitAnnotations(joined, "cluster1")

	role, admin := aws.Role(hubAccount, "ocm-hub-"+suffixA, trustAgents, ""), eks.NewFromConfig(aws.As(aws.Administrator(hubAccount)))
	must.Get(admin.CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{
		ClusterName: new("eks-hub"), PrincipalArn: &role, Username: new("cluster1"), KubernetesGroups: []string{"open-cluster-management:cluster1"},
	}))(t)
	joined.Accept("cluster1")
	awaitCondition(joined, "cluster1", "ManagedClusterJoined", "True")
	wantArrives(t, hub.Cluster, spoke.Cluster, "cluster1")

	wantAlone(t, hub.Cluster, func(cluster string) string { return mint(t, environment, cluster, role) })
	must.Get(admin.DeleteAccessEntry(t.Context(), &eks.DeleteAccessEntryInput{ClusterName: new("eks-hub"), PrincipalArn: &role}))(t)
	awaitUnauthorized(t, hub.Cluster, func() string { return mint(t, environment, "eks-hub", role) })

	callers := map[string]string{}
	for _, entry := range aws.Admin().Journal() {
		if entry.Service == "sts" {
			callers[entry.Operation] = entry.Caller
		}
	}
	if got := callers["AssumeRole"]; got != "arn:aws:iam::222222222222:user/agent" {
		t.Errorf("AssumeRole was called by %q", got)
	}
	if got := callers["GetCallerIdentity"]; !strings.HasPrefix(got, "arn:aws:sts::111111111111:assumed-role/ocm-hub-"+suffixA+"/") {
		t.Errorf("the hub has asked for the identity of %q", got)
	}
}

// awaitUnauthorized waits until the hub takes no fresh token. Entries are read once a second.
func awaitUnauthorized(t *testing.T, hub *testkit.Cluster, mint func() string) {
	t.Helper()
	hub.Await(func() error {
		if err := readCluster(hub, mint(), "cluster1"); !apierrors.IsUnauthorized(err) {
			return fmt.Errorf("without an access entry, the hub answers %s, want Unauthorized", fmt.Sprint(err))
		}
		return nil
	})
}

// wantAlone says that the holder of a cluster's tokens reads what is of that cluster, and
// nothing of another. It returns what the hub answers where it refuses.
func wantAlone(t *testing.T, hub *testkit.Cluster, mint func(cluster string) string) (refusals []error) {
	t.Helper()
	hub.Make(ocm.New(ocm.ManagedCluster, "", "cluster2"))
	(&ocm.Hub{Cluster: hub}).Accept("cluster2")
	awaitCondition(&ocm.Hub{Cluster: hub}, "cluster2", "HubAcceptedManagedCluster", "True")
	token := mint("eks-hub")
	if err := readCluster(hub, token, "cluster1"); err != nil {
		t.Errorf("of the cluster itself, the hub answers %v, want the cluster", err)
	}
	other := readCluster(hub, token, "cluster2")
	if !apierrors.IsForbidden(other) {
		t.Errorf("of another cluster, the hub answers %v, want Forbidden", other)
	}
	works := &unstructured.UnstructuredList{}
	works.SetGroupVersionKind(ocm.ManifestWork)
	if err := holder(hub, token).List(t.Context(), works, client.InNamespace("cluster1")); err != nil {
		t.Errorf("of the works of the cluster itself, the hub answers %v, want the works", err)
	}
	otherWorks := holder(hub, token).List(t.Context(), works, client.InNamespace("cluster2"))
	if !apierrors.IsForbidden(otherWorks) {
		t.Errorf("of the works of another cluster, the hub answers %v, want Forbidden", otherWorks)
	}
	otherHub := readCluster(hub, mint("another-hub"), "cluster1")
	if !apierrors.IsUnauthorized(otherHub) {
		t.Errorf("to a token for another hub, the hub answers %v, want Unauthorized", otherHub)
	}
	return []error{other, otherWorks, otherHub}
}

func holder(hub *testkit.Cluster, token string) client.Client {
	config := rest.AnonymousClientConfig(hub.Config)
	config.BearerToken = token
	return hub.ClientFor(config)
}

func readCluster(hub *testkit.Cluster, token, name string) error {
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	return holder(hub, token).Get(hub.Context(), client.ObjectKeyFromObject(cluster), cluster)
}

// mint is a token that Tabard's program prints for the agents.
func mint(t *testing.T, environment []string, cluster, role string) (token string) {
	t.Helper()
	token, refusal := tryMint(t, environment, cluster, role)
	if refusal != "" {
		t.Fatal(refusal)
	}
	return token
}

// tryMint is mint where the program may refuse; refusal is what it says then.
func tryMint(t *testing.T, environment []string, cluster, role string) (token, refusal string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), tokenProgram,
		"--region", "us-west-2", "eks", "get-token", "--cluster-name", cluster, "--output", "json", "--role", role)
	command.Env = append([]string{"HOME=" + t.TempDir()}, environment...)
	printed, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Sprintf("%v: %s", err, failed.Stderr)
	}
	must.Do(t, err)
	var credential struct{ Status struct{ Token string } }
	must.Do(t, json.Unmarshal(printed, &credential))
	return credential.Status.Token, ""
}

// asEKS is the local EKS's judgement of tokens: the kubeconfig that leads an API server to it.
func asEKS(t *testing.T, aws *awstest.Lab) (kubeconfig string) {
	t.Helper()
	local := &eksauth.Authenticator{
		Cluster: ekstoken.Cluster{Name: "eks-hub", Region: "us-west-2", Origin: aws.PlainURL()},
		Entries: func(context.Context) (entries []ekstoken.Entry, err error) {
			for _, entry := range aws.Admin().Clusters()[0].AccessEntries {
				entries = append(entries, ekstoken.Entry{PrincipalARN: entry.PrincipalARN, PrincipalID: entry.PrincipalID, Username: entry.Username, Groups: entry.Groups})
			}
			return entries, nil
		},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	return serveReviews(t, local.Handler(), eksauth.Path)
}
