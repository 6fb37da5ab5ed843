package hubaccess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/eksauth"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The blocks of docs/hub.md that this file types, by how they begin: the scripts, and the end of
// a cluster's access.
const (
	pagePrints  = "HUB=arn:aws:eks:"
	pageDetach  = "kubectl delete managedcluster cluster1\n"
	pageIssuer  = "https://oidc.eks.us-east-1.amazonaws.com/id/EXAMPLE"
	pageSpoke   = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	pageSuffix  = "141fc72f17164e5a28c2b4e384694bae"
	agents      = "open-cluster-management-agent"
	stranger    = "stranger"
	joined      = "cluster1"
	joinedGroup = "open-cluster-management:cluster1"
)

// hands are the administrators of both accounts, who type what docs/hub.md says, in one folder.
type hands struct {
	*world
	folder string
	blocks []string
}

func newHands(w *world) hands {
	page := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "hub.md")))(w)
	h := hands{w, w.TempDir(), testkit.Blocks(string(page), "sh")}
	localkube := must.Get(filepath.Abs(os.Getenv("TABARD_LOCALKUBE")))(w)
	must.Do(w, errors.Join(os.Symlink(testkit.Tabard(w), filepath.Join(h.folder, "tabard")), os.Symlink(localkube, filepath.Join(h.folder, "kubectl"))))
	return h
}

// block is the one of the page that begins so, for the issuer of the tests' cluster.
func (h hands) block(begin string) string {
	h.Helper()
	at := slices.IndexFunc(h.blocks, func(block string) bool { return strings.HasPrefix(block, begin) })
	if at < 0 {
		h.Fatalf("docs/hub.md has no block of commands that begins with %q", begin)
	}
	return strings.ReplaceAll(h.blocks[at], pageIssuer, h.Issuer())
}

// types runs a script with a session of an account, as its administrator.
func (h hands) types(account, script string) {
	h.Helper()
	key := h.aws.Administrator(account)
	shell := exec.CommandContext(h.Context(), "/bin/sh", "-euc", script)
	shell.Dir = h.folder
	shell.Env = []string{
		"HOME=" + h.folder, "PATH=" + h.folder + ":" + os.Getenv("PATH"), "KUBECONFIG=" + h.Kubeconfig(h.Config), "AWS_PAGER=",
		"AWS_ENDPOINT_URL=" + h.aws.URL(), "AWS_CA_BUNDLE=" + h.aws.Path("ca.crt"), "AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
	}
	if out, err := shell.CombinedOutput(); err != nil {
		h.Fatalf("in account %s: %v\n%s\n%s", account, err, script, out)
	}
}

// become has an agent with its own token become its cluster's role, and from that the one in the
// hub's account. The token of EKS is of the last.
func (h hands) become(agent string) (token string, err error) {
	h.Helper()
	ctx := h.Context()
	first, err := sts.NewFromConfig(h.aws.As(aws.Credentials{})).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String("arn:aws:iam::" + spokes + ":role/" + hub.SpokeRoleName(pageSuffix)), RoleSessionName: aws.String("agent"),
		WebIdentityToken: aws.String(h.Token(agents, agent, time.Hour, audience)),
	})
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, tokenProgram, "--region", "us-west-2", "eks", "get-token", "--cluster-name", "eks-hub", "--output", "json",
		"--role", roleARN(hub.RoleName(pageSuffix)))
	command.Env = []string{
		"HOME=" + h.TempDir(), "AWS_ENDPOINT_URL=" + h.aws.URL(), "AWS_CA_BUNDLE=" + h.aws.Path("ca.crt"), "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=" + *first.Credentials.AccessKeyId, "AWS_SECRET_ACCESS_KEY=" + *first.Credentials.SecretAccessKey, "AWS_SESSION_TOKEN=" + *first.Credentials.SessionToken,
	}
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	var credential struct{ Status struct{ Token string } }
	return credential.Status.Token, json.Unmarshal(out, &credential)
}

