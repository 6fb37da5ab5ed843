package credentials_test

import (
	"path/filepath"
	"testing"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// peopleRun are the boundaries and requests of examples/credentials/operators, by folder.
func peopleRun(t *testing.T) (boundaries map[string]v1alpha1.CredentialsBoundary, requests map[string]cloudv1.CredentialsRequest) {
	t.Helper()
	boundaries, requests = map[string]v1alpha1.CredentialsBoundary{}, map[string]cloudv1.CredentialsRequest{}
	for _, file := range must.Get(filepath.Glob("../../../examples/credentials/operators/*/request.yaml"))(t) {
		name := filepath.Base(filepath.Dir(file))
		requests[name] = read[cloudv1.CredentialsRequest](t, "operators/"+name, "request.yaml")
		boundaries[name] = read[v1alpha1.CredentialsBoundary](t, "operators/"+name, "boundary.yaml")
	}
	if len(requests) != 12 {
		t.Fatalf("there are the operators %v, want twelve", requests)
	}
	return boundaries, requests
}

// TestTheOperatorsBoundariesAreWithinWhatTheBootstrapMakes, so that who applies them is told
// nothing.
func TestTheOperatorsBoundariesAreWithinWhatTheBootstrapMakes(t *testing.T) {
	boundaries, _ := peopleRun(t)
	for name, boundary := range boundaries {
		status, _ := credentials.DecideBoundary(credentials.BoundaryWorld{
			Boundary: &boundary, Settings: credentials.Settings{Partition: "aws", PermissionsBoundary: testBound},
			PolicyInAWS: credentials.PolicyInAWS{Document: bootstrapped(t, "keys"), Exists: true}, Protected: credentials.Protected{Buckets: []string{"keys"}}, Now: noon,
		})
		if ready, _ := condition.Read(status.Conditions, credentials.TypeReady); !ready.IsTrue() {
			t.Errorf("the boundary of %s is %+v", name, ready)
		}
	}
}

// TestAnOperatorsRequestFitsItsOwnBoundaryOnly: it is accepted under its own, refused without
// one, and refused under that of each other operator.
func TestAnOperatorsRequestFitsItsOwnBoundaryOnly(t *testing.T) {
	boundaries, requests := peopleRun(t)
	for name, request := range requests {
		judged := func(own ...v1alpha1.CredentialsBoundary) (credentials.Reason, string) {
			for i := range own {
				own[i].Spec.Namespaces = []string{request.Namespace}
			}
			w := teamWorld(&request, own...)
			w.Policies[awsBoundary] = credentials.PolicyInAWS{Document: kept(t, w.Protected), Exists: true}
			return verdictOf(w)
		}
		if reason, says := judged(); reason != credentials.ReasonNoBoundary {
			t.Errorf("%s without a boundary is %s: %s", name, reason, says)
		}
		for of, boundary := range boundaries {
			want := credentials.ReasonBeyondCeiling
			if of == name {
				want = credentials.ReasonAccepted
			}
			if reason, says := judged(boundary); reason != want {
				t.Errorf("%s under the boundary of %s is %s, want %s: %s", name, of, reason, want, says)
			}
		}
	}
}

// kept is the bootstrap's policy for what is protected.
func kept(t *testing.T, what credentials.Protected) string {
	t.Helper()
	return must.Get(credentials.Minter{
		Partition: "aws", Account: account, Infrastructure: "prod-x7k2p", Paths: []string{"/tabard/"},
		Boundaries: what.Policies, Buckets: what.Buckets, Providers: what.Providers, Roles: what.Roles,
	}.BoundaryPolicy())(t)
}
