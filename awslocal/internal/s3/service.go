// Package s3 plays Amazon S3: buckets, their policies, tags and public access
// blocks, those of whole accounts, and objects with tags, copies, conditional
// writes and checksums. Every call is
// judged by the caller's policies and the bucket's. Whatever it does not play
// is refused by name.
//
// State is in memory. A write is visible to every read that begins after the
// write was answered, as in S3 since 2020.
package s3

import (
	"net/http"
	"net/url"
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// Options are what a Service needs to know of the world around it.
type Options struct {
	// DefaultRegion is the region of calls that name none; us-east-1 if empty.
	DefaultRegion string
	// Partition is that of all ARNs; default Commercial.
	Partition partition.Partition
	// PrincipalExists says whether a bucket policy may name a principal. The
	// kind is "AWS" or "Federated", the ARN that of a user, a role, a session
	// of a role, an account's root (a bare account ID arrives as its root's
	// ARN) or an OIDC provider. Nil: all exist. It is called while the store is
	// locked and must not call the Service.
	PrincipalExists func(kind, arn string) bool
}

// PublicAccessBlock are the four switches of S3 Block Public Access.
type PublicAccessBlock struct {
	BlockPublicACLs       bool `json:"blockPublicAcls"`
	IgnorePublicACLs      bool `json:"ignorePublicAcls"`
	BlockPublicPolicy     bool `json:"blockPublicPolicy"`
	RestrictPublicBuckets bool `json:"restrictPublicBuckets"`
}

// Service is the S3 of all accounts and regions: bucket names are global. It is
// safe for concurrent use.
type Service struct {
	options Options
	// mu covers buckets and all below them, and accounts. It is held from the look-up of the
	// bucket to the last change, so that a condition of a write and the write
	// are one step.
	mu      sync.RWMutex
	buckets map[string]*bucket
	// accounts are the public access blocks of whole accounts; none is set at
	// first.
	accounts map[string]*PublicAccessBlock
}

// New makes a Service without buckets.
func New(options Options) *Service {
	if options.DefaultRegion == "" {
		options.DefaultRegion = globalRegion
	}
	if options.Partition == "" {
		options.Partition = partition.Commercial
	}
	if options.PrincipalExists == nil {
		options.PrincipalExists = func(string, string) bool { return true }
	}
	s := &Service{options: options}
	s.Reset()
	return s
}

// Reset forgets all buckets, and the accounts' public access blocks.
func (s *Service) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets, s.accounts = map[string]*bucket{}, map[string]*PublicAccessBlock{}
}

// BlockAccount sets the public access block of a whole account, nil for none. It
// is added to each bucket's.
func (s *Service) BlockAccount(accountID string, block *PublicAccessBlock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if block == nil {
		delete(s.accounts, accountID)
		return
	}
	s.accounts[accountID] = block
}

// Serve answers one call and notes its operation, resource, status and error
// code in the call's entry.
func (s *Service) Serve(w http.ResponseWriter, c *call.Call) {
	if c.Entry == nil {
		c.Entry = &call.Entry{}
	}
	r, f := s.read(c)
	var a *answer
	if f == nil {
		a, f = s.perform(r)
	}
	if f == nil {
		f = a.encode()
	}
	if f != nil {
		a = faultAnswer(c, r, f)
		if a.status != http.StatusNotModified {
			c.Entry.Error = f.Code
		}
	}
	c.Entry.Status = a.status
	write(w, c, a)
}

// request is a call whose target and operation are known.
type request struct {
	*call.Call
	target    target
	query     url.Values
	operation operation
	// digest are the sums of the payload; digestFault says that they are not
	// those that the client promised.
	digest      digest
	digestFault *fault
	// bucket is the target's bucket, set by admit; nil for operations on the
	// account.
	bucket *bucket
}

// read finds out what a call is about. When it returns a fault, the request
// holds no more than the target.
func (s *Service) read(c *call.Call) (*request, *fault) {
	if c.Region == "" {
		c.Region = s.options.DefaultRegion
	}
	t, f := locate(c.HTTP, s.hasBucket)
	t.partition = s.options.Partition
	r := &request{Call: c, target: t, query: c.HTTP.URL.Query()}
	if f != nil {
		return r, f
	}
	op, f := route(t, r.query, c.HTTP)
	c.Entry.Operation, c.Entry.Resource = op.name, t.arn()
	if f != nil {
		return r, f
	}
	if trouble := c.Interrupted(op.name); trouble != nil {
		return r, &fault{Fault: *trouble}
	}
	r.operation = op
	// Summing a large payload takes long, so it is done before the lock.
	r.digest, r.digestFault = sum(c)
	return r, nil
}

// perform takes the lock that the operation needs, and runs it. A wrong sum is
// told only to callers who may do what they ask for.
func (s *Service) perform(r *request) (*answer, *fault) {
	if r.operation.writes {
		s.mu.Lock()
		defer s.mu.Unlock()
	} else {
		s.mu.RLock()
		defer s.mu.RUnlock()
	}
	if f := s.admit(r); f != nil {
		return nil, f
	}
	if r.digestFault != nil && !r.operation.judges {
		return nil, r.digestFault
	}
	return r.operation.serve(s, r)
}

// hasBucket says whether anybody has a bucket of that name.
func (s *Service) hasBucket(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.buckets[name] != nil
}
