package s3

import (
	"net/http"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// fault is an error answer with the further elements that S3 adds to some.
type fault struct {
	call.Fault
	fields []field
}

// field is one further element of an <Error>.
type field struct{ name, value string }

// with returns the fault with one more element. The faults of the table are
// shared and stay as they are.
func (f *fault) with(name, value string) *fault {
	fields := append(f.fields[:len(f.fields):len(f.fields)], field{name, value})
	return &fault{Fault: f.Fault, fields: fields}
}

// saying returns the fault with another message.
func (f *fault) saying(message string) *fault {
	return &fault{Fault: call.Fault{Code: f.Code, Message: message, Status: f.Status}, fields: f.fields}
}

func newFault(status int, code, message string) *fault {
	return &fault{Fault: call.Fault{Code: code, Message: message, Status: status}}
}

// The errors of S3. Codes and statuses: Amazon S3 API reference, "Error
// responses". Texts are those that S3 is seen to send.
var (
	errAccessDenied         = newFault(http.StatusForbidden, "AccessDenied", "Access Denied")
	errMethodNotAllowed     = newFault(http.StatusMethodNotAllowed, "MethodNotAllowed", "The specified method is not allowed against this resource.")
	errInternal             = newFault(http.StatusInternalServerError, "InternalError", "We encountered an internal error. Please try again.")
	errNotImplemented       = newFault(http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented")
	errPermanentRedirect    = newFault(http.StatusMovedPermanently, "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.")
	errInvalidURI           = newFault(http.StatusBadRequest, "InvalidURI", "Couldn't parse the specified URI.")
	errInvalidBucketOwner   = newFault(http.StatusBadRequest, "InvalidBucketOwnerAWSAccountID", "The value of the expected bucket owner parameter must be an AWS Account ID...")
	errMalformedXML         = newFault(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema")
	errInvalidArgument      = newFault(http.StatusBadRequest, "InvalidArgument", "Invalid Argument")
	errInvalidRequest       = newFault(http.StatusBadRequest, "InvalidRequest", "Invalid Request")
	errInvalidBucketName    = newFault(http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid.")
	errNoSuchBucket         = newFault(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	errBucketAlreadyExists  = newFault(http.StatusConflict, "BucketAlreadyExists", "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.")
	errBucketAlreadyOwned   = newFault(http.StatusConflict, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.")
	errBucketNotEmpty       = newFault(http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty")
	errInvalidLocation      = newFault(http.StatusBadRequest, "InvalidLocationConstraint", "The specified location-constraint is not valid")
	errIllegalLocation      = newFault(http.StatusBadRequest, "IllegalLocationConstraintException", "The unspecified location constraint is incompatible for the region specific endpoint this request was sent to.")
	errBucketACL            = newFault(http.StatusBadRequest, "InvalidBucketAclWithObjectOwnership", "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting")
	errACLNotSupported      = newFault(http.StatusBadRequest, "AccessControlListNotSupported", "The bucket does not allow ACLs")
	errNoSuchBucketPolicy   = newFault(http.StatusNotFound, "NoSuchBucketPolicy", "The bucket policy does not exist")
	errMalformedPolicy      = newFault(http.StatusBadRequest, "MalformedPolicy", "Policies must be valid JSON and the first byte must be '{'")
	errNoSuchAccessBlock    = newFault(http.StatusNotFound, "NoSuchPublicAccessBlockConfiguration", "The public access block configuration was not found")
	errNoSuchTagSet         = newFault(http.StatusNotFound, "NoSuchTagSet", "The TagSet does not exist")
	errInvalidTag           = newFault(http.StatusBadRequest, "InvalidTag", "The tag provided was not a valid tag. This error can occur if the tag did not pass input validation.")
	errTooManyBucketTags    = newFault(http.StatusBadRequest, "BadRequest", "Bucket tag count cannot be greater than 50")
	errTooManyObjectTags    = newFault(http.StatusBadRequest, "BadRequest", "Object tags cannot be greater than 10")
	errTaggingHeader        = newFault(http.StatusBadRequest, "InvalidArgument", "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.")
	errDocumentTooLong      = newFault(http.StatusBadRequest, "MaxMessageLengthExceeded", "Your request was too big.")
	errCopySource           = newFault(http.StatusBadRequest, "InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
	errCopyToItself         = newFault(http.StatusBadRequest, "InvalidRequest", "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.")
	errMetadataDirective    = newFault(http.StatusBadRequest, "InvalidArgument", "Unknown metadata directive.")
	errTaggingDirective     = newFault(http.StatusBadRequest, "InvalidArgument", "Unknown tagging directive.")
	errAccountIDMissing     = newFault(http.StatusBadRequest, "InvalidRequest", "Missing required header for this request: x-amz-account-id")
	errAccountIDDiffers     = newFault(http.StatusBadRequest, "InvalidRequest", "The account ID of the host name and that of the header x-amz-account-id differ.")
	errNoSuchKey            = newFault(http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
	errKeyTooLong           = newFault(http.StatusBadRequest, "KeyTooLongError", "Your key is too long")
	errMetadataTooLarge     = newFault(http.StatusBadRequest, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size")
	errPreconditionFailed   = newFault(http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
	errNotModified          = newFault(http.StatusNotModified, "NotModified", "Not Modified")
	errInvalidRange         = newFault(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The requested range is not satisfiable")
	errBadDigest            = newFault(http.StatusBadRequest, "BadDigest", "The Content-MD5 you specified did not match what we received.")
	errInvalidDigest        = newFault(http.StatusBadRequest, "InvalidDigest", "The Content-MD5 you specified was invalid.")
	errMalformedTrailer     = newFault(http.StatusBadRequest, "MalformedTrailerError", "The request contained trailing data that was not well-formed or did not conform to our published schema.")
	errMissingContentMD5    = newFault(http.StatusBadRequest, "InvalidRequest", "Missing required header for this request: Content-MD5")
	errAnonymousOverride    = newFault(http.StatusBadRequest, "InvalidRequest", "Request specific response headers cannot be used for anonymous GET requests.")
	errManyChecksums        = newFault(http.StatusBadRequest, "InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
	errUnknownChecksum      = newFault(http.StatusBadRequest, "InvalidRequest", "The algorithm type you specified in x-amz-checksum- header is invalid.")
	errChecksumNotSent      = newFault(http.StatusBadRequest, "InvalidRequest", "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.")
	errUnknownSDKChecksum   = newFault(http.StatusBadRequest, "InvalidRequest", "Value for x-amz-sdk-checksum-algorithm header is invalid.")
	errInvalidContinuation  = newFault(http.StatusBadRequest, "InvalidArgument", "The continuation token provided is incorrect")
	errInvalidEncodingType  = newFault(http.StatusBadRequest, "InvalidArgument", "Invalid Encoding Method specified in Request")
	errInvalidListType      = newFault(http.StatusBadRequest, "InvalidArgument", "Invalid List Type specified in Request")
	errPolicyTooLarge       = newFault(http.StatusBadRequest, "MalformedPolicy", "Policy exceeds the maximum allowed document size.")
	errPolicyPrincipal      = newFault(http.StatusBadRequest, "MalformedPolicy", "Invalid principal in policy")
	errPolicyResource       = newFault(http.StatusBadRequest, "MalformedPolicy", "Policy has invalid resource")
	errPolicyAction         = newFault(http.StatusBadRequest, "MalformedPolicy", "Policy has invalid action")
	errPolicyActionResource = newFault(http.StatusBadRequest, "MalformedPolicy", "Action does not apply to any resource(s) in statement")
)

// unsupported refuses what S3 can do and this server cannot, by name.
func unsupported(what string) *fault {
	return errNotImplemented.saying("This local AWS does not implement the S3 operation or option " + what + ". Leave it out, or test it against AWS.")
}
