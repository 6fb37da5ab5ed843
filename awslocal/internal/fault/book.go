// Package fault holds the faults that a test or a demo asks for: which calls are
// to fail or to be slow, how, and how often.
package fault

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// Fault is one request for trouble.
type Fault struct {
	// Service, Operation and Region choose the calls; empty means all.
	Service, Operation, Region string
	// Code is the error to answer with; empty: only the latency.
	Code, Message string
	Status        int
	// RetryAfter is after how many seconds the client is told to try again; 0: it
	// is not told. Without Code there is no answer that could tell it.
	RetryAfter int
	// Count is how many calls are answered so; 0: until it is taken back.
	Count int
	// Every chooses every n-th of the calls that fit; 0 and 1 mean each.
	Every int
	// Latency passes before the call is answered.
	Latency time.Duration
}

// known are the usual errors of services in trouble: status and text (common
// errors of the services' API references). Where a service has its own, special
// counts.
var known = map[string]call.Fault{
	"Throttling":           {Status: http.StatusBadRequest, Message: "Rate exceeded"},
	"ThrottlingException":  {Status: http.StatusBadRequest, Message: "Rate exceeded"},
	"RequestLimitExceeded": {Status: http.StatusServiceUnavailable, Message: "Request limit exceeded."},
	"SlowDown":             {Status: http.StatusServiceUnavailable, Message: "Please reduce your request rate."},
	"InternalError":        {Status: http.StatusInternalServerError, Message: "We encountered an internal error. Please try again."},
	"InternalFailure":      {Status: http.StatusInternalServerError, Message: "The request processing has failed because of an unknown error, exception or failure."},
	"ServiceUnavailable":   {Status: http.StatusServiceUnavailable, Message: "The request has failed due to a temporary failure of the server."},
	"AccessDenied":         {Status: http.StatusForbidden, Message: "Access Denied"},
	"ExpiredToken":         {Status: http.StatusForbidden, Message: "The security token included in the request is expired"},
	"OptInRequired":        {Status: http.StatusForbidden, Message: "The AWS Access Key Id needs a subscription for the service"},
}

// special are the errors that a service answers in its own way, by service.
var special = map[string]map[string]call.Fault{
	"eks":      modelled,
	"eks-auth": modelled,
	// The agent passes EKS Auth's errors on.
	"pod-identity-agent": modelled,
	"ec2": {
		"AuthFailure":           {Status: http.StatusUnauthorized, Message: "AWS was not able to validate the provided access credentials"},
		"UnauthorizedOperation": {Status: http.StatusForbidden, Message: "You are not authorized to perform this operation."},
	},
	"sts": {
		"RegionDisabledException": {Status: http.StatusForbidden},
	},
	"s3": {
		"ExpiredToken": {Status: http.StatusBadRequest, Message: "The provided token has expired."},
	},
}

// modelled are the errors of Amazon EKS and EKS Auth whose status is not 400
// (API references: "Errors" of the operations).
var modelled = map[string]call.Fault{
	"InternalServerException":           {Status: http.StatusInternalServerError, Message: "These errors are usually caused by a server-side issue."},
	"NotFoundException":                 {Status: http.StatusNotFound},
	"ResourceInUseException":            {Status: http.StatusConflict},
	"ResourceNotFoundException":         {Status: http.StatusNotFound},
	"ResourcePropagationDelayException": {Status: http.StatusPreconditionRequired},
	"ServerException":                   {Status: http.StatusInternalServerError, Message: "These errors are usually caused by a server-side issue."},
	"ServiceUnavailableException":       {Status: http.StatusServiceUnavailable, Message: "The service is unavailable. Back off and retry the operation."},
	"ThrottlingException":               {Status: http.StatusTooManyRequests, Message: "Rate exceeded"},
}

// answer is the error that the fault asks for of a service.
func (f Fault) answer(service string) *call.Fault {
	out, own := special[service][f.Code]
	if !own {
		out = known[f.Code]
	}
	out.Code = f.Code
	if f.Message != "" {
		out.Message = f.Message
	}
	if f.Status != 0 {
		out.Status = f.Status
	}
	if out.Message == "" {
		out.Message = "This fault was asked for."
	}
	if out.Status == 0 {
		out.Status = http.StatusBadRequest
	}
	return &out
}

func (f Fault) fits(service, operation, region string) bool {
	return (f.Service == "" || f.Service == service) && (f.Operation == "" || f.Operation == operation) &&
		(f.Region == "" || f.Region == region)
}

// entry is a fault at work.
type entry struct {
	Fault
	// seen are the calls that fitted, hit those that were answered so.
	seen, hit int
}

// Book is safe for concurrent use.
type Book struct {
	mu      sync.Mutex
	entries []*entry
	// ended is closed when the waits under way are to end; nil while there was
	// none. hurried says that no call waits.
	ended   chan struct{}
	hurried bool
}

// Add asks for a fault, after those asked for before.
func (b *Book) Add(f Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, &entry{Fault: f})
}

// Clear takes all faults back, and ends the waits that they began.
func (b *Book) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = nil
	b.endWaits()
}

// Hurry ends the waits under way and, while it is on, lets no call wait: a server
// that stops is not held up by those who asked for slowness.
func (b *Book) Hurry(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hurried = on
	b.endWaits()
}

func (b *Book) endWaits() {
	if b.ended != nil {
		close(b.ended)
		b.ended = nil
	}
}

// List returns the faults that still have calls to answer, with the Count that
// is left.
func (b *Book) List() []Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Fault, 0, len(b.entries))
	for _, e := range b.entries {
		left := e.Fault
		left.Count -= min(e.hit, left.Count)
		out = append(out, left)
	}
	return out
}

// Next is what happens to a call. Latencies of all faults that fit add up; the
// first error counts.
func (b *Book) Next(service, operation, region string) Trouble {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended == nil {
		b.ended = make(chan struct{})
	}
	out := Trouble{ended: b.ended}
	for _, e := range b.entries {
		if !e.fits(service, operation, region) || out.Failure != nil && e.Code != "" {
			continue
		}
		if e.seen++; e.Every > 1 && e.seen%e.Every != 0 {
			continue
		}
		e.hit++
		out.Latency += e.Latency
		if e.Code != "" {
			out.Failure, out.RetryAfter = e.answer(service), e.RetryAfter
		}
	}
	b.entries = slices.DeleteFunc(b.entries, func(e *entry) bool { return e.Count > 0 && e.hit >= e.Count })
	if b.hurried {
		out.Latency = 0
	}
	return out
}
