package gateway

import (
	"fmt"
	"net/http"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
)

var s3Form = form{
	sigv4.Broken:         {Code: "AuthorizationHeaderMalformed", Status: badRequest},
	sigv4.Unsupported:    {Code: "InvalidRequest", Status: badRequest},
	sigv4.Early:          {Code: "RequestTimeTooSkewed", Status: forbidden, Message: "The difference between the request time and the current time is too large."},
	sigv4.Late:           {Code: "RequestTimeTooSkewed", Status: forbidden, Message: "The difference between the request time and the current time is too large."},
	sigv4.Expired:        {Code: "AccessDenied", Status: forbidden, Message: "Request has expired"},
	sigv4.Scope:          {Code: "AuthorizationHeaderMalformed", Status: badRequest},
	sigv4.Mismatch:       {Code: "SignatureDoesNotMatch", Status: forbidden, Message: "The request signature we calculated does not match the signature you provided. Check your key and signing method."},
	sigv4.BodyMismatch:   {Code: "XAmzContentSHA256Mismatch", Status: badRequest, Message: "The provided 'x-amz-content-sha256' header does not match what was computed."},
	sigv4.BodyIncomplete: {Code: "IncompleteBody", Status: badRequest},
	sigv4.LengthMissing:  {Code: "MissingContentLength", Status: http.StatusLengthRequired, Message: "You must provide the Content-Length HTTP header."},
	sigv4.UnknownKey:     {Code: "InvalidAccessKeyId", Status: forbidden, Message: "The AWS Access Key Id you provided does not exist in our records."},
	sigv4.WrongToken:     {Code: "InvalidToken", Status: badRequest, Message: "The provided token is malformed or otherwise invalid."},
	sigv4.SessionOver:    {Code: "ExpiredToken", Status: badRequest, Message: "The provided token has expired."},
	sigv4.HashMissing:    {Code: "InvalidRequest", Status: badRequest, Message: "Missing required header for this request: x-amz-content-sha256"},
	sigv4.HeaderUnsigned: {Code: "AccessDenied", Status: forbidden, Message: "There were headers present in the request which were not signed"},
	sigv4.TooLarge:       {Code: "EntityTooLarge", Status: badRequest, Message: "Your proposed upload exceeds the maximum allowed size"},
	sigv4.HashMalformed:  {Code: "InvalidArgument", Status: badRequest, Message: "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, or a valid sha256 value."},
	sigv4.ChunkTooSmall:  {Code: "InvalidChunkSizeError", Status: forbidden},
	sigv4.Busy:           {Code: "SlowDown", Status: http.StatusServiceUnavailable, Message: "Please reduce your request rate."},
}

// s3Parts are S3's texts for the parts of a credential, with what was found.
var s3Parts = map[sigv4.Part]string{
	sigv4.Credential:  `the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".`,
	sigv4.Terminator:  `incorrect terminator "%s". This endpoint uses "aws4_request".`,
	sigv4.Day:         `Invalid credential date "%s". This date is not the same as X-Amz-Date: "%s".`,
	sigv4.Region:      `a non-empty region must be provided in the credential.`,
	sigv4.WrongRegion: `the region '%s' is wrong; expecting '%s'`,
	sigv4.Service:     `incorrect service "%s". This endpoint belongs to "%s".`,
}

// s3Presigned are S3's texts for parameters of a presigned URL.
var s3Presigned = map[sigv4.Part]string{
	sigv4.Parameters:     "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
	sigv4.Date:           `X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`,
	sigv4.ExpiryNumber:   "X-Amz-Expires should be a number",
	sigv4.ExpiryNegative: "X-Amz-Expires must be non-negative",
	sigv4.ExpiryLong:     "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds",
}

// s3Fault is S3's refusal, which for parts of a signature depends on where the
// signature stood.
func s3Fault(problem *sigv4.Error) call.Fault {
	fault := s3Form[problem.Kind]
	queryFault := call.Fault{Code: "AuthorizationQueryParametersError", Status: badRequest}
	switch {
	case problem.Part == sigv4.Twice:
		return call.Fault{Code: "InvalidArgument", Status: badRequest, Message: "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified"}
	case problem.Part == sigv4.DateMissing:
		return call.Fault{Code: "AccessDenied", Status: forbidden, Message: "AWS authentication requires a valid Date or x-amz-date header"}
	case problem.Kind == sigv4.Early && problem.Presigned:
		return call.Fault{Code: "AccessDenied", Status: forbidden, Message: "Request is not valid yet"}
	case problem.Kind == sigv4.Unsupported && problem.Presigned:
		queryFault.Message = `X-Amz-Algorithm only supports "AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256"`
		return queryFault
	case s3Presigned[problem.Part] != "":
		queryFault.Message = s3Presigned[problem.Part]
		return queryFault
	case s3Parts[problem.Part] != "" && problem.Presigned:
		queryFault.Message = "Error parsing the X-Amz-Credential parameter; " + fmt.Sprintf(s3Parts[problem.Part], problem.Values...)
		return queryFault
	case s3Parts[problem.Part] != "":
		fault.Message = "The authorization header is malformed; " + fmt.Sprintf(s3Parts[problem.Part], problem.Values...)
	case problem.Kind == sigv4.Broken && problem.Presigned:
		fault.Code = queryFault.Code
	}
	return fault
}

// s3Names are the elements that S3 adds to some refusals.
var s3Names = map[sigv4.Kind][]string{
	sigv4.TooLarge: {"MaxSizeAllowed"},
	sigv4.Early:    {"RequestTime", "ServerTime", "MaxAllowedSkewMilliseconds"},
	sigv4.Late:     {"RequestTime", "ServerTime", "MaxAllowedSkewMilliseconds"},
	sigv4.Expired:  {"X-Amz-Expires", "Expires", "ServerTime"},
}

// s3Elements are the further elements of a refusal.
func s3Elements(problem *sigv4.Error) [][2]string {
	if problem.Part == sigv4.WrongRegion {
		return [][2]string{{"Region", fmt.Sprint(problem.Values[1])}}
	}
	var pairs [][2]string
	for i, name := range s3Names[problem.Kind] {
		if i < len(problem.Values) {
			pairs = append(pairs, [2]string{name, fmt.Sprint(problem.Values[i])})
		}
	}
	return pairs
}
