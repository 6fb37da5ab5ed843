// Package podidentity is the EKS Pod Identity agent, which runs on each node of
// a cluster and gives pods their credentials: the SDKs ask it with the pod's
// token, and it asks EKS Auth.
//
// This one is built into the local AWS. It serves every cluster that is
// registered and finds the pod's by the token's issuer. It is no client with
// keys of a node, so the node's right to eks-auth:AssumeRoleForPodIdentity is not
// asked here; it is where EKS Auth is called itself.
package podidentity

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
)

const (
	// Name is what the journal and faults call the agent.
	Name = "pod-identity-agent"
	// Operation is its only one.
	Operation = "GetCredentials"

	path = "/v1/credentials"
)

// Wants says whether a request is for the agent. To Amazon S3 its path is an
// object of a bucket "v1"; so the header decides: what carries an Authorization
// that is none of AWS's ways to sign is no request that S3 could answer. Signed
// requests, and those that carry nothing, are S3's.
func Wants(r *http.Request) bool {
	values, given := r.Header["Authorization"]
	if r.Method != http.MethodGet || r.URL.EscapedPath() != path || !given || r.URL.Query().Has("X-Amz-Algorithm") {
		return false
	}
	return !strings.HasPrefix(values[0], sigv4.Algorithm) && !strings.HasPrefix(values[0], "AWS ")
}

// Clusters is what the agent asks EKS.
type Clusters interface {
	Own(issuer string) (eks.Place, *call.Fault)
	GrantPod(*call.Call, eks.Place, string) (eks.PodCredentials, *call.Fault)
}

// Options is what the agent needs.
type Options struct {
	Clusters Clusters
	// Hosts are names by which it may be called, besides addresses.
	Hosts []string
	// TokenNow judges tokens.
	TokenNow func() time.Time
}

// Agent is safe for concurrent use.
type Agent struct {
	options Options
	cache   cache
}

// New returns an agent that knows no credentials yet.
func New(options Options) *Agent { return &Agent{options: options} }

// Reset forgets all credentials.
func (a *Agent) Reset() { a.cache.clear() }

// answer is what SDKs read (SDKs and Tools: "Container credential provider").
type answer struct {
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string `json:"SecretAccessKey"`
	Token           string `json:"Token"`
	AccountID       string `json:"AccountId"`
	Expiration      string `json:"Expiration"`
}

// Serve answers one call.
func (a *Agent) Serve(w http.ResponseWriter, c *call.Call) {
	c.Entry.Operation = Operation
	if fault := c.Interrupted(Operation); fault != nil {
		refuse(w, c, fault, passedOn(c, fault))
		return
	}
	if !a.isOwn(c.HTTP.Host) {
		refuse(w, c, wrongHost(c.HTTP.Host), "")
		return
	}
	raw := c.HTTP.Header.Get("Authorization")
	token, fault := a.readToken(raw)
	if fault != nil {
		refuse(w, c, fault, "")
		return
	}
	found, fault := a.credentials(c, raw, token.Issuer)
	if fault != nil {
		refuse(w, c, fault, passedOn(c, fault))
		return
	}
	c.Entry.Resource = found.AssociationARN
	w.Header().Set("Content-Type", "application/json")
	// A client that has gone is nothing to report.
	_ = json.NewEncoder(w).Encode(answer{found.KeyID, found.Secret, found.Token, found.AccountID, found.Expires.UTC().Format(time.RFC3339)})
}

// isOwn keeps out web pages whose name was made to point here: an address cannot
// be made so. The real agent has two addresses, this one has the server's.
func (a *Agent) isOwn(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil || slices.Contains(a.options.Hosts, host)
}

// readToken makes the agent's own checks, which prove nothing: EKS Auth verifies.
func (a *Agent) readToken(raw string) (*oidc.Token, *call.Fault) {
	if raw == "" {
		return nil, badToken(textEmpty)
	}
	token, err := oidc.ReadToken(raw)
	var problem *oidc.Error
	if errors.As(err, &problem) {
		return nil, badToken(fmt.Sprintf(textNoToken, problem.Detail))
	}
	var claims struct {
		NotBefore *float64 `json:"nbf"`
	}
	now := a.options.TokenNow()
	switch {
	case token.Decode(&claims) != nil:
		return nil, badToken(fmt.Sprintf(textNoToken, "nbf is no number"))
	case !now.Before(time.Unix(token.Expires, 0)):
		return nil, badToken(textExpired)
	case claims.NotBefore != nil && float64(now.Unix()) < *claims.NotBefore:
		return nil, badToken(textEarly)
	}
	return token, nil
}

// credentials are those that the token got before, until it is time to renew
// them. When that fails the old ones do for as long as they last: whether they
// still open anything is not the agent's business.
func (a *Agent) credentials(c *call.Call, raw, issuer string) (eks.PodCredentials, *call.Fault) {
	key := keyOf(raw)
	old, state := a.cache.get(key, c.Now)
	if state == fresh {
		return old, nil
	}
	place, fault := a.options.Clusters.Own(issuer)
	if fault == nil {
		there := *c
		there.Region = place.Region
		c.Entry.Region = place.Region
		var granted eks.PodCredentials
		if granted, fault = a.options.Clusters.GrantPod(&there, place, raw); fault == nil {
			return a.cache.put(key, granted, c.Now), nil
		}
	}
	if state == usable {
		return old, nil
	}
	return eks.PodCredentials{}, fault
}

// refuse answers in plain text, as the agent does.
func refuse(w http.ResponseWriter, c *call.Call, fault *call.Fault, text string) {
	c.Entry.Error = fault.Code
	if text == "" {
		text = fault.Message
	}
	http.Error(w, text, fault.Status)
}
