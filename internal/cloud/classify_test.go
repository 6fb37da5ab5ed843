package cloud_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth"
	authfault "github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// answered wraps an error as the SDK does: the operation around the response.
func answered(service, operation string, status int, err error) error {
	return &smithy.OperationError{ServiceID: service, OperationName: operation, Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err,
	}}
}

func code(code string) error { return &smithy.GenericAPIError{Code: code, Message: "text"} }

func TestClassify(t *testing.T) {
	cases := map[string]struct {
		err  error
		want fault.Class
	}{
		"Throttling is throttled":            {answered("IAM", "Op", 400, code("Throttling")), fault.Throttled},
		"SlowDown is throttled":              {answered("S3", "Op", 503, code("SlowDown")), fault.Throttled},
		"429 is throttled":                   {answered("S3", "Op", 429, code("Anything")), fault.Throttled},
		"IAM's LimitExceeded is a quota":     {answered("IAM", "Op", 409, &iamtypes.LimitExceededException{}), fault.Invalid},
		"a server error may pass":            {answered("S3", "Op", 500, code("InternalError")), fault.Retry},
		"IAM's ServiceFailure may pass":      {answered("IAM", "Op", 500, &iamtypes.ServiceFailureException{}), fault.Retry},
		"an unknown server error may pass":   {answered("S3", "Op", 502, code("Anything")), fault.Retry},
		"OperationAborted may pass":          {answered("S3", "Op", 409, code("OperationAborted")), fault.Retry},
		"NotImplemented does not pass":       {answered("S3", "Op", 501, code("NotImplemented")), fault.Invalid},
		"AccessDenied is denied":             {answered("IAM", "Op", 403, code("AccessDenied")), fault.Denied},
		"AccessDeniedException is denied":    {answered("EKS", "Op", 403, code("AccessDeniedException")), fault.Denied},
		"a HEAD's 403 is denied":             {answered("S3", "Op", 403, code("Forbidden")), fault.Denied},
		"AssumeRole denied is denied":        {answered("STS", "AssumeRole", 403, code("AccessDenied")), fault.Denied},
		"a bad token is nobody":              {answered("STS", "Op", 400, &ststypes.InvalidIdentityTokenException{}), fault.Unauthenticated},
		"an expired token is nobody":         {answered("STS", "Op", 400, &ststypes.ExpiredTokenException{}), fault.Unauthenticated},
		"an unreachable issuer is nobody":    {answered("STS", "Op", 400, &ststypes.IDPCommunicationErrorException{}), fault.Unauthenticated},
		"an expired session is nobody":       {answered("S3", "Op", 400, code("ExpiredToken")), fault.Unauthenticated},
		"an unknown key is nobody":           {answered("STS", "Op", 403, code("InvalidClientTokenId")), fault.Unauthenticated},
		"a wrong clock is nobody":            {answered("S3", "Op", 403, code("RequestTimeTooSkewed")), fault.Unauthenticated},
		"NoSuchEntity is gone":               {answered("IAM", "Op", 404, &iamtypes.NoSuchEntityException{}), fault.Gone},
		"NoSuchBucket is gone":               {answered("S3", "Op", 404, &s3types.NoSuchBucket{}), fault.Gone},
		"NoSuchAnything is gone":             {answered("S3", "Op", 404, code("NoSuchTagSet")), fault.Gone},
		"a HEAD's 404 is gone":               {answered("S3", "Op", 404, &s3types.NotFound{}), fault.Gone},
		"a 404 of no service is not gone":    {answered("S3", "Op", 404, code("UnknownError")), fault.Invalid},
		"EntityAlreadyExists exists":         {answered("IAM", "Op", 409, &iamtypes.EntityAlreadyExistsException{}), fault.Exists},
		"BucketAlreadyExists exists":         {answered("S3", "Op", 409, &s3types.BucketAlreadyExists{}), fault.Exists},
		"BucketAlreadyOwnedByYou exists":     {answered("S3", "Op", 409, &s3types.BucketAlreadyOwnedByYou{}), fault.Exists},
		"a failed If-Match changed":          {answered("S3", "Op", 412, code("PreconditionFailed")), fault.Changed},
		"two writers at once changed":        {answered("S3", "Op", 409, code("ConditionalRequestConflict")), fault.Changed},
		"ConcurrentModification changed":     {answered("IAM", "Op", 409, &iamtypes.ConcurrentModificationException{}), fault.Changed},
		"a malformed policy is invalid":      {answered("IAM", "Op", 400, &iamtypes.MalformedPolicyDocumentException{}), fault.Invalid},
		"a full bucket is invalid":           {answered("S3", "Op", 409, code("BucketNotEmpty")), fault.Invalid},
		"a wrong region is invalid":          {answered("S3", "Op", 301, code("PermanentRedirect")), fault.Invalid},
		"no web identity is nobody":          {&awsauth.Error{Code: authfault.CodeCredentialsMissing}, fault.Unauthenticated},
		"half a web identity is nobody":      {&awsauth.Error{Code: authfault.CodeWebIdentityIncomplete}, fault.Unauthenticated},
		"an unreadable token is nobody":      {&awsauth.Error{Code: authfault.CodeTokenUnreadable}, fault.Unauthenticated},
		"no session of one's own is nobody":  {&awsauth.Error{Code: authfault.CodeSessionInvalid}, fault.Unauthenticated},
		"no region is invalid":               {&awsauth.Error{Code: authfault.CodeRegionMissing}, fault.Invalid},
		"no identity is invalid":             {&awsauth.Error{Code: authfault.CodeInvalidIdentity}, fault.Invalid},
		"a bad bundle is invalid":            {&awsauth.Error{Code: authfault.CodeBundleInvalid}, fault.Invalid},
		"a call given up may be repeated":    {&smithy.CanceledError{Err: context.Canceled}, fault.Retry},
		"a deadline may be repeated":         {fmt.Errorf("x: %w", context.DeadlineExceeded), fault.Retry},
		"a refused connection may pass":      {refused(), fault.Retry},
		"an unknown name may pass":           {&net.DNSError{Err: "no such host", Name: "sts.x"}, fault.Retry},
		"an unknown authority may be added":  {x509.UnknownAuthorityError{}, fault.Retry},
		"what is not understood may pass":    {errors.New("surprise"), fault.Retry},
		"a parameter we left out is invalid": {smithy.InvalidParamsError{Context: "PutObjectInput"}, fault.Invalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := cloud.Classify("S3", "Op", c.err); got.Class != c.want {
				t.Errorf("%s, want %s: %v", got.Class, c.want, got)
			}
		})
	}
}

