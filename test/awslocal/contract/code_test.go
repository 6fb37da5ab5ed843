package contract_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awslocal"
)

// manners are how services refuse: the codes that all their operations share, and
// what a caller who is denied is told all the same, by the need that is not met.
// Codes have the statuses of the service where it has its own.
var manners = map[string]struct {
	denied, throttled string
	told              map[string]string
	statuses          map[string]int
}{
	"ec2": {denied: "UnauthorizedOperation", throttled: "RequestLimitExceeded"},
	"eks": {denied: "AccessDeniedException", throttled: "ThrottlingException"},
	"eks-auth": {
		denied: "AccessDeniedException", throttled: "ThrottlingException",
		statuses: map[string]int{"AccessDeniedException": http.StatusBadRequest},
	},
	"iam": {denied: "AccessDenied", throttled: "Throttling"},
	"s3":  {denied: "AccessDenied", throttled: "SlowDown", told: map[string]string{"s3/CreateBucket": "NoSuchBucket"}},
	"sts": {denied: "AccessDenied", throttled: "Throttling"},
}

// statusOf is the HTTP status of a service's code, and whether one is known.
func statusOf(service, code string) (int, bool) {
	if status, own := manners[service].statuses[code]; own {
		return status, true
	}
	status, known := statuses[code]
	return status, known
}

// statuses are the HTTP statuses of codes.
var statuses = map[string]int{
	"AccessDenied":                         http.StatusForbidden,
	"AccessDeniedException":                http.StatusForbidden,
	"AuthFailure":                          http.StatusUnauthorized,
	"BucketAlreadyOwnedByYou":              http.StatusConflict,
	"EntityAlreadyExists":                  http.StatusConflict,
	"InvalidIdentityToken":                 http.StatusBadRequest,
	"InvalidInstanceType":                  http.StatusBadRequest,
	"InvalidParameterException":            http.StatusBadRequest,
	"InvalidParameterValue":                http.StatusBadRequest,
	"NoSuchBucket":                         http.StatusNotFound,
	"NoSuchBucketPolicy":                   http.StatusNotFound,
	"NoSuchEntity":                         http.StatusNotFound,
	"NoSuchKey":                            http.StatusNotFound,
	"NoSuchPublicAccessBlockConfiguration": http.StatusNotFound,
	"NoSuchTagSet":                         http.StatusNotFound,
	"NotFoundException":                    http.StatusNotFound,
	"RequestLimitExceeded":                 http.StatusServiceUnavailable,
	"ResourceInUseException":               http.StatusConflict,
	"ResourceNotFoundException":            http.StatusNotFound,
	"SlowDown":                             http.StatusServiceUnavailable,
	"Throttling":                           http.StatusBadRequest,
	"ThrottlingException":                  http.StatusTooManyRequests,
	"UnauthorizedOperation":                http.StatusForbidden,
}

// partial is a refusal that stands in a successful answer.
type partial struct{ code, message string }

func (p *partial) Error() string { return p.code + ": " + p.message }

// expect fails the test unless the last call was answered with the code.
func (w *world) expect(r row, err error, code string) {
	w.t.Helper()
	entries := w.server.Admin().Journal()
	if len(entries) == 0 {
		w.t.Fatalf("the call did not reach the server: %v", err)
	}
	if r.unsigned {
		w.caller = "anonymous"
	}
	findings := judge(r, entries[len(entries)-1], w.caller, err, code)
	for _, finding := range findings {
		w.t.Error(finding)
	}
	if len(findings) > 0 {
		w.t.FailNow()
	}
}

// judge compares the outcome of a row's call with the code that it should have,
// and both with the journal's line.
func judge(r row, entry awslocal.Entry, caller string, err error, code string) []string {
	var found findings
	found.check(entry.Service == r.service && entry.Operation == r.operation && entry.Caller == caller,
		"the journal says that %s called %s:%s, want %s, %s", entry.Caller, entry.Service, entry.Operation, caller, r.name())
	if r.partly && code == manners[r.service].denied {
		var one *partial
		found.check(errors.As(err, &one) && one.code == code && one.message != "", "got %v, want %s in the answer", err, code)
		code, err = "", nil
	}
	found.check(entry.Error == code, "the journal has the code %q, want %q", entry.Error, code)
	if code == "" {
		found.check(err == nil && entry.Status >= 200 && entry.Status < 300, "status %d, error %v, want success", entry.Status, err)
		return found
	}
	status, known := statusOf(r.service, code)
	found.check(known, "no status is known for the code %s", code)
	found.check(entry.Status == status, "the journal has the status %d, want %d", entry.Status, status)
	if r.head {
		code = strings.ReplaceAll(http.StatusText(status), " ", "")
	}
	var api smithy.APIError
	var response *awshttp.ResponseError
	if !errors.As(err, &api) || !errors.As(err, &response) {
		return append(found, fmt.Sprintf("got %v, want the answer %d %s", err, status, code))
	}
	found.check(api.ErrorCode() == code && response.HTTPStatusCode() == status,
		"got %d %s, want %d %s", response.HTTPStatusCode(), api.ErrorCode(), status, code)
	found.check(r.head || api.ErrorMessage() != "", "the answer has no message")
	found.check(response.ServiceRequestID() == entry.RequestID,
		"the answer has the request ID %q, the journal %q", response.ServiceRequestID(), entry.RequestID)
	return found
}

// judgePages wants each item once, and several pages.
func judgePages(shown, want []string, pages int) []string {
	var found findings
	found.check(pages > 1, "the list came in %d page, want several", pages)
	count := map[string]int{}
	for _, name := range shown {
		count[name]++
		found.check(count[name] == 1, "the pages show %s twice", name)
	}
	for _, name := range want {
		found.check(count[name] > 0, "no page shows %s, only %v", name, shown)
	}
	return found
}

// findings are sentences on what is not as it should be.
type findings []string

func (f *findings) check(good bool, format string, args ...any) {
	if !good {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}
