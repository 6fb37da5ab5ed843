// Package sigv4 verifies AWS Signature Version 4: signed requests, presigned
// URLs, and bodies that come in signed chunks. It knows no accounts: the caller
// looks up the secret of the key that a request names.
package sigv4

import (
	"encoding/hex"
	"net/http"
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
	// Sum is the signature in lower-case hexadecimal.
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
	header := r.Header.Get("Authorization")
	switch {
	case header != "" && query.Has("X-Amz-Algorithm"):
		return nil, broken("The request carries both an Authorization header and X-Amz-Algorithm in its query; send one of them.")
	case header != "":
		return fromHeader(r, header)
	case query.Has("X-Amz-Algorithm"):
		return fromQuery(query)
	}
	return nil, nil
}

func fromHeader(r *http.Request, header string) (*Signature, error) {
	algorithm, rest, _ := strings.Cut(header, " ")
	if algorithm != Algorithm {
		return nil, &Error{Kind: Unsupported, Detail: "The authorization mechanism you have provided is not supported. Please use " + Algorithm + "."}
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return nil, broken("Authorization header holds a part that is not NAME=VALUE.")
		}
		fields[name] = value
	}
	for _, name := range []string{"Credential", "Signature", "SignedHeaders"} {
		if fields[name] == "" {
			return nil, broken("Authorization header requires '" + name + "' parameter.")
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
			return when, broken("Date must be in ISO-8601 'basic format'. Got '" + text + "'.")
		}
		return when, nil
	}
	text := header.Get("Date")
	if when, err := http.ParseTime(text); err == nil {
		return when.UTC(), nil
	}
	when, err := time.Parse(timeLayout, text)
	if err != nil {
		return when, broken("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
	}
	return when, nil
}

func fromQuery(query map[string][]string) (*Signature, error) {
	get := func(name string) string {
		if values := query[name]; len(values) == 1 {
			return values[0]
		}
		return ""
	}
	if get("X-Amz-Algorithm") != Algorithm {
		return nil, &Error{Kind: Unsupported, Detail: "X-Amz-Algorithm only supports \"" + Algorithm + "\"."}
	}
	for _, name := range []string{"X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature"} {
		if get(name) == "" {
			return nil, broken("Query string requires exactly one '" + name + "' parameter.")
		}
	}
	when, err := time.Parse(timeLayout, get("X-Amz-Date"))
	if err != nil {
		return nil, broken("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\".")
	}
	s := &Signature{Time: when, Sum: get("X-Amz-Signature"), Token: get("X-Amz-Security-Token"), Presigned: true}
	if text := get("X-Amz-Expires"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 0 || seconds > 604800 {
			return nil, broken("X-Amz-Expires must be a number of seconds from 0 to 604800.")
		}
		s.Expires = time.Duration(seconds) * time.Second
	}
	return s, s.fill(get("X-Amz-Credential"), get("X-Amz-SignedHeaders"))
}

// fill reads the two composed parts that both forms share.
func (s *Signature) fill(credential, signed string) error {
	parts := strings.Split(credential, "/")
	if len(parts) != 5 || parts[0] == "" {
		return broken("Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term.")
	}
	s.KeyID, s.Day, s.Region, s.Service = parts[0], parts[1], parts[2], parts[3]
	if parts[4] != terminator {
		return broken("Credential should be scoped with a valid terminator: '" + terminator + "'.")
	}
	if sum, err := hex.DecodeString(s.Sum); err != nil || len(sum) != 32 {
		return broken("The signature is not 64 hexadecimal digits.")
	}
	s.Signed = strings.Split(strings.ToLower(signed), ";")
	if !s.signs("host") {
		return broken("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
	}
	return nil
}

func (s *Signature) signs(header string) bool {
	for _, name := range s.Signed {
		if name == header {
			return true
		}
	}
	return false
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
