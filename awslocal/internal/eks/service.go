// Package eks is the local AWS's Amazon EKS as identity sees it: clusters, who
// may enter them, and which role the pods of a service account get. It plays EKS
// Auth too, which turns a pod's token into a session of that role. There are no
// control planes behind the clusters.
package eks

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/restjson"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	// clusterService and podService are the principals that a cluster's role and
	// the roles of its pods have to trust.
	clusterService = "eks.amazonaws.com"
	podService     = "pods.eks.amazonaws.com"
	// Audience is that of the tokens that EKS Auth takes.
	Audience = "pods.eks.amazonaws.com"
)

// Directory is what EKS asks IAM.
type Directory interface {
	UniqueID(arn string) string
}

// Sessions is what EKS asks STS.
type Sessions interface {
	GrantForService(*call.Call, sts.ServiceRequest) (sts.Granted, *call.Fault)
	TrustsService(*call.Call, sts.ServiceRequest) bool
}

// Verifier verifies a token's signature with its issuer's published keys.
type Verifier interface {
	Verify(ctx context.Context, token *oidc.Token, thumbprints []string) error
}

// Options is what the service needs.
type Options struct {
	Directory   Directory
	Sessions    Sessions
	Verifier    Verifier
	Identifiers *identifier.Source
	Partition   partition.Partition
	// Now judges credentials, TokenNow judges tokens.
	Now, TokenNow func() time.Time
	// Log takes the reasons that AWS does not tell its callers.
	Log *slog.Logger
}

// Service answers EKS's calls. It is safe for concurrent use: one lock guards
// all clusters.
type Service struct {
	options Options

	mu       sync.Mutex
	clusters map[home]map[string]*cluster
}

// New returns a service without clusters.
func New(options Options) *Service {
	return &Service{options: options, clusters: map[home]map[string]*cluster{}}
}

// Reset forgets all clusters.
func (s *Service) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clusters = map[home]map[string]*cluster{}
}

func (s *Service) home(account, region string) home {
	return home{s.options.Partition, account, region}
}

// request is one call on its way through an operation. The lock is held.
type request struct {
	*Service
	home
	call      *call.Call
	operation string
	// path has the variables of the path, query those after it.
	path  map[string]string
	query url.Values
}

// operation answers a call with what is to be written, or refuses it.
type operation func(*request) any

// Serve answers one call.
func (s *Service) Serve(w http.ResponseWriter, c *call.Call) {
	route, path, known := restjson.Match(routes, c.HTTP)
	if !known {
		restjson.Refuse(w, c, unknownOperation("eks", c.HTTP), nil)
		return
	}
	c.Entry.Operation = route.Operation
	fault := c.Interrupted(route.Operation)
	var answer any
	if fault == nil {
		answer, fault = s.run(c, route, path)
	}
	if fault != nil {
		refuse(w, c, fault, path["name"])
		return
	}
	restjson.Write(w, answer)
}

func (s *Service) run(c *call.Call, route restjson.Route[operation], path map[string]string) (any, *call.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return call.Answer(func() any {
		return route.Run(&request{
			Service: s, home: s.home(c.Caller.Principal.AccountID, c.Region), call: c,
			operation: route.Operation, path: path, query: c.HTTP.URL.Query(),
		})
	})
}

func refuse(w http.ResponseWriter, c *call.Call, fault *call.Fault, cluster string) {
	var members map[string]string
	if cluster != "" && namesCluster[fault.Code] {
		members = map[string]string{"clusterName": cluster}
	}
	restjson.Refuse(w, c, fault, members)
}

// authorize refuses the caller unless the policies allow this operation on the
// resource. It comes before any word on what exists.
func (r *request) authorize(resource string, context iampolicy.Context) {
	r.call.Entry.Resource = resource
	r.authorizeAction("eks:"+r.operation, resource, context)
}

func (r *request) authorizeAction(action, resource string, context iampolicy.Context) {
	r.authorizeIn(r.account, action, resource, context)
}

// authorizeIn is authorizeAction for a resource of another account.
func (r *request) authorizeIn(account, action, resource string, context iampolicy.Context) {
	decision := r.call.Authorize(action, resource, call.Side{AccountID: account}, context)
	if !decision.Allowed() {
		call.Refuse(restjson.Denied(r.call.Caller.Principal.ARN, action, resource, decision, http.StatusForbidden))
	}
}

// authorizeTags asks for the right to give a new resource the tags that it gets.
func (r *request) authorizeTags(resource string, given tags) {
	if len(given) > 0 {
		r.authorizeAction("eks:TagResource", resource, given.request())
	}
}

// authorizePass asks whether the caller may give a role to a service.
func (r *request) authorizePass(role, service string) {
	context := iampolicy.Context{}
	context.Set("iam:PassedToService", service)
	r.authorizeAction("iam:PassRole", role, context)
}

// input reads the call's body.
func input[T any](r *request) (in T) {
	call.Check(restjson.Read(r.operation, r.call.Payload, &in))
	return in
}
