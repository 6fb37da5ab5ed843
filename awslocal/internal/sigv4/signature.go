// Package sigv4 verifies AWS Signature Version 4: signed requests, presigned
// URLs, and bodies that come in signed chunks. It knows no accounts: the caller
// looks up the secret of the key that a request names.
package sigv4

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Algorithm is the one signing algorithm that is verified.
const Algorithm = "AWS4-HMAC-SHA256"

const (
	timeLayout = "20060102T150405Z"
	dayLayout  = "20060102"
	terminator = "aws4_request"
)

// Signature is what a request says of its own signature. Nothing in it is
// proven before Matches is true.
type Signature struct {
	// KeyID is the access key that signed.
	KeyID string
	// Time is when the request was signed.
	Time time.Time
	// Day, Region and Service are the credential's scope.
	Day, Region, Service string
	// Signed are the names of the signed headers, in the order given.
	Signed []string
	// Sum is the signature in hexadecimal, as it was given.
	Sum string
	// Token is the session token that came with the request, empty for none.
	Token string
	// Presigned is true when the signature came in the query.
	Presigned bool
	// Expires is how long a presigned URL is good for.
	Expires time.Duration
}

// Read takes a request's signature from its Authorization header or its query.
// It returns nil and no error for an unsigned request, and an *Error for one
// that tries to be signed and fails.
func Read(r *http.Request) (*Signature, error) {
	query := r.URL.Query()
	headers := r.Header.Values("Authorization")
	presigned := query.Has("X-Amz-Algorithm") || query.Has("X-Amz-Credential") || query.Has("X-Amz-Signature")
	switch {
	case len(headers) > 1, len(headers) == 1 && presigned:
		return nil, broken(Twice, "The request carries more than one signature; send one Authorization header, or X-Amz-Algorithm in the query.")
	case len(headers) == 1:
		return fromHeader(r, headers[0])
	case presigned:
		return fromQuery(query)
	case query.Has("AWSAccessKeyId") && query.Has("Signature"):
		return nil, unsupported()
	}
	return nil, nil
}

// unsupported refuses other algorithms, among them those of earlier versions.
func unsupported() *Error {
	return &Error{Kind: Unsupported, Detail: "The authorization mechanism you have provided is not supported. Please use " + Algorithm + "."}
}

func fromHeader(r *http.Request, header string) (*Signature, error) {
	algorithm, rest, _ := strings.Cut(header, " ")
	if algorithm != Algorithm {
		return nil, unsupported()
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if _, twice := fields[name]; !ok || twice {
			return nil, broken(Credential, "Authorization header holds a part that is not NAME=VALUE, or one twice.")
		}
		fields[name] = value
	}
	for _, name := range []string{"Credential", "Signature", "SignedHeaders"} {
		if fields[name] == "" {
			return nil, broken(Credential, "Authorization header requires '"+name+"' parameter.")
		}
	}
	when, err := signingTime(r.Header)
	if err != nil {
		return nil, err
	}
	s := &Signature{Time: when, Sum: fields["Signature"], Token: r.Header.Get("X-Amz-Security-Token")}
	return s, s.fill(fields["Credential"], fields["SignedHeaders"])
}

func signingTime(header http.Header) (time.Time, error) {
	if text := header.Get("X-Amz-Date"); text != "" {
		when, err := time.Parse(timeLayout, text)
		if err != nil {
			return when, broken(DateMissing, "Date must be in ISO-8601 'basic format'. Got '"+text+"'.")
		}
		return when, nil
	}
	text := header.Get("Date")
	if when, err := http.ParseTime(text); err == nil {
		return when.UTC(), nil
	}
	when, err := time.Parse(timeLayout, text)
	if err != nil {
		return when, broken(DateMissing, "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
	}
	return when, nil
}

func fromQuery(query url.Values) (*Signature, error) {
	for _, name := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature"} {
		if len(query[name]) != 1 || query.Get(name) == "" {
			return nil, presigned(broken(Parameters, "Query string requires exactly one '"+name+"' parameter."))
		}
	}
	if query.Get("X-Amz-Algorithm") != Algorithm {
		return nil, presigned(unsupported())
	}
	when, err := time.Parse(timeLayout, query.Get("X-Amz-Date"))
	if err != nil {
		return nil, presigned(broken(Date, "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"."))
	}
	s := &Signature{Time: when, Sum: query.Get("X-Amz-Signature"), Token: query.Get("X-Amz-Security-Token"), Presigned: true}
	if problem := s.fill(query.Get("X-Amz-Credential"), query.Get("X-Amz-SignedHeaders")); problem != nil {
		return s, problem
	}
	return s, s.readExpiry(query["X-Amz-Expires"])
}

// maxExpiry is how long a presigned URL is good for at most.
const maxExpiry = 7 * 24 * time.Hour

// readExpiry reads X-Amz-Expires, without which only Amazon S3 refuses a URL.
func (s *Signature) readExpiry(values []string) error {
	if len(values) == 0 && s.Service != "s3" {
		return nil
	}
	if len(values) != 1 {
		return presigned(broken(Parameters, "Query string requires exactly one 'X-Amz-Expires' parameter."))
	}
	const detail = "X-Amz-Expires must be a number of seconds from 0 to 604800."
	seconds, err := strconv.ParseInt(values[0], 10, 32)
	switch {
	case err != nil:
		return presigned(broken(ExpiryNumber, detail))
	case seconds < 0:
		return presigned(broken(ExpiryNegative, detail))
	case time.Duration(seconds)*time.Second > maxExpiry:
		return presigned(broken(ExpiryLong, detail))
	}
	s.Expires = time.Duration(seconds) * time.Second
	return nil
}

func presigned(e *Error) *Error {
	e.Presigned = true
	return e
}

// fill reads the two composed parts that both forms share.
func (s *Signature) fill(credential, signed string) error {
	refuse := func(part Part, detail string, values ...any) error {
		return &Error{Kind: Broken, Part: part, Detail: detail, Values: values, Presigned: s.Presigned}
	}
	parts := strings.Split(credential, "/")
	if len(parts) != 5 || parts[0] == "" {
		return refuse(Credential, "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term.")
	}
	s.KeyID, s.Day, s.Region, s.Service = parts[0], parts[1], parts[2], parts[3]
	if parts[4] != terminator {
		return refuse(Terminator, "Credential should be scoped with a valid terminator: '"+terminator+"'.", parts[4])
	}
	if sum, err := hex.DecodeString(s.Sum); err != nil || len(sum) != sha256.Size {
		return refuse(0, "The signature is not 64 hexadecimal digits.")
	}
	s.Signed = strings.Split(signed, ";")
	if !s.signs("host") {
		return refuse(0, "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
	}
	return nil
}

func (s *Signature) signs(header string) bool {
	return slices.Contains(s.Signed, header)
}

// Unsigned names a header of the x-amz- family that the request carries and the
// signature does not cover, or is empty. Amazon S3 refuses such requests.
func (s *Signature) Unsigned(header http.Header) string {
	for name := range header {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "x-amz-") && !s.signs(lower) {
			return lower
		}
	}
	return ""
}

// Scope is the credential's scope as it is signed.
func (s *Signature) Scope() string {
	return s.Day + "/" + s.Region + "/" + s.Service + "/" + terminator
}
