package awslocal

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/authority"
	"github.com/tabard-dev/tabard/awslocal/internal/clock"
	"github.com/tabard-dev/tabard/awslocal/internal/consistency"
	"github.com/tabard-dev/tabard/awslocal/internal/ec2"
	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/fault"
	"github.com/tabard-dev/tabard/awslocal/internal/gateway"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/journal"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/podidentity"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/awslocal/internal/s3"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
)

const (
	// DefaultAccount is the account that exists where Options names none.
	DefaultAccount = "123456789012"
	// DefaultRegion is the region of calls that name none.
	DefaultRegion = "us-east-1"
)

// Options says what kind of AWS it is. The zero value is useful.
type Options struct {
	// Accounts are the IDs of the accounts, 12 digits each; default one,
	// DefaultAccount. Each has an IAM user "administrator" and nothing else.
	Accounts []string
	// Region is that of calls that name none; default DefaultRegion. Its
	// partition is that of all accounts: a region in China makes ARNs begin with
	// arn:aws-cn, and keys work in China only.
	Region string
	// Now is the clock; default time.Now. Admin can shift it.
	Now func() time.Time
	// Random is where identifiers, secrets and session tokens come from;
	// default crypto/rand. A fixed source makes them repeatable, and guessable.
	Random io.Reader
	// TrustedCAs are trusted when token issuers' documents are fetched, besides
	// the system's roots and the server's own authority.
	TrustedCAs *x509.CertPool
	// AllowPlainHTTPIssuers takes token issuers whose URL starts with http://,
	// which AWS never does.
	AllowPlainHTTPIssuers bool
	// FetchThumbprints makes IAM connect to an issuer that is registered without
	// a thumbprint, and pin its certificate authority, as AWS does; an issuer
	// that does not answer is refused then. By default it does neither: issuers
	// in tests are often not there yet.
	FetchThumbprints bool
	// RolesPerAccount is the quota of roles in each account, which AWS raises on
	// request; default 1,000, as in a new account of AWS.
	RolesPerAccount int
	// Dir is a folder in which the certificate authority and the
	// administrators' keys are kept; it is made where it does not exist. Empty:
	// new ones at each New.
	Dir string
	// AdminToken is the secret that the admin API wants over HTTP, as a bearer's in
	// the header Authorization. Empty: it asks for none, for tests whose server is
	// theirs alone; any program on the machine may use it then. Admin wants none.
	AdminToken string
	// Hosts are further names and addresses for the server's certificate.
	Hosts []string
	// Logger takes what callers are not told, such as why a token was refused;
	// default none. It never gets a token or a key.
	Logger *slog.Logger
}

// Credentials is a long-lived access key.
type Credentials struct {
	AccessKeyID     string
	SecretAccessKey string
}

// Server is one local AWS. It is safe for concurrent use.
type Server struct {
	options   Options
	clock     *clock.Clock
	journal   *journal.Journal
	authority *authority.Authority

	iam     *iam.Service
	sts     *sts.Service
	s3      *s3.Service
	eks     *eks.Service
	agent   *podidentity.Agent
	issuers *oidc.Providers
	// door is the services' handler, handler has the admin API before it.
	door     http.Handler
	handler  http.Handler
	listener listeners
	faults   fault.Book
	// regions are those that the accounts have disabled.
	regions *region.Book
	// dial and shortPages are modes that Admin sets.
	dial       consistency.Dial
	shortPages query.ShortPages
	// replacing is held by who replaces all state, so that services and files go
	// together.
	replacing sync.Mutex
	// changes counts what may have changed the state.
	changes atomic.Uint64
}

var accountPattern = pattern.New(`^\d{12}$`)

// New makes a server that answers through Handler, and listens after Start.
func New(options Options) (*Server, error) {
	options = options.withDefaults()
	if options.RolesPerAccount < 0 {
		return nil, fmt.Errorf("awslocal: %d roles per account are fewer than none", options.RolesPerAccount)
	}
	for _, account := range options.Accounts {
		if !accountPattern.MatchString(account) {
			return nil, fmt.Errorf("awslocal: account ID %q has not 12 digits", account)
		}
	}
	s := &Server{options: options, clock: clock.New(options.Now)}
	s.journal = journal.New(s.noteCall)
	identifiers := identifier.New(options.Random)
	administrators, err := s.load(identifiers)
	if err != nil {
		return nil, err
	}
	s.build(identifiers, administrators)
	return s, nil
}

