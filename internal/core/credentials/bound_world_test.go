package credentials_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account      = "111122223333"
	awsBoundary  = "arn:aws:iam::111122223333:policy/tabard/credentials-boundary"
	ownNamespace = "tabard-credentials"
)

// teamWorld is what a pass sees of a request: a cluster with an issuer in a bucket, and
// with the boundaries that are shipped, and others.
func teamWorld(request *cloudv1.CredentialsRequest, boundaries ...v1alpha1.CredentialsBoundary) credentials.World {
	return credentials.World{
		Request: request, Provider: credentials.DecodeProvider(request), Boundaries: boundaries,
		NamespaceLabels: map[string]string{"kubernetes.io/metadata.name": request.Namespace},
		Platform:        platform.Facts{Infrastructure: "prod-x7k2p"},
		Settings: credentials.Settings{
			Partition: "aws", Path: "/tabard/", PermissionsBoundary: awsBoundary, OwnNamespaces: []string{ownNamespace},
		},
		Protected: credentials.Protected{
			Buckets:  []string{"prod-issuer", "team-issuer"},
			Roles:    []string{"arn:aws:iam::" + account + ":role/tabard-*", "arn:aws:iam::" + account + ":role/tabard/prod-x7k2p-*"},
			Policies: []string{awsBoundary},
		},
		Policies: map[string]credentials.PolicyInAWS{awsBoundary: {Document: looseBound, Exists: true}},
		Issuers: []credentials.Issuer{{
			URL: "https://prod-issuer.s3.eu-central-1.amazonaws.com", Registered: true, Audiences: []string{"sts.amazonaws.com", "openshift"},
			ProviderARN: "arn:aws:iam::" + account + ":oidc-provider/prod-issuer.s3.eu-central-1.amazonaws.com",
		}},
		Account: account,
	}
}

// requestOf is a request of a namespace whose spec is in YAML.
func requestOf(t *testing.T, namespace, spec string) *cloudv1.CredentialsRequest {
	t.Helper()
	request := &cloudv1.CredentialsRequest{}
	request.Namespace, request.Name, request.UID = namespace, "app", "0b0b3b1e-0000-4000-8000-000000000001"
	if err := yaml.UnmarshalStrict([]byte(spec), &request.Spec); err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	return request
}

// boundaryOf is a boundary whose spec is in YAML.
func boundaryOf(t *testing.T, name, spec string) v1alpha1.CredentialsBoundary {
	t.Helper()
	out := v1alpha1.CredentialsBoundary{}
	out.Name = name
	if err := yaml.UnmarshalStrict([]byte(spec), &out.Spec); err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	return out
}

// read reads one object of examples/credentials.
func read[T any](t *testing.T, folder, file string) T {
	t.Helper()
	var out T
	text := must.Get(os.ReadFile(filepath.Join("../../../examples/credentials", folder, file)))(t)
	if err := yaml.UnmarshalStrict(text, &out); err != nil {
		t.Fatalf("%s/%s: %v", folder, file, err)
	}
	return out
}

// shipped are the boundaries of examples/credentials.
func shipped(t *testing.T) []v1alpha1.CredentialsBoundary {
	t.Helper()
	var out []v1alpha1.CredentialsBoundary
	for _, folder := range []string{"bucket-team", "queues-and-tables", "dns-addon"} {
		out = append(out, read[v1alpha1.CredentialsBoundary](t, folder, "boundary.yaml"))
	}
	return out
}

// verdictOf is the reason of a world, and its message.
func verdictOf(w credentials.World) (reason credentials.Reason, message string) {
	_, v := credentials.Bound(w)
	if !v.IsTrue() && v.Reason == credentials.ReasonAccepted {
		return "a refusal without a reason", v.Message
	}
	return cmp.Or(v.Reason, "no reason"), v.Message
}
