package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

// answer is an error of a service as the SDK builds it. headers are the answer's,
// signed is the time of the request's signature.
func answer(service, operation string, status int, code string, headers http.Header, signed string) error {
	request := &http.Request{Header: http.Header{"X-Amz-Date": {signed}}}
	return &smithy.OperationError{ServiceID: service, OperationName: operation, Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: headers, Request: request}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "arn:aws:iam::123456789012:role/a (Request ID: 0123456789)"},
	}}
}

func TestCodesHaveTheirClass(t *testing.T) {
	cases := map[fault.Class][]string{
		fault.InvalidConfig: {
			fault.CodeInvalidIdentity, fault.CodeCredentialsMissing, fault.CodeWebIdentityIncomplete, fault.CodeSecretNotFound, fault.CodeSecretInvalid,
			fault.CodeRegionMissing, fault.CodePartitionMismatch, fault.CodeEndpointInvalid, fault.CodeBundleInvalid, fault.CodeContainerInvalid,
		},
		fault.CredentialsRejected: {
			"InvalidIdentityToken", "IDPRejectedClaim", "AuthFailure", "InvalidClientTokenId", "SignatureDoesNotMatch", "OptInRequired", "Blocked",
		},
		fault.CredentialsUnavailable: {
			fault.CodeTokenUnreadable, fault.CodeTokenUnavailable, fault.CodeSecretUnreadable, "ExpiredTokenException", "ExpiredToken", "IDPCommunicationError", "RegionDisabledException",
		},
		fault.Unauthorized: {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"},
		fault.Throttled: {
			"RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException",
			"TooManyRequestsException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded", "PriorRequestNotComplete",
			"LimitExceededException", "TransactionInProgressException", "ProvisionedThroughputExceededException",
		},
		fault.Transient: {"RequestTimeout", "InternalError", "ServiceUnavailable"},
		fault.ClockSkew: {"RequestExpired", "RequestTimeTooSkewed"},
		fault.Request:   {"InvalidInstanceType", "InvalidParameterValue"},
	}
	for class, codes := range cases {
		for _, code := range codes {
			t.Run(code, func(t *testing.T) {
				got := fault.Of("EC2", "DescribeInstanceTypes", answer("EC2", "DescribeInstanceTypes", 400, code, nil, ""))
				if got.Class != class || got.Code != code {
					t.Errorf("%s is %s, want %s", got.Code, got.Class, class)
				}
				if fault.IsThrottle(code) != (class == fault.Throttled) {
					t.Errorf("throttle: %t", fault.IsThrottle(code))
				}
			})
		}
	}
}

func TestStatusDecidesOnUnknownCodes(t *testing.T) {
	for status, want := range map[int]fault.Class{
		400: fault.Request, 403: fault.Unauthorized, 404: fault.Request, 429: fault.Throttled, 500: fault.Transient, 501: fault.Request, 503: fault.Transient,
	} {
		if got := fault.Of("EC2", "Op", answer("EC2", "Op", status, "Unheard", nil, "")); got.Class != want {
			t.Errorf("%d is %s, want %s", status, got.Class, want)
		}
	}
}

func TestWayToCredentialsIsNamed(t *testing.T) {
	for operation, hint := range map[string]string{"AssumeRoleWithWebIdentity": "trust policy", "AssumeRole": "trust it"} {
		inner := &fault.Caller{Method: "irsa", Subject: "role/a", Err: fmt.Errorf("exchanging: %w", answer("STS", operation, 403, "AccessDenied", nil, ""))}
		err := &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeRegions", Err: fmt.Errorf("get identity: %w", inner)}
		got := fault.Of("", "", err)
		if got.Class != fault.CredentialsRejected || got.Service != "STS" || got.Operation != operation || got.Method != "irsa" || got.Subject != "role/a" ||
			!strings.Contains(got.Hint, hint) {
			t.Errorf("%s: %+v", operation, got)
		}
		if !errors.Is(got, err) || fault.Of("", "", fmt.Errorf("wrapped: %w", got)) != got || !fault.Is(got, fault.CredentialsRejected) {
			t.Error("the fault is not the error that it was made of")
		}
	}
	if fault.Of("EC2", "DescribeRegions", nil) != nil {
		t.Error("no error is a fault")
	}
}

func TestFirstLineIsForEverybodysEyes(t *testing.T) {
	err := &fault.Caller{Method: "secret", Subject: "ns/keys", Err: answer("EC2", "DescribeInstanceTypes", 403, "UnauthorizedOperation", nil, "")}
	got := fault.Of("", "", err)
	want := "EC2 DescribeInstanceTypes: UnauthorizedOperation: the identity lacks this action; allow it in the identity's policy (authMethod=secret, ns/keys)"
	if got.FirstLine() != want {
		t.Errorf("first line %q, want %q", got.FirstLine(), want)
	}
	if got.Error() != want+"\narn:aws:iam::123456789012:role/a" {
		t.Errorf("error %q", got.Error())
	}
}

func TestClockIsRecognisedByTheAnswersDate(t *testing.T) {
	date := http.Header{"Date": {"Thu, 01 Jan 2026 12:00:00 GMT"}}
	for signed, want := range map[string]fault.Class{
		"20260101T120400Z": fault.CredentialsRejected, "20260101T120600Z": fault.ClockSkew, "20260101T110000Z": fault.ClockSkew, "nonsense": fault.CredentialsRejected,
	} {
		got := fault.Of("STS", "GetCallerIdentity", answer("STS", "GetCallerIdentity", 403, "SignatureDoesNotMatch", date, signed))
		if got.Class != want {
			t.Errorf("signed at %s it is %s, want %s", signed, got.Class, want)
		}
		if want == fault.ClockSkew && !strings.Contains(got.Hint, "clock") {
			t.Errorf("the hint is %q", got.Hint)
		}
	}
}

func TestRetryAfterIsTakenOver(t *testing.T) {
	const noon = "Thu, 01 Jan 2026 12:00:00 GMT"
	tests := map[string]struct {
		header, date string
		want         time.Duration
	}{
		"seconds":                   {"7", noon, 7 * time.Second},
		"seconds without a date":    {"7", "", 7 * time.Second},
		"a date":                    {"Thu, 01 Jan 2026 12:02:00 GMT", noon, 2 * time.Minute},
		"a date that is over":       {"Thu, 01 Jan 2026 11:00:00 GMT", noon, 0},
		"a date, of which time":     {"Thu, 01 Jan 2026 12:02:00 GMT", "", 0},
		"none":                      {"", noon, 0},
		"words":                     {"soon", noon, 0},
		"before now":                {"-1", noon, 0},
		"longer than is believed":   {"999999", noon, time.Hour},
		"later than is believed":    {"Fri, 02 Jan 2026 12:00:00 GMT", noon, time.Hour},
		"more seconds than a count": {"9223372036854775807", noon, time.Hour},
	}
	for name, c := range tests {
		headers := http.Header{"Retry-After": {c.header}, "Date": {c.date}}
		withoutCode := &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusServiceUnavailable, Header: headers}}, Err: errors.New("no service's answer"),
		}
		for _, err := range []error{answer("EC2", "Op", 503, "Throttling", headers, ""), withoutCode} {
			if got := fault.Of("EC2", "Op", err); got.RetryAfter != c.want {
				t.Errorf("%s, %v: %s, want %s", name, err, got.RetryAfter, c.want)
			}
		}
	}
}

func TestMachineWaitsOnlyForWhatPasses(t *testing.T) {
	for class, want := range map[fault.Class]bool{
		fault.CredentialsUnavailable: true, fault.Throttled: true, fault.Transient: true, fault.InvalidConfig: false, fault.CredentialsRejected: false,
		fault.Unauthorized: false, fault.Certificate: false, fault.ClockSkew: false, fault.Request: false, fault.Canceled: false,
	} {
		if got := (&fault.Fault{Class: class}).Passing(); got != want {
			t.Errorf("%s passes: %t, want %t", class, got, want)
		}
	}
}

func TestGivenUpIsNoFailure(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want fault.Class
	}{
		"given up":     {&smithy.CanceledError{Err: context.Canceled}, fault.Canceled},
		"out of time":  {&smithy.CanceledError{Err: context.DeadlineExceeded}, fault.Transient},
		"no parameter": {smithy.InvalidParamsError{Context: "Input"}, fault.Request},
	} {
		if got := fault.Of("EC2", "Op", c.err); got.Class != c.want || got.FirstLine() != "EC2 Op: "+got.Message {
			t.Errorf("%s: %s %q, want %s", name, got.Class, got.FirstLine(), c.want)
		}
	}
}
