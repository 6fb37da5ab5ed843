package awslocal

import (
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/clock"
	"github.com/tabard-dev/tabard/awslocal/internal/fault"
	"github.com/tabard-dev/tabard/awslocal/internal/s3"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Admin looks into a server, moves its clock and gives it trouble. It is safe for concurrent use.
type Admin struct{ server *Server }

// Entry is one call of the journal: what was asked by whom, and the answer. It
// holds no secret.
type Entry struct {
	// Time is when the call came in, by the server's clock.
	Time time.Time `json:"time"`
	// RequestID is the ID that the caller was answered.
	RequestID string `json:"requestID"`
	// Service and Operation name the call, such as "sts" and "AssumeRole".
	Service   string `json:"service"`
	Operation string `json:"operation"`
	// Region is what the signature names, also where the call was refused; of an
	// unsigned call what the name of STS's endpoint says, else empty.
	Region string `json:"region,omitempty"`
	// Caller is the caller's ARN, "anonymous" for an unsigned call.
	Caller string `json:"caller"`
	// AccessKeyID is the key that signed, empty for an unsigned call.
	AccessKeyID string `json:"accessKeyID,omitempty"`
	// Resource is the ARN of what the call was about, where it is known.
	Resource string `json:"resource,omitempty"`
	// Status is the answer's HTTP status.
	Status int `json:"status"`
	// Error is the answer's error code, empty for success.
	Error string `json:"error,omitempty"`
	// WebIdentity is what the call's web identity token claims; nil for calls without
	// one, and for a text that is no token.
	WebIdentity *WebIdentity `json:"webIdentity,omitempty"`
	// Decision is why policies refused the call; nil where it was answered, or was
	// refused for another reason.
	Decision *Decision `json:"decision,omitempty"`
}

// WebIdentity is who a web identity token says that its holder is. The token itself
// is not kept.
type WebIdentity struct {
	Issuer   string   `json:"issuer"`
	Subject  string   `json:"subject"`
	Audience []string `json:"audience"`
	// Verified says that the issuer's signature is good. Without that anybody may have
	// written the rest.
	Verified bool `json:"verified"`
}

// Decision is why policies refused a call. AWS tells its callers less.
type Decision struct {
	// Action and Resource are what the policies were asked.
	Action   string `json:"action"`
	Resource string `json:"resource"`
	// Effect is "implicitDeny", which says that no statement allows the action, or
	// "explicitDeny".
	Effect iampolicy.Effect `json:"effect"`
	// Kind is that of the policy which decided: "identity", "resource", "trust",
	// "boundary" or "session".
	Kind iampolicy.Kind `json:"kind"`
	// Policy is the policy's name, or its ARN where it has one; of a resource's policy
	// the resource's ARN. It is empty where no policy of the kind has an Allow, and for
	// session policies.
	Policy string `json:"policy,omitempty"`
	// Statement is the index, counted from 0, of the statement that denies, or for an
	// implicit deny of the one that comes closest to allowing the action; nil for none.
	Statement *int `json:"statement,omitempty"`
	// Sid is that statement's, if it has one.
	Sid string `json:"sid,omitempty"`
	// Reason says what in the statement does not fit.
	Reason string `json:"reason"`
}

// Reset forgets all state, the journal and the clock's shifts, enables all
// regions, and switches faults and modes off. Accounts, their administrators' keys
// and the certificate authority stay.
func (a *Admin) Reset() {
	a.server.replacing.Lock()
	defer a.server.replacing.Unlock()
	a.server.iam.Reset()
	a.server.sts.Reset()
	a.server.s3.Reset()
	a.server.eks.Reset()
	a.server.agent.Reset()
	a.server.issuers.Reset()
	a.server.clock.Reset()
	a.server.journal.Clear()
	a.server.faults.Clear()
	a.server.regions.Reset()
	a.server.resetModes()
	a.server.changed()
}

// Journal returns the calls in the order of their answers, at most the last
// 10,000, and fewer where they take more than 16 MiB together. Of texts longer than
// 4 KiB it has the beginning.
func (a *Admin) Journal() []Entry { return a.since("") }

func (a *Admin) since(id string) []Entry {
	entries := []Entry{}
	for _, e := range a.server.journal.Since(id) {
		entry := Entry{
			Time: e.Time, RequestID: e.ID, Service: e.Service, Operation: e.Operation, Region: e.Region, Caller: e.Caller,
			AccessKeyID: e.AccessKeyID, Resource: e.Resource, Status: e.Status, Error: e.Error, Decision: (*Decision)(e.Decision),
		}
		if e.Token != nil {
			entry.WebIdentity = &WebIdentity{e.Token.Issuer, e.Token.Subject, e.Token.Audience, e.Token.Verified}
		}
		entries = append(entries, entry)
	}
	return entries
}

// ClearJournal forgets the calls so far.
func (a *Admin) ClearJournal() { a.server.journal.Clear() }

// BlockPublicAccess sets S3 Block Public Access of a whole account, all four
// switches on or off; it adds to what each bucket says. It is off at first. It
// does what PutPublicAccessBlock and DeletePublicAccessBlock of S3 Control do.
func (a *Admin) BlockPublicAccess(account string, on bool) {
	defer a.server.changed()
	var block *s3.PublicAccessBlock
	if on {
		block = &s3.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}
	}
	a.server.s3.BlockAccount(account, block)
}

