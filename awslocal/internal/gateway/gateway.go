// Package gateway is the door of the local AWS: it reads requests, finds out
// which service is meant, proves who signed, and hands over a call together with
// the means to authorise it. What was asked and answered goes into the journal.
package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/fault"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/journal"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Service answers the calls of one AWS service.
type Service interface {
	Serve(http.ResponseWriter, *call.Call)
}

// Keyring finds access keys.
type Keyring interface {
	Lookup(keyID string) (call.Credential, bool)
}

// Options is what the gateway needs.
type Options struct {
	// Services have their names in signature scopes as keys.
	Services map[string]Service
	Keyrings []Keyring
	// Region is that of unsigned calls whose host name says none.
	Region string
	Now    func() time.Time
	// Credentials is the clock by which sessions expire, Signatures the one by
	// which signatures age; default Now.
	Credentials, Signatures func() time.Time
	Identifiers             *identifier.Source
	Journal                 *journal.Journal
	// Faults are those that a test asked for; nil for none.
	Faults *fault.Book
	// BucketRegion is the region of the bucket that a request names, empty where
	// there is none; nil: there are no buckets.
	BucketRegion func(*http.Request) string
	// Regions knows what accounts have disabled; nil: nothing.
	Regions *region.Book
}

// Gateway is an http.Handler.
type Gateway struct {
	options Options
	bodies  budget
}

// New returns a gateway.
func New(options Options) *Gateway {
	if options.Faults == nil {
		options.Faults = &fault.Book{}
	}
	if options.BucketRegion == nil {
		options.BucketRegion = func(*http.Request) string { return "" }
	}
	if options.Credentials == nil {
		options.Credentials = options.Now
	}
	if options.Signatures == nil {
		options.Signatures = options.Now
	}
	return &Gateway{options: options}
}

// recorder keeps the status that was answered.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status and passes it on.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// ServeHTTP answers one request. The Date header is the clock that judges
// signatures, from which clients correct theirs.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := g.options.Now()
	c := &call.Call{HTTP: r, ID: g.options.Identifiers.Request(), Now: now, Region: g.options.Region}
	c.Entry = &call.Entry{Time: now, ID: c.ID, Caller: "anonymous"}
	w.Header().Set("Date", g.options.Signatures().UTC().Format(http.TimeFormat))
	w.Header().Set("Server", "awslocal")
	recorded := &recorder{ResponseWriter: w, status: http.StatusOK}
	g.serve(recorded, c)
	c.Entry.Status = recorded.status
	if c.Entry.Error == "" {
		c.Entry.Decision = nil // the call went on without the right
	}
	g.options.Journal.Add(*c.Entry)
}

func (g *Gateway) serve(w http.ResponseWriter, c *call.Call) {
	signature, err := sigv4.Read(c.HTTP)
	body := body{budget: &g.bodies}
	defer body.release()
	problem := body.read(c.HTTP, limitOf(c.HTTP, signature))
	action, version := actionOf(c.HTTP, body.bytes)
	name := serviceOf(c.HTTP, signature, action, version)
	c.Entry.Service = name
	setRequestID(w.Header(), name, c.ID)
	service, known := g.options.Services[name]
	if !known {
		g.refuseService(w, c, name)
		return
	}
	if problem == nil && ignoresSignatures(name, action) {
		signature, err = nil, nil
		g.placeByHost(c)
	} else if problem == nil && err == nil && signature == nil && name != "s3" {
		problem = &sigv4.Error{Kind: sigv4.Unsigned}
	}
	if problem == nil && err != nil && !errors.As(err, &problem) {
		problem = &sigv4.Error{Kind: sigv4.Broken, Detail: err.Error()}
	}
	credential := anonymous()
	if problem == nil {
		credential, problem = g.authenticate(c, name, signature, body.bytes)
	}
	if problem != nil {
		c.Entry.Operation = action
		refuse(w, c, name, problem)
		return
	}
	c.Context = requestContext(c)
	c.Trouble = g.trouble(w, c, name)
	service.Serve(w, c.As(credential))
}

// actionOf finds the Action and Version of a call in the query protocol.
func actionOf(r *http.Request, body []byte) (action, version string) {
	values := r.URL.Query()
	if r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return "", ""
		}
		values = form
	}
	if r.URL.Path != "/" && r.URL.Path != "" {
		return "", ""
	}
	return values.Get("Action"), values.Get("Version")
}

// setRequestID tells the caller the call's ID. Amazon S3 does that by itself, in
// other headers.
func setRequestID(header http.Header, service, id string) {
	if service != "s3" {
		header.Set("x-amzn-RequestId", id)
	}
}

func anonymous() call.Credential {
	context := iampolicy.Context{}
	context.Set("aws:PrincipalType", "Anonymous")
	return call.Credential{Caller: call.Caller{Principal: iampolicy.Principal{Kind: iampolicy.Anonymous}, UserID: "anonymous"}, Context: context}
}
