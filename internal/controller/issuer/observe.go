package issuer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// publicTimeout bounds one anonymous fetch, as AWS bounds its own.
const publicTimeout = 5 * time.Second

// Fetcher sends a request as it is.
type Fetcher interface {
	Do(request *http.Request) (*http.Response, error)
}

// Observer reads the whole world of one issuer. It writes nothing.
type Observer struct {
	// Cluster is the served cluster.
	Cluster *Cluster
	// AWS is read through these.
	AWS AWS
	// Public fetches without credentials, trusting the roots that anybody trusts.
	Public Fetcher
	// Operator is who the operator is in AWS.
	Operator identity.Identity
	// OwnToken reads the token by which the operator becomes somebody in AWS; nil for
	// one who needs none, as a person with a session.
	OwnToken func() ([]byte, error)
	// Now is the clock, read once a pass.
	Now func() time.Time
}

// Observe reads what Decide needs, but for what ObserveTrust does. Faults of single reads
// are in the world, not returned: a decision is needed about them.
func (o *Observer) Observe(ctx context.Context, issuer *v1alpha1.OIDCIssuer, rivals []v1alpha1.OIDCIssuer) core.World {
	world := core.World{Issuer: issuer, Now: o.Now(), Rivals: rivals}
	dying := !issuer.DeletionTimestamp.IsZero()
	if dying && issuer.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete {
		return world
	}
	if !dying {
		o.ObserveTokens(ctx, &world)
	}
	s3 := issuer.Spec.Publication.S3
	world.Caller = o.AWS.Caller(ctx, o.Operator.In(s3.Region))
	world.Caller.TokenKeyID = o.ownKeyID()
	if world.Caller.Fault != nil {
		return world
	}
	ref := core.BucketRef{Name: s3.Bucket, Region: s3.Region, AccountID: world.Caller.AccountID}
	world.Bucket = o.AWS.Bucket(ctx, world.Caller.Identity, ref, s3.Prefix, dying)
	world.Providers = o.providers(ctx, world)
	return world
}

// ownKeyID is the ID of the key that signed the operator's own token for AWS; empty if
// there is none, or none that can be read.
func (o *Observer) ownKeyID() string {
	if o.OwnToken == nil {
		return ""
	}
	raw, err := o.OwnToken()
	if err != nil {
		return ""
	}
	header, err := core.TokenHeader(strings.TrimSpace(string(raw)))
	if err != nil {
		return ""
	}
	return header.KeyID
}

// ObserveTokens reads the keys of the cluster, the documents as anybody sees them at the issuer's
// URL, and whether a fresh token of each API server verifies against them. It needs no
// AWS session.
func (o *Observer) ObserveTokens(ctx context.Context, world *core.World) {
	spec := world.Issuer.Spec
	var tokens []string
	world.Cluster, tokens = o.Cluster.Observe(ctx, spec.Keys)
	world.Public = o.ObservePublic(ctx, spec.URL)
	if world.Public.Keys.Status != http.StatusOK || world.Public.Discovery.Status != http.StatusOK {
		return
	}
	for i := range world.Cluster.APIServers {
		seen := &world.Cluster.APIServers[i].Token
		if seen.Error != "" {
			continue
		}
		err := core.VerifyToken(tokens[i], world.Public.Keys.Body, world.Public.Discovery.Body, spec.URL, world.Now)
		if err != nil {
			seen.PublicError = err.Error()
		}
	}
}

// ObservePublic fetches the two documents of an issuer without credentials.
func (o *Observer) ObservePublic(ctx context.Context, url string) core.Public {
	return core.Public{Keys: o.Fetch(ctx, core.DocumentURL(url, core.KeysPath)), Discovery: o.Fetch(ctx, core.DocumentURL(url, core.DiscoveryPath))}
}

// ObserveForeign fetches the two documents of an issuer of others: the keys are where the discovery
// document says.
func (o *Observer) ObserveForeign(ctx context.Context, url string) (out core.Public) {
	out.Discovery = o.Fetch(ctx, core.DocumentURL(url, core.DiscoveryPath))
	out.KeysAt = core.KeysOf(url, out.Discovery)
	out.Keys = o.Fetch(ctx, out.KeysAt)
	return out
}

// providers observes the registrations that are to be looked at.
func (o *Observer) providers(ctx context.Context, world core.World) []core.ProviderState {
	var out []core.ProviderState
	for _, target := range core.ProviderTargets(world) {
		if target.Fault == nil {
			target = o.AWS.Provider(ctx, target)
		}
		out = append(out, target)
	}
	return out
}

// ObserveTrust reads which roles trust the issuer by the providers of a world, where that
// is to be known. It lists all roles of their accounts.
func (o *Observer) ObserveTrust(ctx context.Context, world core.World) {
	for i := range world.Providers {
		state := &world.Providers[i]
		if !state.NeedsTrust(world.Issuer) {
			continue
		}
		var err error
		if state.TrustedBy, err = o.AWS.Roles.TrustedBy(ctx, state.Identity, state.ARN); err != nil {
			state.Fault = controller.FaultOf(err)
		}
	}
}

// Fetch is one anonymous GET. A redirect is not followed: whoever verifies tokens
// may not follow either, least of all from https to http.
func (o *Observer) Fetch(ctx context.Context, url string) core.Fetch {
	ctx, cancel := context.WithTimeout(ctx, publicTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return core.Fetch{Error: fmt.Sprintf("not a URL: %v", err)}
	}
	response, err := o.Public.Do(request)
	if err != nil {
		return core.Fetch{Error: err.Error()}
	}
	defer response.Body.Close() //nolint:errcheck // read only
	if leads := redirect(response, url); leads != "" {
		return core.Fetch{Status: http.StatusTemporaryRedirect, Redirect: leads}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, core.MaxDocumentBytes))
	if err != nil {
		return core.Fetch{Error: err.Error()}
	}
	return core.Fetch{Status: response.StatusCode, Body: body}
}

// redirect is where an answer leads, also if the client has followed; empty for
// nowhere else.
func redirect(response *http.Response, asked string) string {
	if at := response.Request.URL.String(); at != asked {
		return at
	}
	if response.StatusCode < 300 || response.StatusCode > 399 {
		return ""
	}
	return response.Header.Get("Location")
}
