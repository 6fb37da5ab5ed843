package call

import (
	"time"

	"github.com/tabard-dev/tabard/iampolicy"
)

// Credential is an access key and what it proves. It is made anew for each
// request, so that changed policies hold from the next request on.
type Credential struct {
	Secret string
	// Token is the session token of a temporary key.
	Token string
	// Expires is when a temporary key ends; zero for a long-lived one.
	Expires time.Time
	Caller  Caller
	// Context holds the condition keys that follow from the caller.
	Context iampolicy.Context
	// Policies are the caller's identity and session policies, and its
	// permissions boundary.
	Policies iampolicy.Policies
	Names    PolicyNames
	// Used is told of each request that the key has signed; nil where nobody
	// asks.
	Used func(service, region string, at time.Time)
}
