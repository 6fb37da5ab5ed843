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
)

// Error is a refusal.
type Error struct {
	Kind Kind
	// Detail is a sentence for the caller; it holds no secret.
	Detail string
}

// Error is the detail.
func (e *Error) Error() string { return e.Detail }

func broken(detail string) *Error { return &Error{Kind: Broken, Detail: detail} }
