// Package iam is the local AWS's Identity and Access Management: roles, users
// with their access keys, inline and managed policies, permissions boundaries
// and OpenID Connect providers. It keeps the state that authorisation reads.
package iam

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/consistency"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	namespace = "https://iam.amazonaws.com/doc/2010-05-08/"
	version   = "2010-05-08"
)

// AWS's quotas on what an account has (IAM: "IAM and AWS STS quotas"). The first is
// raised on request.
const (
	DefaultRoles = 1000
	maxUsers     = 5000
	maxPolicies  = 1500
)

// Key is an access key of an account's administrator.
type Key struct {
	ID     string `json:"accessKeyID"`
	Secret string `json:"secretAccessKey"`
}

// Options is what the service needs.
type Options struct {
	// Administrators has one key for each account; no other account exists.
	Administrators map[string]Key
	Identifiers    *identifier.Source
	Now            func() time.Time
	// Partition is that of all accounts; default Commercial.
	Partition partition.Partition
	// AllowPlainHTTP takes provider URLs that start with http://.
	AllowPlainHTTP bool
	// Thumbprint connects to a provider that is registered without one, and
	// returns that of its certificate authority; nil: none is asked for.
	Thumbprint func(ctx context.Context, url string) (string, error)
	// Dial delays what authorisation sees of changes; nil: it sees all at once.
	Dial *consistency.Dial
	// MaxRoles is the quota of roles in an account; default DefaultRoles.
	MaxRoles int
	// ShortPages makes lists end their pages early; nil: never.
	ShortPages *query.ShortPages
}

// Service is safe for concurrent use: one lock guards all accounts.
type Service struct {
	options Options

	mu       sync.Mutex
	accounts map[string]*account
	// keys has the IDs of all long-lived access keys.
	keys map[string]keyOwner
	past past
	// catalog has AWS's own policies by their folded names.
	catalog map[string]*managed
}

// New returns a service whose accounts hold an administrator and nothing else.
func New(options Options) *Service {
	if options.Partition == "" {
		options.Partition = partition.Commercial
	}
	if options.MaxRoles == 0 {
		options.MaxRoles = DefaultRoles
	}
	s := &Service{options: options}
	s.catalog = s.newCatalog()
	s.Reset()
	return s
}

// Reset forgets everything but the accounts and their administrators.
func (s *Service) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts, s.keys, s.past = map[string]*account{}, map[string]keyOwner{}, past{}
	for id, key := range s.options.Administrators {
		s.accounts[id] = s.newAccount(id, key)
	}
}

// request is one call on its way through an operation. The lock is held.
type request struct {
	*Service
	call      *call.Call
	form      query.Form
	operation string
	account   *account
	// delayed says that what the call changes is seen later; changes are those.
	delayed bool
	changes []change
}

// operation answers a call with a result, nil for none, or refuses it.
type operation func(*request) any

// Serve answers one call.
func (s *Service) Serve(w http.ResponseWriter, c *call.Call) {
	query.Serve(w, c, namespace, func(name string, form query.Form) (any, *call.Fault) {
		run, known := operations[name]
		if !known {
			return nil, query.UnknownOperation(name, version)
		}
		return s.run(c, form, name, run)
	})
}

func (s *Service) run(c *call.Call, form query.Form, name string, run operation) (any, *call.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	account, known := s.accounts[c.Caller.Principal.AccountID]
	if !known {
		return nil, query.AccessDenied("The caller's account " + c.Caller.Principal.AccountID + " does not exist in this local AWS.")
	}
	r := &request{Service: s, call: c, form: form, operation: name, account: account}
	r.delayed = isChange(name) && s.options.Dial.On()
	return call.Answer(func() any {
		result := run(r)
		r.publish()
		return result
	})
}

// page sorts items by name, cuts them to the page that the call asks for, and
// writes those as an answer does.
func page[T, E any](r *request, items []T, name func(T) string, element func(T) E) (list[E], query.PageEnd) {
	shown, end := query.Cut(call.Must(query.ReadPage(r.form, r.options.ShortPages)), items, name)
	elements := make([]E, 0, len(shown))
	for _, item := range shown {
		elements = append(elements, element(item))
	}
	return listOf(elements), end
}

// itself is the name, or the element, of what is its own.
func itself[T any](item T) T { return item }

// text reads a required parameter that has a length and a pattern, which may be
// nil.
func (r *request) text(parameter string, minimum, maximum int, pattern *pattern.Pattern) string {
	var v query.Validation
	text := v.Text(r.form, parameter, minimum, maximum, pattern)
	call.Check(v.Fault())
	return text
}

// authorize refuses the caller unless the policies allow this operation on the
// resource. It comes before any look at what exists.
func (r *request) authorize(resource string, context iampolicy.Context) {
	r.authorizeAction(r.operation, resource, context)
}

func (r *request) authorizeAction(operation, resource string, context iampolicy.Context) {
	r.call.Entry.Resource = resource
	action := "iam:" + operation
	decision := r.call.Authorize(action, resource, call.Side{AccountID: r.account.home.account}, context)
	if !decision.Allowed() {
		call.Refuse(query.Denied(r.call.Caller.Principal.ARN, action, resource, decision))
	}
}

// authorizeWith is authorize for what has tags, with the condition keys that the
// request adds to theirs.
func (r *request) authorizeWith(resource string, own tags, context contextOf) {
	keys := own.context()
	if context != nil {
		keys = context(keys)
	}
	r.authorize(resource, keys)
}

// authorizeTagged authorises the making of what has tags from the start, which
// needs the right to tag it too.
func (r *request) authorizeTagged(arn string, given tags, tagOperation string, context iampolicy.Context) {
	context = withRequestTags(context, given)
	r.authorize(arn, context)
	if len(given) > 0 {
		r.authorizeAction(tagOperation, arn, context)
	}
}

// fold makes names compare without regard to case, as IAM's do.
func fold(name string) string { return strings.ToLower(name) }
