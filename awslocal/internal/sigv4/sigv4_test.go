package sigv4

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The keys and signatures are those of AWS's own documentation, so that this
// package is not proved by itself.
const (
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	suiteSecret   = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

func request(method, url string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, url, http.NoBody)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		r.Header.Add(name, value)
	}
	return r
}

func authorization(credential, signed, signature string) string {
	return "Authorization:" + Algorithm + " Credential=" + credential + ",SignedHeaders=" + signed + ", Signature=" + signature
}

func TestSignaturesOfAWSsDocumentationMatch(t *testing.T) {
	empty := Hash(nil)
	cases := map[string]struct {
		request      *http.Request
		secret, hash string
	}{
		"the test suite's simplest request": {
			request("GET", "http://example.amazonaws.com/", "X-Amz-Date:20150830T123600Z",
				authorization("AKIDEXAMPLE/20150830/us-east-1/service/aws4_request", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")),
			suiteSecret, empty,
		},
		"IAM ListUsers": {
			request("GET", "http://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", "X-Amz-Date:20150830T123600Z", "Content-Type:application/x-www-form-urlencoded; charset=utf-8",
				authorization("AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request", "content-type;host;x-amz-date", "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")),
			suiteSecret, empty,
		},
		"S3 GetObject with a range": {
			request("GET", "http://examplebucket.s3.amazonaws.com/test.txt", "Range:bytes=0-9", "X-Amz-Date:20130524T000000Z", "X-Amz-Content-Sha256:"+empty,
				authorization("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request", "host;range;x-amz-content-sha256;x-amz-date", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")),
			exampleSecret, empty,
		},
		"S3 list with a query": {
			request("GET", "http://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "X-Amz-Date:20130524T000000Z", "X-Amz-Content-Sha256:"+empty,
				authorization("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request", "host;x-amz-content-sha256;x-amz-date", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")),
			exampleSecret, empty,
		},
		"a presigned URL of S3": {
			request("GET", "http://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"),
			exampleSecret, UnsignedPayload,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			signature, err := Read(c.request)
			if err != nil {
				t.Fatal(err)
			}
			if !signature.Matches(c.request, c.secret, c.hash) {
				t.Errorf("the signature does not match:\n%s", signature.stringToSign(c.request, c.hash))
			}
			if signature.Matches(c.request, c.secret+"x", c.hash) {
				t.Error("another secret matches too")
			}
			c.request.Host = "elsewhere"
			if signature.Matches(c.request, c.secret, c.hash) {
				t.Error("the same signature matches for another host")
			}
		})
	}
}

// chunked is the upload of AWS's documentation: 65 KiB of the letter a.
func chunked(sums ...string) []byte {
	return []byte("10000;chunk-signature=" + sums[0] + "\r\n" + strings.Repeat("a", 65536) + "\r\n" +
		"400;chunk-signature=" + sums[1] + "\r\n" + strings.Repeat("a", 1024) + "\r\n" +
		"0;chunk-signature=" + sums[2] + "\r\n")
}

const (
	plainSeed   = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
	trailerSeed = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
)

func plainChunks() []byte {
	return append(chunked("ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
		"0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
		"b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"), "\r\n"...)
}

func trailerChunks() []byte {
	return append(chunked("b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
		"1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
		"2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992"),
		"x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"...)
}

func chunks(mode, seed string, length int64) *Chunks {
	return &Chunks{Mode: mode, DecodedLength: length, Secret: exampleSecret, Signature: &Signature{
		Time: time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC), Day: "20130524", Region: "us-east-1", Service: "s3", Sum: seed,
	}}
}

func TestChunksOfAWSsDocumentationDecode(t *testing.T) {
	payload, trailer, err := chunks(SignedChunks, plainSeed, 66560).Decode(plainChunks())
	if err != nil || len(payload) != 66560 || len(trailer) != 0 {
		t.Errorf("signed chunks give %d bytes, trailer %v, error %v", len(payload), trailer, err)
	}
	payload, trailer, err = chunks(SignedChunksTrailer, trailerSeed, 66560).Decode(trailerChunks())
	if err != nil || len(payload) != 66560 || trailer.Get("X-Amz-Checksum-Crc32c") != "sOO8/Q==" || len(trailer) != 1 {
		t.Errorf("signed chunks with a trailer give %d bytes, trailer %v, error %v", len(payload), trailer, err)
	}
	payload, trailer, err = chunks(UnsignedTrailer, "", 5).Decode([]byte("5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"))
	if err != nil || string(payload) != "hello" || trailer.Get("x-amz-checksum-crc32") != "NhCmhg==" {
		t.Errorf("unsigned chunks give %q, trailer %v, error %v", payload, trailer, err)
	}
}

func TestBadChunksAreRefused(t *testing.T) {
	replace := func(body []byte, old, with string) []byte {
		return []byte(strings.Replace(string(body), old, with, 1))
	}
	cases := map[string]struct {
		chunks *Chunks
		body   []byte
		want   Kind
	}{
		"a changed byte":                {chunks(SignedChunks, plainSeed, 66560), replace(plainChunks(), "aa", "ab"), Mismatch},
		"another seed":                  {chunks(SignedChunks, trailerSeed, 66560), plainChunks(), Mismatch},
		"a changed trailer":             {chunks(SignedChunksTrailer, trailerSeed, 66560), replace(trailerChunks(), "sOO8", "sOO9"), Mismatch},
		"a trailer without a signature": {chunks(SignedChunksTrailer, trailerSeed, 66560), replace(trailerChunks(), "x-amz-trailer-signature", "x-amz-other"), Mismatch},
		"a trailer not announced":       {chunks(SignedChunks, plainSeed, 66560), append(plainChunks(), "x-amz-meta-a:b\r\n"...), BodyIncomplete},
		"a wrong length":                {chunks(SignedChunks, plainSeed, 66561), plainChunks(), BodyIncomplete},
		"no length":                     {chunks(SignedChunks, plainSeed, -1), plainChunks(), LengthMissing},
		"a size that is no number":      {chunks(UnsignedTrailer, "", 5), []byte("x\r\nhello\r\n0\r\n\r\n"), BodyIncomplete},
		"a size past the end":           {chunks(UnsignedTrailer, "", 5), []byte("ff\r\nhello\r\n0\r\n\r\n"), BodyIncomplete},
		"a size before the end":         {chunks(UnsignedTrailer, "", 5), []byte("4\r\nhello\r\n0\r\n\r\n"), BodyIncomplete},
		"no last chunk":                 {chunks(UnsignedTrailer, "", 5), []byte("5\r\nhello\r\n"), BodyIncomplete},
		"a small chunk before another":  {chunks(UnsignedTrailer, "", 10), []byte("5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n"), ChunkTooSmall},
		"a trailer without a colon":     {chunks(UnsignedTrailer, "", 0), []byte("0\r\nabc\r\n\r\n"), BodyIncomplete},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := c.chunks.Decode(c.body)
			var problem *Error
			if !errors.As(err, &problem) || problem.Kind != c.want {
				t.Errorf("error %v, want one of kind %d", err, c.want)
			}
		})
	}
}

func TestBrokenSignaturesAreRefused(t *testing.T) {
	sum := strings.Repeat("0", 64)
	scope := "AKID/20150830/us-east-1/sts/aws4_request"
	date := "X-Amz-Date:20150830T123600Z"
	cases := map[string]struct {
		request *http.Request
		want    Kind
	}{
		"another algorithm":     {request("GET", "http://h/", date, "Authorization:AWS AKID:sum"), Unsupported},
		"no signature":          {request("GET", "http://h/", date, "Authorization:AWS4-HMAC-SHA256 Credential="+scope+", SignedHeaders=host"), Broken},
		"a part without a sign": {request("GET", "http://h/", date, "Authorization:AWS4-HMAC-SHA256 Credential"), Broken},
		"a short scope":         {request("GET", "http://h/", date, authorization("AKID/20150830", "host", sum)), Broken},
		"another terminator":    {request("GET", "http://h/", date, authorization("AKID/20150830/us-east-1/sts/aws5_request", "host", sum)), Broken},
		"no date":               {request("GET", "http://h/", authorization(scope, "host", sum)), Broken},
		"a date that is none":   {request("GET", "http://h/", "X-Amz-Date:yesterday", authorization(scope, "host", sum)), Broken},
		"a host not signed":     {request("GET", "http://h/", date, authorization(scope, "x-amz-date", sum)), Broken},
		"a signature too short": {request("GET", "http://h/", date, authorization(scope, "host", "00")), Broken},
		"both forms at once":    {request("GET", "http://h/?X-Amz-Algorithm=AWS4-HMAC-SHA256", date, authorization(scope, "host", sum)), Broken},
		"a query without parts": {request("GET", "http://h/?X-Amz-Algorithm=AWS4-HMAC-SHA256"), Broken},
		"an expiry of a year":   {request("GET", "http://h/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="+scope+"&X-Amz-Date=20150830T123600Z&X-Amz-SignedHeaders=host&X-Amz-Signature="+sum+"&X-Amz-Expires=31536000"), Broken},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Read(c.request)
			var problem *Error
			if !errors.As(err, &problem) || problem.Kind != c.want {
				t.Errorf("error %v, want one of kind %d", err, c.want)
			}
		})
	}
	if signature, err := Read(request("GET", "http://h/")); signature != nil || err != nil {
		t.Errorf("an unsigned request gives %v, %v", signature, err)
	}
}