func refused() error {
	return &net.OpError{
		Op: "read", Net: "tcp",
		Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 53412}, Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 443},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}
}

func TestClassifyNamesTheCallThatFailed(t *testing.T) {
	denied := answered("STS", "AssumeRoleWithWebIdentity", 403,
		&smithy.GenericAPIError{Code: "AccessDenied", Message: "Not authorized to perform sts:AssumeRoleWithWebIdentity"})
	got := cloud.Classify("S3", "GetObject", &smithy.OperationError{
		ServiceID: "S3", OperationName: "GetObject", Err: fmt.Errorf("get identity: get credentials: %w", denied),
	})
	want := &fault.Fault{
		Class: fault.Unauthenticated, Service: "STS", Operation: "AssumeRoleWithWebIdentity", Code: "AccessDenied",
		Message: "Not authorized to perform sts:AssumeRoleWithWebIdentity",
		Hint:    "the role's trust policy does not let this ServiceAccount's token in; check its Federated principal and its sub and aud conditions",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fault (-want +got):\n%s", diff)
	}
}

// TestWhoCannotBecomeAnybodyHearsWhatToDo: these are what people meet.
func TestWhoCannotBecomeAnybodyHearsWhatToDo(t *testing.T) {
	for call, codes := range map[string][]string{
		"STS AssumeRoleWithWebIdentity": {
			"AccessDenied", "IDPRejectedClaim", "InvalidIdentityToken", "ExpiredTokenException", "IDPCommunicationError", "RegionDisabledException",
		},
		"EC2 DescribeInstanceTypes": {
			"AuthFailure", "InvalidClientTokenId", "SignatureDoesNotMatch", "OptInRequired", "Blocked", "ExpiredToken", "RequestExpired", "RequestTimeTooSkewed",
		},
	} {
		service, operation, _ := strings.Cut(call, " ")
		for _, each := range codes {
			if got := cloud.Classify(service, operation, answered(service, operation, 403, code(each))); got.Hint == "" {
				t.Errorf("%s: %s has no hint", call, each)
			}
		}
	}
}

func TestTheTimeThatAServiceAsksForIsKept(t *testing.T) {
	err := answered("EC2", "DescribeInstanceTypes", 503, code("RequestLimitExceeded"))
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok {
		t.Fatalf("no response in %v", err)
	}
	response.Response.Header = http.Header{"Retry-After": {"90"}}
	if got := cloud.Classify("EC2", "DescribeInstanceTypes", err); got.RetryAfter != 90*time.Second {
		t.Errorf("again after %v, want 90s", got.RetryAfter)
	}
}

func TestMissingWayToCredentialsIsNotAMissingThing(t *testing.T) {
	missing := answered("STS", "AssumeRoleWithWebIdentity", 404, code("NoSuchWhatever"))
	got := cloud.Classify("IAM", "GetRole", &smithy.OperationError{
		ServiceID: "IAM", OperationName: "GetRole", Err: missing,
	})
	if got.Class == fault.Gone {
		t.Error("the role was taken for gone because STS was not found")
	}
}

func TestClassifyOfNothingIsNothing(t *testing.T) {
	if got := cloud.Classify("S3", "Op", nil); got != nil {
		t.Errorf("got %v", got)
	}
	if err := cloud.Error("S3", "Op", nil); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestFaultStaysWhatItIs(t *testing.T) {
	first := cloud.Error("S3", "GetObject", answered("S3", "GetObject", 403, code("AccessDenied")))
	again := cloud.Error("S3", "GetBucket", fmt.Errorf("reading: %w", first))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("fault (-first +again):\n%s", diff)
	}
	if !cloud.Is(again, fault.Denied) || cloud.Is(again, fault.Gone) || cloud.Is(nil, fault.Denied) {
		t.Error("Is does not tell the class")
	}
}
