package hub

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
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
	authenticator := startAuthenticator(t, verifier(t, aws))
	hub := startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{Authenticator: authenticator.kubeconfig}, ocm.NodeOptions{})
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"})
	spoke := startOperator(t, ocm.KlusterletOperator, ocm.ClusterOptions{}, ocm.NodeOptions{
		Programs: awsCLI(t, tokenProgram+` install "$1"`),
		Environment: []string{
			"AWS_ENDPOINT_URL=" + aws.PlainURL(), "AWS_EC2_METADATA_DISABLED=true",
			"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
		},
	})
	ocm.MakeKlusterlet(t, spoke.Cluster, "cluster1", ocm.MakeBootstrap(t, hub.Cluster), awsirsa(hubARN, arnA))
	joined := &ocm.Hub{Cluster: hub.Cluster}
	awaitAnnotations(joined, "cluster1")

	role, name, group := aws.Role(hubAccount, "ocm-hub-"+suffixA, trustAgents, ""), "cluster1", "open-cluster-management:cluster1"
	cluster := "eks-hub"
	must.Get(eks.NewFromConfig(aws.As(aws.Administrator(hubAccount))).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{
		ClusterName: &cluster, PrincipalArn: &role, Username: &name, KubernetesGroups: []string{group},
	}))(t)
	joined.Accept("cluster1")
	awaitCondition(joined, "cluster1", "ManagedClusterJoined", "True")
	wantArrives(t, hub.Cluster, spoke.Cluster, "cluster1")

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

// verifier is an authenticator's judgement by STS and the access entries.
func verifier(t *testing.T, aws *awstest.Lab) func(token string) (cluster string) {
	client := &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(token string) (cluster string) {
		caller, err := identify(t, client, aws.PlainURL(), token)
		if err != nil {
			t.Logf("a token is refused: %v", err)
			return ""
		}
		entries := aws.Admin().Clusters()[0].AccessEntries
		at := slices.IndexFunc(entries, func(entry awslocal.AccessEntry) bool {
			return entry.PrincipalARN == caller.Canonical && entry.PrincipalID == caller.ID
		})
		if at < 0 {
			return ""
		}
		return entries[at].Username
	}
}

// identify asks STS who signed a token.
func identify(t *testing.T, client *http.Client, origin, token string) (ekstoken.Caller, error) {
	question, err := ekstoken.Check(token, ekstoken.Cluster{Name: "eks-hub", Region: "us-west-2", Origin: origin}, time.Now())
	if err != nil {
		return ekstoken.Caller{}, err
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, question.URL, http.NoBody)
	if err != nil {
		return ekstoken.Caller{}, err
	}
	request.Header.Set(ekstoken.ClusterHeader, "eks-hub")
	request.Header.Set("accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return ekstoken.Caller{}, err
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return ekstoken.Caller{}, err
	}
	return ekstoken.Read(response.StatusCode, body)
}