func (o Options) withDefaults() Options {
	if len(o.Accounts) == 0 {
		o.Accounts = []string{DefaultAccount}
	}
	o.Accounts = slices.Compact(slices.Sorted(slices.Values(o.Accounts)))
	if o.Region == "" {
		o.Region = DefaultRegion
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// build puts the services together.
func (s *Server) build(identifiers *identifier.Source, administrators map[string]iam.Key) {
	of := partition.Of(s.options.Region)
	s.regions = region.NewBook(of)
	s.issuers = oidc.New(oidc.Options{
		Roots: s.roots(), AllowPlainHTTP: s.options.AllowPlainHTTPIssuers, Now: s.clock.Now,
		// Both are made below.
		Own: oidc.Own{
			Serves:    func(r *http.Request) bool { return s.s3.Has(r) },
			Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.door.ServeHTTP(w, r) }),
			Authority: s.authority.Certificate(),
		},
	})
	var thumbprint func(context.Context, string) (string, error)
	if s.options.FetchThumbprints {
		thumbprint = s.issuers.Thumbprint
	}
	s.iam = iam.New(iam.Options{
		Administrators: administrators, Identifiers: identifiers, Now: s.clock.Now, Partition: of,
		AllowPlainHTTP: s.options.AllowPlainHTTPIssuers, Dial: &s.dial, ShortPages: &s.shortPages,
		Thumbprint: thumbprint, MaxRoles: s.options.RolesPerAccount,
	})
	s.sts = sts.New(sts.Options{
		Directory: s.iam, Verifier: s.issuers, Identifiers: identifiers, Partition: of, Regions: s.regions,
		Now: s.clock.Now, TokenNow: s.clock.Tokens, Log: s.options.Logger,
	})
	s.s3 = s3.New(s3.Options{
		DefaultRegion: s.options.Region, Partition: of, PrincipalExists: s.iam.PrincipalExists,
	})
	s.eks = eks.New(eks.Options{
		Directory: s.iam, Sessions: s.sts, Verifier: s.issuers, Identifiers: identifiers, Partition: of,
		Now: s.clock.Now, TokenNow: s.clock.Tokens, Log: s.options.Logger,
	})
	s.agent = podidentity.New(podidentity.Options{Clusters: s.eks, Hosts: s.options.Hosts, TokenNow: s.clock.Tokens})
	s.door = gateway.New(gateway.Options{
		Services:     s.services(),
		Keyrings:     []gateway.Keyring{s.iam, s.sts},
		Region:       s.options.Region,
		Now:          s.clock.Now,
		Credentials:  s.clock.Credentials,
		Signatures:   s.clock.Signatures,
		Identifiers:  identifiers,
		Journal:      s.journal,
		Faults:       &s.faults,
		Regions:      s.regions,
		BucketRegion: s.s3.BucketRegion,
	})
	s.handler = s.route(s.door)
}

// services are all that the server plays, by their names in signature scopes.
// The agent has none: it is asked without signatures.
func (s *Server) services() map[string]gateway.Service {
	return map[string]gateway.Service{
		"ec2": ec2.New(s.regions), "eks": s.eks, "eks-auth": s.eks.Auth(), "iam": s.iam, "s3": s.s3, "sts": s.sts, podidentity.Name: s.agent,
	}
}

// roots are the pools of which one is enough to trust an issuer's server. The
// system's may be missing in a bare container, which is no reason to fail.
func (s *Server) roots() []*x509.CertPool {
	own := x509.NewCertPool()
	own.AppendCertsFromPEM(s.authority.PEM())
	pools := []*x509.CertPool{own}
	if system, err := x509.SystemCertPool(); err == nil {
		pools = append(pools, system)
	}
	if s.options.TrustedCAs != nil {
		pools = append(pools, s.options.TrustedCAs)
	}
	return pools
}

// Handler answers AWS's services, and the admin API below /_awslocal/ for
// clients on this machine that have Options.AdminToken.
func (s *Server) Handler() http.Handler { return s.handler }

// CACertificate is the certificate, in PEM, that clients of Start must trust.
func (s *Server) CACertificate() []byte { return s.authority.PEM() }

// Administrator is the access key of an account's administrator; empty for an
// account that Options did not name.
func (s *Server) Administrator(account string) Credentials {
	key := s.iam.Administrator(account)
	return Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret}
}

// Admin is the way to look into the server and to move its clock.
func (s *Server) Admin() *Admin { return &Admin{server: s} }
