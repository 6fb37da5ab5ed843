package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/ec2"
	"github.com/tabard-dev/tabard/awslocal/internal/podidentity"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/awslocal/internal/restjson"
	"github.com/tabard-dev/tabard/awslocal/internal/s3"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
)

// form is a service's way to refuse; an empty message is replaced by what was
// found in the request.
type form map[sigv4.Kind]call.Fault

const (
	badRequest = http.StatusBadRequest
	forbidden  = http.StatusForbidden
)

var queryForm = form{
	sigv4.Broken:         {Code: "IncompleteSignature", Status: badRequest},
	sigv4.Unsupported:    {Code: "IncompleteSignature", Status: badRequest},
	sigv4.Early:          {Code: "SignatureDoesNotMatch", Status: forbidden},
	sigv4.Late:           {Code: "SignatureDoesNotMatch", Status: forbidden},
	sigv4.Scope:          {Code: "SignatureDoesNotMatch", Status: forbidden},
	sigv4.Mismatch:       {Code: "SignatureDoesNotMatch", Status: forbidden, Message: "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."},
	sigv4.BodyMismatch:   {Code: "SignatureDoesNotMatch", Status: forbidden, Message: "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."},
	sigv4.BodyIncomplete: {Code: "IncompleteBody", Status: badRequest},
	sigv4.Unsigned:       {Code: "MissingAuthenticationToken", Status: forbidden, Message: "Request is missing Authentication Token"},
	sigv4.UnknownKey:     {Code: "InvalidClientTokenId", Status: forbidden, Message: "The security token included in the request is invalid."},
	sigv4.WrongToken:     {Code: "InvalidClientTokenId", Status: forbidden, Message: "The security token included in the request is invalid."},
	sigv4.SessionOver:    {Code: "ExpiredToken", Status: forbidden, Message: "The security token included in the request is expired"},
	sigv4.TooLarge:       {Code: "RequestEntityTooLarge", Status: http.StatusRequestEntityTooLarge},
	sigv4.Busy:           {Code: "Throttling", Status: badRequest, Message: "Rate exceeded"},
}

// ec2Refused is how EC2 words all that is wrong with who signed.
const ec2Refused = "AWS was not able to validate the provided access credentials"

var ec2Form = form{
	sigv4.Broken:      {Code: "AuthFailure", Status: http.StatusUnauthorized, Message: ec2Refused},
	sigv4.Unsupported: {Code: "AuthFailure", Status: http.StatusUnauthorized, Message: ec2Refused},
	sigv4.Early:       {Code: "AuthFailure", Status: http.StatusUnauthorized, Message: ec2Refused},
	sigv4.Late:        {Code: "RequestExpired", Status: badRequest, Message: "Request has expired."},
	sigv4.Scope:       {Code: "AuthFailure", Status: http.StatusUnauthorized},
	sigv4.Mismatch:    {Code: "AuthFailure", Status: http.StatusUnauthorized, Message: ec2Refused},
	sigv4.Unsigned:    {Code: "AuthFailure", Status: http.StatusUnauthorized, Message: ec2Refused},
	sigv4.UnknownKey:  {Code: "AuthFailure", Status: http.StatusUnauthorized, Message: ec2Refused},
	sigv4.WrongToken:  {Code: "AuthFailure", Status: http.StatusUnauthorized, Message: ec2Refused},
	sigv4.SessionOver: {Code: "RequestExpired", Status: badRequest, Message: "Request has expired."},
	sigv4.TooLarge:    {Code: "RequestEntityTooLarge", Status: http.StatusRequestEntityTooLarge},
	sigv4.Busy:        {Code: "RequestLimitExceeded", Status: http.StatusServiceUnavailable, Message: "Request limit exceeded."},
}

var restForm = form{
	sigv4.Broken:       {Code: "IncompleteSignatureException", Status: badRequest},
	sigv4.Unsupported:  {Code: "IncompleteSignatureException", Status: badRequest},
	sigv4.Early:        {Code: "InvalidSignatureException", Status: forbidden},
	sigv4.Late:         {Code: "InvalidSignatureException", Status: forbidden},
	sigv4.Scope:        {Code: "InvalidSignatureException", Status: forbidden},
	sigv4.Mismatch:     {Code: "InvalidSignatureException", Status: forbidden, Message: queryForm[sigv4.Mismatch].Message},
	sigv4.BodyMismatch: {Code: "InvalidSignatureException", Status: forbidden, Message: queryForm[sigv4.Mismatch].Message},
	sigv4.Unsigned:     {Code: "MissingAuthenticationTokenException", Status: forbidden, Message: "Missing Authentication Token"},
	sigv4.UnknownKey:   {Code: "UnrecognizedClientException", Status: forbidden, Message: "The security token included in the request is invalid."},
	sigv4.WrongToken:   {Code: "UnrecognizedClientException", Status: forbidden, Message: "The security token included in the request is invalid."},
	sigv4.SessionOver:  {Code: "ExpiredTokenException", Status: forbidden, Message: "The security token included in the request is expired"},
	sigv4.TooLarge:     {Code: "RequestEntityTooLargeException", Status: http.StatusRequestEntityTooLarge},
	sigv4.Busy:         {Code: "ThrottlingException", Status: http.StatusTooManyRequests, Message: "Rate exceeded"},
}

var forms = map[string]form{"s3": s3Form, "ec2": ec2Form, "eks": restForm, "eks-auth": restForm}

var namespaces = map[string]string{
	"sts": "https://sts.amazonaws.com/doc/2011-06-15/",
	"iam": "https://iam.amazonaws.com/doc/2010-05-08/",
}

// refuse answers a request that did not pass, in the form of its service.
func refuse(w http.ResponseWriter, c *call.Call, service string, problem *sigv4.Error) {
	table, special := forms[service]
	if !special {
		table = queryForm
	}
	fault, known := table[problem.Kind]
	if service == "s3" {
		fault = s3Fault(problem)
	}
	if !known {
		fault = call.Fault{Code: "InvalidRequest", Status: badRequest}
	}
	if fault.Message == "" {
		fault.Message = problem.Detail
	}
	switch service {
	case "s3":
		if problem.Part == sigv4.WrongRegion {
			w.Header().Set("X-Amz-Bucket-Region", fmt.Sprint(problem.Values[1]))
		}
		s3.Refuse(w, c, &fault, s3Elements(problem)...)
	case "ec2":
		ec2.Refuse(w, c, &fault)
	case "eks", "eks-auth", podidentity.Name:
		restjson.Refuse(w, c, &fault, nil)
	default:
		query.Refuse(w, c, namespaces[service], &fault)
	}
}

// refuseService names a service that the local AWS does not play, and those that
// it does, in JSON for clients that speak JSON.
func (g *Gateway) refuseService(w http.ResponseWriter, c *call.Call, service string) {
	played := slices.Sorted(maps.Keys(g.options.Services))
	played = slices.DeleteFunc(played, func(name string) bool { return name == podidentity.Name })
	fault := &call.Fault{Code: "ServiceNotImplemented", Status: http.StatusNotImplemented,
		Message: fmt.Sprintf("The local AWS does not play the service %q; it plays %s.", service, strings.Join(played, ", "))}
	if !strings.Contains(c.HTTP.Header.Get("Content-Type"), "json") {
		query.Refuse(w, c, "https://aws.amazon.com/", fault)
		return
	}
	restjson.Refuse(w, c, fault, map[string]string{"__type": fault.Code})
}
