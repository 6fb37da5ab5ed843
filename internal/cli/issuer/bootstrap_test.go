package issuer

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// keySet is an API server's answer with one EC key.
const keySet = `{"keys":[{"use":"sig","kty":"EC","kid":"yo5sQbJQdp1kVBNm8DC8kOQwZGfWqYYHmAEw0YxpoRk","crv":"P-256","alg":"ES256",` +
	`"x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}`

// still is a world that no step changes.
type still struct {
	stored  *v1alpha1.OIDCIssuer
	nobody  bool
	answer  error
	waits   int
	changes []core.Step
	roles   int
	// providers are what the accounts know.
	providers []core.ProviderState
	// remembered and released are what the object in the cluster was told.
	remembered []v1alpha1.ProviderStatus
	released   bool
	// place is what the cluster answers, healthy if nil.
	place *Place
	// token is the issuer that a token of the API server names, and rivals the other OIDCIssuers.
	token  string
	rivals []v1alpha1.OIDCIssuer
}

func (s *still) Place(context.Context, string) (Place, error) {
	if s.place == nil {
		return Place{Issuer: wanted().Spec.URL, Namespace: true}, nil
	}
	return *s.place, nil
}

func (s *still) Stored(context.Context, string) (*v1alpha1.OIDCIssuer, error) { return s.stored, nil }

func (s *still) Observe(_ context.Context, issuer *v1alpha1.OIDCIssuer) (core.World, error) {
	world := core.World{
		Issuer: issuer, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Caller:  core.Caller{AccountID: "123456789012", ARN: "arn:aws:iam::123456789012:user/alice"},
		Cluster: core.Cluster{APIServers: []core.APIServer{{Address: "10.0.0.1:6443", JWKS: []byte(keySet)}}},
	}
	world.Providers, world.Rivals = s.providers, s.rivals
	world.Cluster.APIServers[0].Token.Issuer = s.token
	if s.nobody {
		world.Caller = core.Caller{Fault: &fault.Fault{Class: fault.Unauthenticated, Service: "STS", Operation: "GetCallerIdentity", Code: "ExpiredToken"}}
	}
	return world, nil
}

func (s *still) Perform(_ context.Context, step core.Step) error {
	s.changes = append(s.changes, step)
	return s.answer
}

func (s *still) Remember(_ context.Context, _ string, providers []v1alpha1.ProviderStatus) error {
	s.remembered = providers
	return nil
}

func (s *still) Release(context.Context, string) error { s.released = true; return nil }

func (s *still) EnsureRole(context.Context, Role) (string, error) { s.roles++; return "", nil }

func (s *still) TellOperator(context.Context, string, string) (string, error) { return "", nil }

func (s *still) Wait(context.Context, time.Duration) error { s.waits++; return nil }

func wanted() *v1alpha1.OIDCIssuer {
	return &v1alpha1.OIDCIssuer{
		ObjectMeta: metav1.ObjectMeta{Name: "main"},
		Spec: v1alpha1.OIDCIssuerSpec{
			URL:         "https://issuer.example.com",
			Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: "main-oidc", Region: "us-west-2", Create: true}},
			Providers:   []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com"}}},
		},
	}
}

func TestBootstrapStopsWhereAPersonMustAct(t *testing.T) {
	denied := fault.Fault{Class: fault.Denied, Service: "S3", Operation: "CreateBucket", Code: "AccessDenied"}
	other := wanted()
	other.Spec.URL = "https://other.example.com"
	cases := map[string]struct {
		world   *still
		says    string
		changes int
		waits   int
	}{
		"somebody whom AWS does not know is told to sign in": {
			world: &still{nobody: true}, says: "aws sts get-caller-identity"},
		"an issuer whose URL differs from the stored one is refused": {
			world: &still{stored: other}, says: "cannot change"},
		"a step that is denied ends it, with the right that is missing": {
			world: &still{answer: denied}, says: "s3:CreateBucket", changes: 1},
		"a step that is throttled is tried again, for so long": {
			world: &still{answer: fault.Fault{Class: fault.Throttled, Service: "S3", Operation: "CreateBucket"}},
			says:  "after 30 passes", changes: maxPasses, waits: 2 * maxPasses},
		"an error that is no fault of AWS ends it": {
			world: &still{answer: errors.New("no route to host")}, says: "no route to host", changes: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &Bootstrap{World: tc.world, Operator: core.Subject{Namespace: "ns", ServiceAccount: "sa", Audience: "aud"}, Out: io.Discard}
			err := b.Run(t.Context(), wanted())
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, expected one with %q", err, tc.says)
			}
			if len(tc.world.changes) != tc.changes || tc.world.waits != tc.waits || tc.world.roles != 0 {
				t.Errorf("%d changes, %d waits, %d roles; expected %d, %d and none", len(tc.world.changes), tc.world.waits, tc.world.roles, tc.changes, tc.waits)
			}
		})
	}
}