func TestTimeLimits(t *testing.T) {
	signed := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	header := &Signature{Time: signed, Service: "sts"}
	url := &Signature{Time: signed, Service: "s3", Presigned: true, Expires: time.Hour}
	token := &Signature{Time: signed, Service: "sts", Presigned: true, Expires: time.Minute}
	cases := map[string]struct {
		signature *Signature
		after     time.Duration
		want      Kind
		text      string
	}{
		"at once":                               {header, 0, 0, ""},
		"15 minutes later":                      {header, 15 * time.Minute, 0, ""},
		"just over 15 minutes later":            {header, 15*time.Minute + time.Second, Late, "Signature expired: 20260101T120000Z is now earlier than 20260101T120001Z (20260101T121501Z - 15 min.)"},
		"just over 15 minutes early":            {header, -15*time.Minute - time.Second, Early, "Signature not yet current: 20260101T120000Z is still later than 20260101T115959Z (20260101T114459Z + 15 min.)"},
		"an S3 URL within its expiry":           {url, time.Hour, 0, ""},
		"an S3 URL after its expiry":            {url, time.Hour + time.Second, Expired, "Request has expired"},
		"an STS URL lives 15 minutes, whatever": {token, 14 * time.Minute, 0, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.signature.CheckTime(signed.Add(c.after))
			var problem *Error
			if !errors.As(err, &problem) {
				problem = &Error{}
			}
			if problem.Kind != c.want || problem.Detail != c.text {
				t.Errorf("refusal %d %q, want %d %q", problem.Kind, problem.Detail, c.want, c.text)
			}
		})
	}
}

