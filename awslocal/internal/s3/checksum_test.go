package s3

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

func sha256Of(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// TestChecksumVectors compares with the check values of the catalogue of CRCs
// and of the hashes' own standards, for "123456789".
func TestChecksumVectors(t *testing.T) {
	for algorithm, want := range map[string]string{
		"crc32": "y/Q5Jg==", "crc32c": "4waSgw==", "crc64nvme": "rosUhgp5mIg=",
		"sha1": "98O8HYCOBHMq32eZZczDTKeuNEE=", "sha256": "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
	} {
		t.Run(algorithm, func(t *testing.T) {
			h := algorithms[algorithm]()
			_, _ = h.Write([]byte("123456789"))
			if got := base64.StdEncoding.EncodeToString(h.Sum(nil)); got != want {
				t.Errorf("sum %s, want %s", got, want)
			}
		})
	}
}

func TestChecksums(t *testing.T) {
	header := func(pairs ...string) ask {
		a := ask{body: "123456789", header: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			a.header[pairs[i]] = pairs[i+1]
		}
		return a
	}
	trailer := func(a ask, name, value string) ask {
		a.trailer = map[string]string{name: value}
		return a
	}
	unannounced := header()
	unannounced.trailer = map[string]string{"x-amz-checksum-crc32": "y/Q5Jg=="}
	check(t, map[string]row{
		"a trailer that was not announced":          {line: "PUT /docs/x", ask: unannounced, status: 400, code: "MalformedTrailerError"},
		"Content-MD5 that is right":                 {line: "PUT /docs/x", ask: header("Content-MD5", "JfnnlDI7RTiF9RgfG2JNCw=="), status: 200},
		"Content-MD5 that is wrong":                 {line: "PUT /docs/x", ask: header("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="), status: 400, code: "BadDigest", message: "The Content-MD5 you specified did not match what we received."},
		"Content-MD5 that is no MD5":                {line: "PUT /docs/x", ask: header("Content-MD5", "AAAA"), status: 400, code: "InvalidDigest"},
		"a CRC-32 header that is right":             {line: "PUT /docs/x", ask: header("x-amz-checksum-crc32", "y/Q5Jg=="), status: 200, header: map[string]string{"x-amz-checksum-crc32": "y/Q5Jg=="}},
		"a CRC-32 header that is wrong":             {line: "PUT /docs/x", ask: header("x-amz-checksum-crc32", "AAAAAA=="), status: 400, code: "BadDigest", message: "The CRC32 you specified did not match the calculated checksum."},
		"a CRC-32 header that is none":              {line: "PUT /docs/x", ask: header("x-amz-checksum-crc32", "zzz"), status: 400, code: "InvalidRequest", message: "Value for x-amz-checksum-crc32 header is invalid."},
		"a SHA-256 of the wrong length":             {line: "PUT /docs/x", ask: header("x-amz-checksum-sha256", "y/Q5Jg=="), status: 400, code: "InvalidRequest"},
		"two checksums":                             {line: "PUT /docs/x", ask: header("x-amz-checksum-crc32", "y/Q5Jg==", "x-amz-checksum-crc32c", "4waSgw=="), status: 400, code: "InvalidRequest", message: "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed."},
		"an algorithm that there is not":            {line: "PUT /docs/x", ask: header("x-amz-checksum-crc16", "AAA="), status: 400, code: "InvalidRequest"},
		"an announced algorithm without sum":        {line: "PUT /docs/x", ask: header("x-amz-sdk-checksum-algorithm", "CRC32"), status: 400, code: "InvalidRequest"},
		"an announced algorithm that is none":       {line: "PUT /docs/x", ask: header("x-amz-sdk-checksum-algorithm", "ROT13"), status: 400, code: "InvalidRequest"},
		"an announced algorithm with another":       {line: "PUT /docs/x", ask: header("x-amz-sdk-checksum-algorithm", "SHA1", "x-amz-checksum-crc32", "y/Q5Jg=="), status: 400, code: "InvalidRequest"},
		"a trailer that is right":                   {line: "PUT /docs/x", ask: trailer(header("x-amz-trailer", "x-amz-checksum-crc32", "x-amz-sdk-checksum-algorithm", "CRC32"), "x-amz-checksum-crc32", "y/Q5Jg=="), status: 200, header: map[string]string{"x-amz-checksum-crc32": "y/Q5Jg=="}},
		"a trailer that is wrong":                   {line: "PUT /docs/x", ask: trailer(header("x-amz-trailer", "x-amz-checksum-crc32"), "x-amz-checksum-crc32", "AAAAAA=="), status: 400, code: "BadDigest"},
		"a trailer that was announced and not sent": {line: "PUT /docs/x", ask: header("x-amz-trailer", "x-amz-checksum-crc32"), status: 400, code: "MalformedTrailerError"},
		"a wrong sum of a configuration":            {line: "PUT /docs?policy", ask: header("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="), status: 400, code: "BadDigest"},
	})
}

func TestTheClientsChecksumIsKept(t *testing.T) {
	s := stocked(t)
	must(t, s, "PUT /docs/x", ask{body: "123456789", header: map[string]string{"x-amz-checksum-sha1": "98O8HYCOBHMq32eZZczDTKeuNEE="}})
	got := must(t, s, "HEAD /docs/x", ask{header: map[string]string{"x-amz-checksum-mode": "ENABLED"}}).Header()
	if got.Get("x-amz-checksum-sha1") != "98O8HYCOBHMq32eZZczDTKeuNEE=" || got.Get("x-amz-checksum-crc64nvme") != "" {
		t.Errorf("headers are %v", got)
	}
}

// FuzzServe throws paths, queries, headers and bodies at a Service: it answers
// each with an HTTP status and never panics.
func FuzzServe(f *testing.F) {
	f.Add("GET", "/docs/a.txt", "", "Range", "bytes=-1", "")
	f.Add("PUT", "/docs", "policy", "Content-Md5", "x", `{"Statement":[]}`)
	f.Add("POST", "/docs", "delete", "X-Amz-Checksum-Crc32", "AAAAAA==", "<Delete><Object><Key>a</Key></Object></Delete>")
	f.Add("GET", "/docs", "list-type=2&continuation-token=cGE=&delimiter=/", "Host", "docs.127.0.0.1", "")
	f.Add("PUT", "/docs", "tagging", "X-Amz-Trailer", "x-amz-checksum-", "<Tagging><TagSet/></Tagging>")
	f.Add("PUT", "/docs/b", "", "X-Amz-Copy-Source", "docs/a.txt", "")
	f.Add("PUT", "/docs/a.txt", "", "X-Amz-Tagging", "a=b&c=%20", "body")
	f.Add("GET", "/docs", "marker=a&prefix=dir/&delimiter=/&max-keys=1&encoding-type=url", "", "", "")
	f.Add("PUT", "/v20180820/configuration/publicAccessBlock", "", "X-Amz-Account-Id", ours, openAll)
	f.Add("GET", "/", "max-buckets=1&prefix=d", "X-Amz-Expected-Bucket-Owner", ours, "")
	f.Fuzz(func(t *testing.T, method, path, query, header, value, body string) {
		s := stocked(t)
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", http.NoBody)
		r.Method, r.URL.Path, r.URL.RawQuery = method, path, query
		r.Host = value
		r.Header[http.CanonicalHeaderKey(header)] = []string{value}
		w := httptest.NewRecorder()
		s.Serve(w, &call.Call{
			HTTP: r, Payload: []byte(body), Region: "us-east-1", Now: noon,
			Caller: call.Caller{Principal: alice}, Authorize: allowAll,
		})
		if w.Code < 200 || w.Code > 599 {
			t.Errorf("status %d", w.Code)
		}
	})
}
