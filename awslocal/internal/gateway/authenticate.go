package gateway

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
)

// authenticate proves who signed, verifies the body against its hash, and fills
// in the call's payload.
func (g *Gateway) authenticate(c *call.Call, service string, signature *sigv4.Signature, body []byte) (call.Credential, *sigv4.Error) {
	credential := anonymous()
	secret := ""
	if signature != nil {
		// The journal tells of refused calls too where they were meant to go.
		c.Entry.AccessKeyID, c.Entry.Region = signature.KeyID, signature.Region
		found, problem := g.check(c, service, signature, body)
		if problem != nil {
			return credential, problem
		}
		credential, secret = found, found.Secret
		c.Region = signature.Region
		c.Entry.Caller = found.Caller.Principal.ARN
		if found.Used != nil {
			found.Used(service, signature.Region, c.Now)
		}
	}
	return credential, fillPayload(c, service, signature, secret, body)
}

// check makes all checks of a signature, in the order in which AWS's answers
// show them.
func (g *Gateway) check(c *call.Call, service string, signature *sigv4.Signature, body []byte) (call.Credential, *sigv4.Error) {
	credential, known := g.lookup(signature.KeyID)
	if !known || !g.reaches(credential, service, signature.Region) {
		return credential, &sigv4.Error{Kind: sigv4.UnknownKey}
	}
	if signature.Token == "" && credential.Token != "" {
		// A temporary key is unknown without its token.
		return credential, &sigv4.Error{Kind: sigv4.UnknownKey}
	}
	if subtle.ConstantTimeCompare([]byte(signature.Token), []byte(credential.Token)) != 1 {
		return credential, &sigv4.Error{Kind: sigv4.WrongToken}
	}
	for _, err := range []error{signature.CheckScope(service), signature.CheckTime(g.options.Signatures())} {
		var problem *sigv4.Error
		if errors.As(err, &problem) {
			return credential, problem
		}
	}
	if problem := g.checkRegion(c.HTTP, signature); problem != nil {
		return credential, problem
	}
	hash, problem := payloadHash(c.HTTP, service, signature, body)
	if problem != nil {
		return credential, problem
	}
	if !signature.Matches(c.HTTP, credential.Secret, hash) {
		return credential, &sigv4.Error{Kind: sigv4.Mismatch}
	}
	if !credential.Expires.IsZero() && !g.options.Credentials().Before(credential.Expires) {
		return credential, &sigv4.Error{Kind: sigv4.SessionOver}
	}
	return credential, nil
}

// reaches says whether a region knows an account's keys: those of its own
// partition that the account has not disabled. To a region that is not enabled AWS
// does not distribute what IAM has (AWS Account Management, "Enable or disable AWS
// Regions"). IAM itself has no regions.
func (g *Gateway) reaches(credential call.Credential, service, region string) bool {
	if partition.Of(region) != partition.Of(g.options.Region) {
		return false
	}
	return service == "iam" || g.options.Regions.Enabled(credential.Caller.Principal.AccountID, region)
}

func (g *Gateway) lookup(keyID string) (call.Credential, bool) {
	for _, keyring := range g.options.Keyrings {
		if credential, known := keyring.Lookup(keyID); known {
			return credential, true
		}
	}
	return call.Credential{}, false
}

const hashHeader = "X-Amz-Content-Sha256"

// givenHash is what a request says of its payload. A presigned URL may say it in
// its query.
func givenHash(r *http.Request) string {
	if given := r.Header.Get(hashHeader); given != "" {
		return given
	}
	return r.URL.Query().Get(hashHeader)
}

// payloadHash is the text that was signed for the payload. Only Amazon S3 takes
// the client's word for it, and verifies the payload afterwards.
func payloadHash(r *http.Request, service string, signature *sigv4.Signature, body []byte) (string, *sigv4.Error) {
	given := givenHash(r)
	if service != "s3" {
		return sigv4.Hash(body), nil
	}
	if name := signature.Unsigned(r.Header); name != "" {
		return "", &sigv4.Error{Kind: sigv4.HeaderUnsigned, Detail: name}
	}
	if given != "" && given != sigv4.UnsignedPayload && !sigv4.IsStreaming(given) && !sigv4.IsHash(given) {
		return "", &sigv4.Error{Kind: sigv4.HashMalformed}
	}
	if given != "" {
		return given, nil
	}
	if signature.Presigned {
		return sigv4.UnsignedPayload, nil
	}
	return "", &sigv4.Error{Kind: sigv4.HashMissing}
}

// fillPayload verifies the body against the hash that was signed for it, and
// takes it out of its chunks.
func fillPayload(c *call.Call, service string, signature *sigv4.Signature, secret string, body []byte) *sigv4.Error {
	c.Payload = body
	given := givenHash(c.HTTP)
	switch {
	case service == "s3" && sigv4.IsStreaming(given):
		return decode(c, given, signature, secret, body)
	case given == "" || service == "s3" && given == sigv4.UnsignedPayload:
	case given != sigv4.Hash(body):
		return &sigv4.Error{Kind: sigv4.BodyMismatch, Detail: "The body has another hash than x-amz-content-sha256."}
	}
	if len(c.Payload) > MaxPayload {
		return tooLarge(MaxPayload)
	}
	return nil
}

func decode(c *call.Call, mode string, signature *sigv4.Signature, secret string, body []byte) *sigv4.Error {
	header := c.HTTP.Header
	if signature == nil && mode != sigv4.UnsignedTrailer {
		return &sigv4.Error{Kind: sigv4.Broken, Detail: "The chunks are said to be signed, and the request is not."}
	}
	length, err := strconv.ParseInt(header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	if length > MaxPayload {
		return tooLarge(MaxPayload)
	}
	chunks := &sigv4.Chunks{Mode: mode, DecodedLength: length, Signature: signature, Secret: secret}
	payload, trailer, err := chunks.Decode(body)
	var problem *sigv4.Error
	if errors.As(err, &problem) {
		return problem
	}
	if len(payload) < free {
		// Services may keep a payload; of a small one the frames would be a large
		// part.
		payload = bytes.Clone(payload)
	}
	c.Payload, c.Trailer = payload, trailer
	dropChunkedEncoding(header)
	return nil
}

func tooLarge(limit int64) *sigv4.Error {
	return &sigv4.Error{Kind: sigv4.TooLarge, Values: []any{limit}, Detail: fmt.Sprintf("The payload is larger than %d bytes.", limit)}
}

// dropChunkedEncoding takes "aws-chunked", which belongs to the transport, out
// of the content's own encodings.
func dropChunkedEncoding(header http.Header) {
	kept := []string{}
	for part := range strings.SplitSeq(header.Get("Content-Encoding"), ",") {
		if part = strings.TrimSpace(part); part != "" && part != "aws-chunked" {
			kept = append(kept, part)
		}
	}
	header.Del("Content-Encoding")
	if len(kept) > 0 {
		header.Set("Content-Encoding", strings.Join(kept, ","))
	}
}