func TestScopeMustFitTheDay(t *testing.T) {
	s := &Signature{Time: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Day: "20260102", Region: "us-east-1", Service: "s3"}
	if err := s.CheckScope("s3"); err == nil {
		t.Error("a scope of another day is accepted")
	}
	s.Day, s.Region = "20260101", ""
	if err := s.CheckScope("s3"); err == nil {
		t.Error("a scope without a region is accepted")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=a/20150830/r/s/aws4_request, SignedHeaders=host, Signature=00", "X-Amz-Algorithm=AWS4-HMAC-SHA256")
	f.Add("AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request,SignedHeaders=;;host,Signature="+strings.Repeat("0", 64), "a=%zz&b&=c")
	f.Fuzz(func(t *testing.T, header, query string) {
		r := request("GET", "http://h/a/../b%2Fc")
		r.URL.RawQuery = query
		r.Header.Set("X-Amz-Date", "20150830T123600Z")
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		signature, err := Read(r)
		if err == nil && signature != nil && signature.Matches(r, "secret", Hash(nil)) && signature.Matches(r, "other", Hash(nil)) {
			t.Error("two secrets give one signature")
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\na:b\r\n\r\n"), int64(5), 0)
	f.Add(plainChunks(), int64(66560), 1)
	f.Add(trailerChunks(), int64(66560), 2)
	f.Fuzz(func(t *testing.T, body []byte, length int64, mode int) {
		modes := []string{UnsignedTrailer, SignedChunks, SignedChunksTrailer}
		payload, _, err := chunks(modes[((mode%3)+3)%3], plainSeed, length).Decode(bytes.Clone(body))
		if err == nil && int64(len(payload)) != length {
			t.Errorf("%d bytes are taken for %d", len(payload), length)
		}
	})
}