// Fault is trouble that a test asks for: which calls fail or are slow, how, and
// how often. The zero value does nothing.
type Fault struct {
	// Service ("sts", "iam", "s3", "ec2", "eks", "eks-auth",
	// "pod-identity-agent"), Operation ("GetObject") and Region ("eu-west-1")
	// choose the calls; empty means all. The region is the one of the signature;
	// of an unsigned call the one in the name of STS's endpoint, else the
	// server's.
	Service   string `json:"service,omitempty"`
	Operation string `json:"operation,omitempty"`
	Region    string `json:"region,omitempty"`
	// Code is the error to answer with; empty: only the latency. Status and
	// Message are AWS's own for the usual codes, such as Throttling, SlowDown
	// and InternalError.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Status  int    `json:"status,omitempty"`
	// RetryAfter is sent with the error as the header of that name, in seconds;
	// 0: no such header.
	RetryAfter int `json:"retryAfter,omitempty"`
	// Count is how many calls are answered so; 0: until ClearFaults.
	Count int `json:"count,omitempty"`
	// Every chooses every n-th of the calls that fit; 0 and 1 mean each.
	Every int `json:"every,omitempty"`
	// Latency passes before the call is answered. It may be long enough to be a
	// hang: it ends when the client goes away, with ClearFaults, Reset and Close.
	// The call goes on then, and does what it was to do.
	Latency time.Duration `json:"-"`
}

// Inject asks for a fault, after those asked for before. Calls are refused as
// they would be by the service itself, after their signature was checked.
func (a *Admin) Inject(f Fault) { a.server.faults.Add(fault.Fault(f)) }

// ClearFaults takes all faults back, also from the calls that wait: they go on at
// once.
func (a *Admin) ClearFaults() { a.server.faults.Clear() }

// Faults returns those that still have calls to answer.
func (a *Admin) Faults() []Fault {
	out := []Fault{}
	for _, f := range a.server.faults.List() {
		out = append(out, Fault(f))
	}
	return out
}

// Now is the server's time.
func (a *Admin) Now() time.Time { return a.server.clock.Now() }

// AdvanceClock moves the server's clock on. Credentials and signatures age with
// it, and so do tokens.
func (a *Admin) AdvanceClock(d time.Duration) {
	a.server.clock.Advance(d)
	a.server.changed()
}

// SetClock makes the server's clock show t; it runs on from there.
func (a *Admin) SetClock(t time.Time) {
	a.server.clock.Set(t)
	a.server.changed()
}

// SetTokenClockOffset makes web identity tokens be judged by a clock that is d
// ahead of the server's, so that a token expires and signatures stay good.
func (a *Admin) SetTokenClockOffset(d time.Duration) {
	a.changeOffsets(func(o *clock.Offsets) { o.Tokens = d })
}

// SetCredentialClockOffset makes sessions expire by a clock that is d ahead of
// the server's, so that a session expires and its token and its signatures stay
// good.
func (a *Admin) SetCredentialClockOffset(d time.Duration) {
	a.changeOffsets(func(o *clock.Offsets) { o.Credentials = d })
}

// SetSignatureClockOffset makes signatures and presigned URLs age by a clock
// that is d ahead of the server's: the clients' clocks seem to be wrong. The Date
// header of answers shows that clock, from which clients correct theirs.
func (a *Admin) SetSignatureClockOffset(d time.Duration) {
	a.changeOffsets(func(o *clock.Offsets) { o.Signatures = d })
}

func (a *Admin) changeOffsets(change func(*clock.Offsets)) {
	a.server.clock.ChangeOffsets(change)
	a.server.changed()
}