// dying is an OIDCIssuer that is being deleted, with documents in its bucket.
func dying() *v1alpha1.OIDCIssuer {
	out := wanted()
	out.DeletionTimestamp, out.Finalizers = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{core.Finalizer}
	out.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	out.Status.Publication.Bucket = out.Spec.Publication.S3.Bucket
	return out
}

func TestBootstrapCarriesADeletionOn(t *testing.T) {
	arn := core.ProviderARN("aws", "123456789012", wanted().Spec.URL)
	ours := core.ProviderState{AccountID: "123456789012", ARN: arn, Exists: true, Owner: wanted().Spec.URL}
	same := func(_, file *v1alpha1.OIDCIssuer) { file.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete }
	cases := map[string]struct {
		change   func(stored, file *v1alpha1.OIDCIssuer)
		provider core.ProviderState
		says     string
		released bool
		changes  int
	}{
		"to its end": {same, ours, "", true, maxPasses},
		"not where the file retains": {
			func(_, _ *v1alpha1.OIDCIssuer) {}, ours, "write the same into the file", false, 0},
		"not where somebody else gives the name up": {
			func(stored, file *v1alpha1.OIDCIssuer) {
				same(stored, file)
				stored.Spec.Publication.S3.ReleaseName = true
			}, ours, "releaseName true, and the file says Delete and false", false, 0},
		"up to a role that trusts the issuer": {same,
			core.ProviderState{AccountID: "123456789012", ARN: arn, Exists: true, TrustedBy: []string{"app"}}, "app; change or delete them", false, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			world := &still{stored: dying(), providers: []core.ProviderState{tc.provider}}
			var out strings.Builder
			file := wanted()
			tc.change(world.stored, file)
			err := (&Bootstrap{World: world, Out: &out}).Run(t.Context(), file)
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("error %v, expected %q", err, tc.says)
			}
			if world.released != tc.released || world.roles != 0 {
				t.Errorf("released %t, %d roles made, expected %t and none", world.released, world.roles, tc.released)
			}
			if tc.released != strings.Contains(out.String(), "is gone") {
				t.Errorf("it said\n%s", &out)
			}
			if len(world.changes) > tc.changes || tc.changes > 0 && len(world.changes) == 0 {
				t.Errorf("changes are %v", world.changes)
			}
		})
	}
}

func TestBootstrapTellsTheObjectOfItsProviders(t *testing.T) {
	stored := wanted()
	known := core.ProviderState{
		Want: &stored.Spec.Providers[0], AccountID: "123456789012", ARN: core.ProviderARN("aws", "123456789012", stored.Spec.URL),
		Exists: true, Owner: stored.Spec.URL, Audiences: stored.Spec.Providers[0].Audiences,
	}
	for name, object := range map[string]*v1alpha1.OIDCIssuer{"where there is one": stored, "where there is none": nil} {
		t.Run(name, func(t *testing.T) {
			world := &still{stored: object, answer: errors.New("stop here"), providers: []core.ProviderState{known}}
			var out strings.Builder
			if err := (&Bootstrap{World: world, Out: &out}).Run(t.Context(), wanted()); err == nil {
				t.Fatal("expected it to stop")
			}
			if told := len(world.remembered) > 0; told != (object != nil) {
				t.Errorf("the object was told of %v", world.remembered)
			}
			if !strings.Contains(out.String(), "warning: the name of bucket main-oidc holds neither") {
				t.Errorf("it said\n%s", &out)
			}
		})
	}
}

// TestBootstrapKeepsRevokedKeysOut runs with files that know less than the cluster.
func TestBootstrapKeepsRevokedKeysOut(t *testing.T) {
	const id = "yo5sQbJQdp1kVBNm8DC8kOQwZGfWqYYHmAEw0YxpoRk"
	tests := map[string]struct{ file, cluster []v1alpha1.RevokedKey }{
		"the file does not know of the key":  {nil, []v1alpha1.RevokedKey{{KeyID: id, Force: true}}},
		"the file does not know of force":    {[]v1alpha1.RevokedKey{{KeyID: id}}, []v1alpha1.RevokedKey{{KeyID: id, Force: true}}},
		"the cluster does not know of force": {[]v1alpha1.RevokedKey{{KeyID: id, Force: true}}, []v1alpha1.RevokedKey{{KeyID: id}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stored, file := wanted(), wanted()
			stored.Spec.Keys.Revoked, file.Spec.Keys.Revoked = test.cluster, test.file
			world := &still{stored: stored}
			_ = (&Bootstrap{World: world, Out: io.Discard}).Run(t.Context(), file)
			writes := 0
			for _, step := range world.changes {
				put, is := step.(core.PutDocument)
				if is && strings.HasSuffix(put.Key, core.KeysPath) {
					writes++
				}
				if is && strings.Contains(put.Body, id) {
					t.Fatalf("%s was written with the revoked key", put.Key)
				}
			}
			if writes == 0 {
				t.Error("no keys were written: the test shows nothing")
			}
		})
	}
}
