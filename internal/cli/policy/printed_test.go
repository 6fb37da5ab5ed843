package policy

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/handoff/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// printed is a policy that Tabard writes or prints for people.
type printed struct {
	kind     iampolicy.Kind
	document string
}

// TestThePoliciesThatTabardPrintsAreClean: policy check finds nothing in them, warnings neither.
// Those on pages and in manifests are TestOurOwnPoliciesAreClean's.
func TestThePoliciesThatTabardPrintsAreClean(t *testing.T) {
	for name, one := range map[string]func(*testing.T) map[string]printed{"hub": ofHub, "issuer": ofIssuer, "credentials": ofCredentials, "permission": ofPermission, "hand-off": ofHandoff, "chain": ofChain} {
		for what, p := range one(t) {
			t.Run(name+"/"+what, func(t *testing.T) {
				for _, text := range everyFinding(p.kind, p.document) {
					t.Errorf("%s\n%s", text, p.document)
				}
			})
		}
	}
}

func ofHub(t *testing.T) map[string]printed {
	t.Helper()
	arn := must.Get(hub.ParseARN("arn:aws:eks:us-west-2:111122223333:cluster/eks-hub"))(t)
	agents := hub.Agents{Namespace: "open-cluster-management-agent", Klusterlet: "klusterlet"}
	spokes := map[string]hub.Spoke{
		"a spoke in EKS":               {Cluster: "one", ARN: must.Get(hub.ParseARN("arn:aws:eks:us-east-1:444455556666:cluster/spoke"))(t), Issuer: "https://oidc.eks.us-east-1.amazonaws.com/id/ABC", Agents: agents},
		"a spoke with an issuer":       {Cluster: "two", Issuer: "https://issuer.example.com", Agents: agents},
		"a spoke with users' own keys": {Cluster: "three", Principals: []string{"arn:aws:iam::444455556666:role/agents"}, Agents: agents},
	}
	controller := hub.Controller{Hub: arn, Issuer: "https://oidc.eks.us-west-2.amazonaws.com/id/ABC", Namespace: "tabard-system", ServiceAccount: hub.ControllerName}
	out := map[string]printed{
		"permissions":            {iampolicy.IdentityPolicy, hub.Permissions(arn).String()},
		"the controller's trust": {iampolicy.TrustPolicy, controller.Trust()},
	}
	for name, spoke := range spokes {
		_, trust, err := spoke.HubRole(arn)
		must.Do(t, err)
		out[name] = printed{iampolicy.TrustPolicy, trust}
	}
	own := must.Get(spokes["a spoke in EKS"].OwnRole(arn))(t)
	out["the spoke's own role"] = printed{iampolicy.TrustPolicy, own.Trust}
	out["the spoke's own permissions"] = printed{iampolicy.IdentityPolicy, own.Policy}
	return out
}

func ofIssuer(t *testing.T) map[string]printed {
	t.Helper()
	spec := v1alpha1.OIDCIssuerSpec{
		URL: "https://issuer.example.com", DeletionPolicy: v1alpha1.DeletionPolicyDelete,
		Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: "issuer", Region: "eu-west-1", ReleaseName: true}},
		Providers:   []v1alpha1.Provider{{}, {AssumeRoleARN: "arn:aws:iam::444455556666:role/tabard"}},
	}
	subject := issuer.Subject{Namespace: "tabard-system", ServiceAccount: "tabard-operator", Audience: "sts.amazonaws.com"}
	return map[string]printed{
		"trust":       {iampolicy.TrustPolicy, issuer.TrustPolicy("arn:aws:iam::111122223333:oidc-provider/issuer.example.com", subject)},
		"permissions": {iampolicy.IdentityPolicy, issuer.PermissionPolicy(spec, "111122223333")},
		"bucket":      {iampolicy.ResourcePolicy, issuer.PublicReadPolicy(spec)},
	}
}

func ofCredentials(t *testing.T) map[string]printed {
	t.Helper()
	provider := "arn:aws:iam::111122223333:oidc-provider/issuer.example.com"
	minter := credentials.Minter{
		Partition: "aws", Account: "111122223333", Infrastructure: "prod", Paths: []string{"/tabard/"},
		Buckets: []string{"issuer"}, Providers: []string{provider}, Roles: []string{"arn:aws:iam::111122223333:role/tabard-issuer-main"},
	}
	return map[string]printed{
		"boundary":    {iampolicy.BoundaryPolicy, must.Get(minter.BoundaryPolicy())(t)},
		"permissions": {iampolicy.IdentityPolicy, must.Get(minter.PermissionPolicy())(t)},
		"trust":       {iampolicy.TrustPolicy, must.Get(credentials.MinterTrust([]string{provider}, "tabard-system", "tabard-credentials"))(t)},
	}
}