// judge is the hub's answer to the holder of a token, by its access entries as they are now.
func (h hands) judge(token string) (ekstoken.User, error) {
	eks := &eksauth.Authenticator{
		Cluster: ekstoken.Cluster{Name: "eks-hub", Region: "us-west-2", Origin: h.aws.URL()}, Client: h.aws.Client(),
		Entries: func(context.Context) (entries []ekstoken.Entry, err error) {
			for _, entry := range h.aws.Admin().Clusters()[0].AccessEntries {
				entries = append(entries, ekstoken.Entry{PrincipalARN: entry.PrincipalARN, PrincipalID: entry.PrincipalID, Username: entry.Username, Groups: entry.Groups})
			}
			return entries, nil
		},
	}
	return eks.Judge(h.Context(), token)
}

// wantJoined says that both agents of the cluster are the cluster on the hub.
func (h hands) wantJoined() (token string) {
	h.Helper()
	for _, agent := range []string{"klusterlet-registration-sa", "klusterlet-work-sa"} {
		token = must.Get(h.become(agent))(h)
		if who, err := h.judge(token); err != nil || who.Username != joined || !slices.Equal(who.Groups, []string{joinedGroup}) {
			h.Errorf("%s is %+v on the hub, %v", agent, who, err)
		}
	}
	return token
}

// program are the operations that the program called, or signed in to call.
func (h hands) program() (operations []string) {
	for _, call := range h.aws.Admin().Journal() {
		if strings.Contains(call.Caller, ":assumed-role/tabard-hub/") || call.Operation == "AssumeRoleWithWebIdentity" && call.Resource == roleARN("tabard-hub") {
			operations = append(operations, call.Operation)
		}
	}
	return operations
}

// writes says that an operation changes something in IAM or EKS.
func writes(operation string) bool {
	return !slices.ContainsFunc([]string{"Get", "List", "Describe", "AssumeRole"}, func(verb string) bool { return strings.HasPrefix(operation, verb) })
}

// TestCommandLineThePagesStepsByHand: with managed IAM off, the administrators of both accounts run
// what "tabard hub role" prints, twice, and so the cluster has its access. With managed IAM on, the
// program finds both as it would make them, and leaves them when the cluster goes. Then the page's
// last commands take them away.
func TestCommandLineThePagesStepsByHand(t *testing.T) {
	w := newWorld(t)
	h := newHands(w)
	w.aws.Provider(spokes, w.Issuer(), audience)
	process := w.start("--hubaccess-managed-iam=Off")
	cluster := named(joined)
	cluster.SetAnnotations(map[string]string{hub.ARNAnnotation: pageSpoke, hub.SuffixAnnotation: pageSuffix})
	w.Make(cluster)
	must.Do(t, w.Patch(t.Context(), cluster, merge(`{"spec":{"hubAcceptsClient":true}}`)))

	h.types(spokes, h.block(pagePrints)) // a session that prints needs no right in AWS
	for range 2 {
		h.types(spokes, "sh in-the-clusters-account.sh")
		h.types(account, "sh in-the-hubs-account.sh")
	}
	token := h.wantJoined()
	if _, err := h.become(stranger); !strings.HasPrefix(awstest.Refusal(nil, err), "AccessDenied: ") {
		t.Errorf("another ServiceAccount of the cluster becomes its role: %v", err)
	}
	process.End()
	if calls := h.program(); len(calls) > 0 {
		t.Errorf("with managed IAM off, the program called AWS: %v", calls)
	}

	w.start("--hubaccess-managed-iam=On")
	w.ready(core.ReasonMadeByHand, 1)
	detach, after, _ := strings.Cut(h.block(pageDetach), "\n")
	h.types(account, detach)
	h.wantJoined()
	h.types(account, after)
	if calls := h.program(); len(calls) == 0 || slices.ContainsFunc(calls, writes) {
		t.Errorf("what was made by hand, the program has not looked at, or not only: %v", calls)
	}
	if who, err := h.judge(token); err == nil {
		t.Errorf("without its access entry, the cluster is %+v on the hub", who)
	}
	if _, err := h.become("klusterlet-work-sa"); err == nil {
		t.Error("the role in the hub's account was deleted, and an agent becomes it")
	}
}
