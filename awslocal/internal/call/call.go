// Package call is one request on its way through the local AWS: who signed it,
// what its payload is, and what the policies say of it. The gateway makes a
// Call, a service answers it.
package call

import (
	"net/http"
	"time"

	"github.com/tabard-dev/tabard/iampolicy"
)

// Call is one request that the gateway has authenticated. A service reads it
// and writes the answer; it never looks at signatures.
type Call struct {
	// HTTP is the request. Its Body has been read: use Payload.
	HTTP *http.Request
	// Payload is the body, decoded from chunks and verified against its hash. It
	// belongs to the service, which may keep it.
	Payload []byte
	// Trailer holds the trailing headers of a chunked upload.
	Trailer http.Header
	// ID is the request's ID.
	ID string
	// Now is the instant of the call by the server's clock.
	Now time.Time
	// Region is where the call was sent: the signature's scope, or the server's
	// default for unsigned calls.
	Region string
	// Caller is who signed it; Anonymous for an unsigned call.
	Caller Caller
	// Authorize evaluates the caller's policies, the resource's and the
	// request's context. It fills in the global keys (spec 2.5); extra holds
	// those of the service.
	Authorize func(action, resource string, side Side, extra iampolicy.Context) iampolicy.Decision
	// Context holds the condition keys of the request that do not depend on the
	// caller: time, address, transport, region.
	Context iampolicy.Context
	// Entry is the call's line in the journal; the service sets its Operation.
	Entry *Entry
	// Trouble is what a test asked to happen to an operation; nil for nothing.
	// Services ask Interrupted instead.
	Trouble func(operation string) *Fault
}

// Interrupted says how the call is to fail because a test asked for it, nil for
// not at all; it takes the time that was asked for too. A service asks once,
// when it knows the operation and has done nothing yet.
func (c *Call) Interrupted(operation string) *Fault {
	if c.Trouble == nil {
		return nil
	}
	return c.Trouble(operation)
}

// Caller is who signed a request.
type Caller struct {
	Principal iampolicy.Principal
	// UserID is AIDA…, AROA…:session, or the account for root.
	UserID string
}

// Side is the resource's side of a decision.
type Side struct {
	// AccountID owns the resource.
	AccountID string
	// Policy is the resource's policy, nil for none.
	Policy *iampolicy.Policy
	// RestrictPublicBuckets is S3's switch of that name.
	RestrictPublicBuckets bool
}

// Entry is one line of the journal: what was asked by whom and what the answer
// was. It holds no secret.
type Entry struct {
	Time      time.Time `json:"time"`
	ID        string    `json:"requestID"`
	Service   string    `json:"service"`
	Operation string    `json:"operation"`
	Region    string    `json:"region,omitempty"`
	// Caller is the caller's ARN, "anonymous" for an unsigned call.
	Caller string `json:"caller"`
	// AccessKeyID is the key that signed, empty for an unsigned call.
	AccessKeyID string `json:"accessKeyID,omitempty"`
	// Resource is what the call was about, where the service knows.
	Resource string `json:"resource,omitempty"`
	Status   int    `json:"status"`
	// Error is the error code of the answer, empty for success.
	Error string `json:"error,omitempty"`
	// Token is what the call's web identity token claims, nil for calls without one.
	Token *Token
	// Decision is why policies refused the call, nil where they did not.
	Decision *Decision
}

// Token is who a web identity token says that its holder is.
type Token struct {
	Issuer, Subject string
	Audience        []string
	// Verified says that the issuer's signature is good: else anybody may have written
	// the rest.
	Verified bool
}

// Fault is an answer that is an error, in AWS's own code and text.
type Fault struct {
	Code    string
	Message string
	Status  int
}

// Error is "CODE: MESSAGE".
func (f *Fault) Error() string { return f.Code + ": " + f.Message }
