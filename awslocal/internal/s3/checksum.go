package s3

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// digest are the sums of a payload.
type digest struct {
	// etag is the quoted MD5.
	etag string
	// algorithm is the checksum's, in lower case, and checksum its value in
	// base64. S3 sums by CRC-64/NVME where the client chose nothing.
	algorithm, checksum string
	// promised says that the client sent a sum and that it was right.
	promised bool
}

// defaultAlgorithm is what S3 sums by itself since December 2024.
const defaultAlgorithm = "crc64nvme"

// nvme is the polynomial of CRC-64/NVME, reflected.
var nvme = crc64.MakeTable(0x9a6c9329ac4bc9b5)

// algorithms are the checksums of S3 that this server knows.
var algorithms = map[string]func() hash.Hash{
	"crc32":          func() hash.Hash { return crc32.NewIEEE() },
	"crc32c":         func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	defaultAlgorithm: func() hash.Hash { return crc64.New(nvme) },
	"sha1":           sha1.New,
	"sha256":         sha256.New,
}

const checksumHeader = "X-Amz-Checksum-"

// notSums are headers that begin like a checksum and are none.
var notSums = []string{"algorithm", "mode", "type"}

// sum sums a call's payload and compares with what the client promised.
func sum(c *call.Call) (digest, *fault) {
	etag := md5.Sum(c.Payload)
	d := digest{etag: `"` + hex.EncodeToString(etag[:]) + `"`, algorithm: defaultAlgorithm}
	if values := c.HTTP.Header.Values("Content-Md5"); len(values) > 0 {
		want, err := base64.StdEncoding.DecodeString(values[0])
		if err != nil || len(want) != md5.Size {
			return d, errInvalidDigest
		}
		if !bytes.Equal(want, etag[:]) {
			return d, errBadDigest
		}
		d.promised = true
	}
	algorithm, want, f := promise(c)
	if f != nil {
		return d, f
	}
	if algorithm != "" {
		d.algorithm = algorithm
	}
	h := algorithms[d.algorithm]()
	// A hash's Write never fails.
	_, _ = h.Write(c.Payload)
	got := h.Sum(nil)
	d.checksum = base64.StdEncoding.EncodeToString(got)
	if algorithm == "" {
		return d, nil
	}
	raw, err := base64.StdEncoding.DecodeString(want)
	if err != nil || len(raw) != len(got) {
		return d, errInvalidRequest.saying("Value for x-amz-checksum-" + algorithm + " header is invalid.")
	}
	if !bytes.Equal(raw, got) {
		return d, errBadDigest.saying("The " + strings.ToUpper(algorithm) + " you specified did not match the calculated checksum.")
	}
	d.promised = true
	return d, nil
}

// promise finds the checksum that the client sent, in a header or, where the
// x-amz-trailer header announces it, in the trailer.
func promise(c *call.Call) (algorithm, value string, f *fault) {
	sums := checksums(c.HTTP.Header)
	for _, name := range c.HTTP.Header.Values("X-Amz-Trailer") {
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		if !strings.HasPrefix(name, checksumHeader) {
			continue
		}
		if c.Trailer.Get(name) == "" {
			return "", "", errMalformedTrailer
		}
		sums = append(sums, keyValue{sumName(name), c.Trailer.Get(name)})
	}
	if len(sums) > 1 {
		return "", "", errManyChecksums
	}
	announced := c.HTTP.Header.Get("X-Amz-Sdk-Checksum-Algorithm")
	if announced != "" && algorithms[strings.ToLower(announced)] == nil {
		return "", "", errUnknownSDKChecksum
	}
	if len(sums) == 0 {
		if announced != "" {
			return "", "", errChecksumNotSent
		}
		return "", "", nil
	}
	if algorithms[sums[0].key] == nil {
		return "", "", errUnknownChecksum
	}
	if announced != "" && !strings.EqualFold(announced, sums[0].key) {
		return "", "", errUnknownSDKChecksum
	}
	return sums[0].key, sums[0].value, nil
}

// checksums are the checksum headers, by algorithm.
func checksums(header http.Header) []keyValue {
	var found []keyValue
	for name, values := range header {
		algorithm := sumName(name)
		if !strings.HasPrefix(name, checksumHeader) || slices.Contains(notSums, algorithm) {
			continue
		}
		for _, value := range values {
			found = append(found, keyValue{algorithm, value})
		}
	}
	return found
}

func sumName(header string) string {
	return strings.ToLower(strings.TrimPrefix(header, checksumHeader))
}

// show puts the checksum into an answer's headers.
func (d digest) show(header http.Header) {
	header.Set(checksumHeader+d.algorithm, d.checksum)
	header.Set(checksumHeader+"Type", "FULL_OBJECT")
}