// someRequest is what an operator asks for.
func someRequest() permission.Set {
	asked := permission.ReadAnnotations(permission.Subject{Package: "p", Cloud: permission.AWS}, "p.v1.0.0", map[string]string{permission.Annotation: `[{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": {"name": "p"},
		"spec": {"secretRef": {"name": "p", "namespace": "$(NAMESPACE)"}, "serviceAccountNames": ["p"], "providerSpec": {
			"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec", "statementEntries": [
				{"effect": "Allow", "action": ["s3:GetObject", "s3:PutObject"], "resource": "arn:aws:s3:::b/*"},
				{"effect": "Allow", "action": ["sqs:SendMessage"], "resource": "arn:aws:sqs:eu-west-1:111122223333:q"}
			]}}}]`})
	return asked
}

func ofPermission(t *testing.T) map[string]printed {
	t.Helper()
	asked := someRequest()
	documents := asked.Policy().Documents
	if len(documents) != 1 || len(asked.Findings) > 0 {
		t.Fatalf("what is asked for is %d policies, with the findings %v, want one and none", len(documents), asked.Findings)
	}
	return map[string]printed{"a role's": {iampolicy.IdentityPolicy, documents[0]}}
}

func ofHandoff(t *testing.T) map[string]printed {
	t.Helper()
	place := rolerequest.Place{Cluster: "prod", Namespace: "p", Issuer: "https://issuer.example.com", Account: "111122223333"}
	request := must.Get(rolerequest.New(someRequest(), place, rolerequest.Role{}))(t)
	return map[string]printed{"trust": {iampolicy.TrustPolicy, operator.Trust(request)}}
}

// ofChain are the trust policy that a finding makes a role with, and the policy that it gives a role.
func ofChain(t *testing.T) map[string]printed {
	t.Helper()
	issuer, account := "https://issuer.example.com", &metav1.PartialObjectMetadata{}
	account.Namespace, account.Name = "shop", "checkout"
	account.Annotations = map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/checkout"}
	found := chain.Explain(chain.Evidence{
		Subject: chain.Subject{Namespace: "shop", Account: "checkout"}, Issuer: chain.Seen[string]{Value: &issuer}, Account: chain.Seen[metav1.PartialObjectMetadata]{Value: account},
		Provider: chain.Seen[chain.OIDCProvider]{Value: &chain.OIDCProvider{Audiences: []string{"sts.amazonaws.com"}}},
	})
	_, document, _ := strings.Cut(found.First.Mend[0], " --assume-role-policy-document ")
	role := "arn:aws:iam::111122223333:role/checkout"
	lacking := chain.Explain(chain.Evidence{
		Subject: chain.Subject{Namespace: "shop", Account: "checkout", Actions: []string{"s3:GetObject"}, Resource: "arn:aws:s3:::orders/today.csv"}, Account: chain.Seen[metav1.PartialObjectMetadata]{Value: account},
		Role: chain.Seen[chain.Role]{Value: &chain.Role{ARN: role}}, Policies: chain.Seen[chain.Policies]{Value: &chain.Policies{}},
	})
	_, policy, _ := strings.Cut(lacking.First.Mend[0], " --policy-document ")
	return map[string]printed{"trust": {iampolicy.TrustPolicy, strings.Trim(document, "'")}, "policy": {iampolicy.IdentityPolicy, strings.Trim(policy, "'")}}
}

// TestEveryWriterOfPoliciesIsWalked: who adds a policy in another package adds it to
// TestThePoliciesThatTabardPrintsAreClean too.
func TestEveryWriterOfPoliciesIsWalked(t *testing.T) {
	root := filepath.Join("..", "..")
	known := []string{
		"core/hub", "core/issuer", "core/credentials", "core/permission", "core/chain", "handoff/operator",
		"core/sufficiency", // statements of roles that are read
		"cli/credentials",  // a ceiling that allows everything
		"cli/policy",       // the help of policy eval
		"lab/scenario",     // roles of a lab, which nobody copies
	}
	var found []string
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testkit":
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		if source := must.Get(os.ReadFile(path))(t); bytes.Contains(source, []byte("iampolicy.Document")) || bytes.Contains(source, []byte("2012-10-17")) {
			found = append(found, filepath.ToSlash(must.Get(filepath.Rel(root, filepath.Dir(path)))(t)))
		}
		return nil
	}))
	slices.Sort(known)
	if slices.Sort(found); !slices.Equal(slices.Compact(found), known) {
		t.Errorf("policies are written in %v, and walked are %v", slices.Compact(found), known)
	}
}
