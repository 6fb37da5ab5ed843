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
	"sync"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// sums are an object's MD5, which is its ETag, and its checksum.
type sums struct {
	md5 [md5.Size]byte
	// algorithm is the checksum's, in lower case, and checksum its bytes. S3 sums
	// by CRC-64/NVME where the client chose nothing.
	algorithm, checksum string
}

// etag is the quoted MD5.
func (s sums) etag() string { return `"` + hex.EncodeToString(s.md5[:]) + `"` }

// text is the checksum as it stands in headers and documents.
func (s sums) text() string { return base64.StdEncoding.EncodeToString([]byte(s.checksum)) }

// show puts the checksum into an answer's headers.
func (s sums) show(header http.Header) {
	header.Set(checksumHeader+s.algorithm, s.text())
	header.Set(checksumHeader+"Type", "FULL_OBJECT")
}

// sumUp sums a body. The algorithm must be a known one.
func sumUp(body []byte, algorithm string) sums {
	h := algorithms[algorithm]()
	// A hash's Write never fails.
	_, _ = h.Write(body)
	return sums{md5: md5.Sum(body), algorithm: algorithm, checksum: string(h.Sum(nil))}
}

// digest are the sums of a payload.
type digest struct {
	sums
	// promised says that the client sent a sum and that it was right.
	promised bool
}

// defaultAlgorithm is what S3 sums by itself since December 2024.
const defaultAlgorithm = "crc64nvme"

// nvme is the table of CRC-64/NVME, whose polynomial is written reflected. The first sum makes
// it, since the commands that are in the same program need none.
var nvme = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(0x9a6c9329ac4bc9b5) })

// algorithms are the checksums of S3 that this server knows.
var algorithms = map[string]func() hash.Hash{
	"crc32":          func() hash.Hash { return crc32.NewIEEE() },
	"crc32c":         func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	defaultAlgorithm: func() hash.Hash { return crc64.New(nvme()) },
	"sha1":           sha1.New,
	"sha256":         sha256.New,
}

const checksumHeader = "X-Amz-Checksum-"

// notSums are headers that begin like a checksum and are none.
var notSums = []string{"algorithm", "mode", "type"}

// sum sums a call's payload and compares with what the client promised.
func sum(c *call.Call) (digest, *fault) {
	algorithm, want, f := promise(c)
	if f != nil {
		return digest{}, f
	}
	used := algorithm
	if used == "" {
		used = defaultAlgorithm
	}
	d := digest{sums: sumUp(c.Payload, used)}
	if values := c.HTTP.Header.Values("Content-Md5"); len(values) > 0 {
		given, err := base64.StdEncoding.DecodeString(values[0])
		if err != nil || len(given) != md5.Size {
			return d, errInvalidDigest
		}
		if !bytes.Equal(given, d.md5[:]) {
			return d, errBadDigest
		}
		d.promised = true
	}
	if algorithm == "" {
		return d, nil
	}
	given, err := base64.StdEncoding.DecodeString(want)
	if err != nil || len(given) != len(d.checksum) {
		return d, errInvalidRequest.saying("Value for x-amz-checksum-" + algorithm + " header is invalid.")
	}
	if string(given) != d.checksum {
		return d, errBadDigest.saying("The " + strings.ToUpper(algorithm) + " you specified did not match the calculated checksum.")
	}
	d.promised = true
	return d, nil
}

// promise finds the checksum that the client sent, in a header or, where the
// x-amz-trailer header announces it, in the trailer.
func promise(c *call.Call) (algorithm, value string, f *fault) {
	sums := checksums(c.HTTP.Header)
	announcedTrailers := strings.Split(strings.Join(c.HTTP.Header.Values("X-Amz-Trailer"), ","), ",")
	for i, name := range announcedTrailers {
		announcedTrailers[i] = http.CanonicalHeaderKey(strings.TrimSpace(name))
	}
	for name := range c.Trailer {
		if !slices.Contains(announcedTrailers, name) {
			return "", "", errMalformedTrailer
		}
	}
	for _, name := range announcedTrailers {
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
