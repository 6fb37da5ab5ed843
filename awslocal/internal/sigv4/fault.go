package sigv4

// Kind is a class of refusal. Each service has a code and a text of its own for
// each kind.
type Kind int

// The kinds of refusal.
const (
	// Broken is a signature whose parts cannot be read.
	Broken Kind = iota + 1
	// Unsupported is another signing algorithm than Algorithm.
	Unsupported
	// Early and Late are a clock too far from the server's.
	Early
	Late
	// Expired is a presigned URL after its time.
	Expired
	// Scope is a credential's scope that does not fit the request.
	Scope
	// Mismatch is a signature that the secret does not give.
	Mismatch
	// BodyMismatch is a body that has not the hash that was signed.
	BodyMismatch
	// BodyIncomplete is a chunked body that ends early or is malformed.
	BodyIncomplete
	// LengthMissing is a chunked body without x-amz-decoded-content-length.
	LengthMissing

	// The kinds below are found by whoever knows the accounts and reads the
	// bodies.

	// Unsigned is a request that had to be signed.
	Unsigned
	// UnknownKey is an access key that nobody has.
	UnknownKey
	// WrongToken is a session token that is not its key's.
	WrongToken
	// SessionOver is a temporary key after its expiry.
	SessionOver
	// HashMissing is a request to Amazon S3 without x-amz-content-sha256.
	HashMissing
	// HeaderUnsigned is an x-amz- header that the signature leaves out.
	HeaderUnsigned
	// TooLarge is a body over the server's limit.
	TooLarge
	// HashMalformed is an x-amz-content-sha256 that is neither a hash nor one of
	// the constants.
	HashMalformed
	// ChunkTooSmall is a chunk, and not the last one, of less than minChunk.
	ChunkTooSmall
	// Busy is a body that the server has no room for now.
	Busy
)

// Part is the part of a signature that is at fault, for services that have a
// text for each. Zero means that there is nothing more to say than the Kind.
type Part int

// The parts of a signature. In brackets are the Values of the Error.
const (
	// Parameters are the query parameters of a presigned URL: one is missing.
	Parameters Part = iota + 1
	// Twice is a request that is signed in its header and in its query.
	Twice
	// Credential is a credential that has not five elements.
	Credential
	// Terminator is the credential's last element [which it is].
	Terminator
	// Day is the credential's day [which it is, the date].
	Day
	// Region is the credential's region, which is empty.
	Region
	// WrongRegion is the credential's region [which it is, the one expected].
	WrongRegion
	// Service is the credential's service [which it is, the one asked].
	Service
	// Date is a date that is none, DateMissing one that is not there.
	Date
	DateMissing
	// ExpiryNumber, ExpiryNegative and ExpiryLong are X-Amz-Expires.
	ExpiryNumber
	ExpiryNegative
	ExpiryLong
)

// Error is a refusal.
type Error struct {
	Kind Kind
	// Detail is a sentence for the caller; it holds no secret.
	Detail string
	// Part says more, and Values are what was found there. Without a Part they
	// are the limit of TooLarge, the request's date, the server's and the allowed
	// milliseconds of Early and Late, and the seconds, end and server's date of
	// Expired.
	Part   Part
	Values []any
	// Presigned says that the signature came in the query.
	Presigned bool
}

// Error is the detail.
func (e *Error) Error() string { return e.Detail }

func broken(part Part, detail string) *Error { return &Error{Kind: Broken, Part: part, Detail: detail} }
