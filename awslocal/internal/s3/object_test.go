package s3

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/iampolicy"
)

// etagHello is the MD5 of "hello world".
const etagHello = `"5eb63bbbe01eeed093cb22bb8f5acdc3"`

func TestPutObject(t *testing.T) {
	with := func(pairs ...string) ask {
		a := ask{body: "hello world", header: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			a.header[pairs[i]] = pairs[i+1]
		}
		return a
	}
	check(t, map[string]row{
		"the answer has ETag, checksum and encryption": {line: "PUT /docs/new", ask: with(), status: 200, header: map[string]string{
			"ETag": etagHello, "x-amz-checksum-crc64nvme": "jSnVw/bqjr4=", "x-amz-checksum-type": "FULL_OBJECT", "x-amz-server-side-encryption": "AES256"}},
		"If-None-Match * makes a new object":            {line: "PUT /docs/new", ask: with("If-None-Match", "*"), status: 200},
		"If-None-Match * replaces none":                 {line: "PUT /docs/a.txt", ask: with("If-None-Match", "*"), status: 412, code: "PreconditionFailed", message: "At least one of the pre-conditions you specified did not hold", body: "<Condition>If-None-Match</Condition>"},
		"If-None-Match with an ETag is not S3's":        {line: "PUT /docs/a.txt", ask: with("If-None-Match", etagHello), status: 501, code: "NotImplemented"},
		"If-Match replaces what was read":               {line: "PUT /docs/a.txt", ask: with("If-Match", etagHello), status: 200},
		"If-Match may lack quotes":                      {line: "PUT /docs/a.txt", ask: with("If-Match", strings.Trim(etagHello, `"`)), status: 200},
		"If-Match of another version is refused":        {line: "PUT /docs/dir/b.txt", ask: with("If-Match", etagHello), status: 412, code: "PreconditionFailed", body: "<Condition>If-Match</Condition>"},
		"If-Match of nothing is NoSuchKey":              {line: "PUT /docs/new", ask: with("If-Match", etagHello), status: 404, code: "NoSuchKey", message: "The specified key does not exist."},
		"If-Match needs the right to read":              {line: "PUT /docs/a.txt", ask: ask{body: "x", header: map[string]string{"If-Match": etagHello}, decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:GetObject")}, status: 403, code: "AccessDenied"},
		"If-Match * is not S3's":                        {line: "PUT /docs/a.txt", ask: with("If-Match", "*"), status: 501, code: "NotImplemented"},
		"ACL private changes nothing":                   {line: "PUT /docs/new", ask: with("x-amz-acl", "private"), status: 200},
		"ACL bucket-owner-full-control changes nothing": {line: "PUT /docs/new", ask: with("x-amz-acl", "bucket-owner-full-control"), status: 200},
		"ACL public-read is refused":                    {line: "PUT /docs/new", ask: with("x-amz-acl", "public-read"), status: 400, code: "AccessControlListNotSupported", message: "The bucket does not allow ACLs"},
		"a grant is refused":                            {line: "PUT /docs/new", ask: with("x-amz-grant-read", "id=1"), status: 400, code: "AccessControlListNotSupported"},
		"AES256 is the default":                         {line: "PUT /docs/new", ask: with("x-amz-server-side-encryption", "AES256"), status: 200},
		"KMS is refused by name":                        {line: "PUT /docs/new", ask: with("x-amz-server-side-encryption", "aws:kms"), status: 501, code: "NotImplemented"},
		"another storage class is refused by name":      {line: "PUT /docs/new", ask: with("x-amz-storage-class", "GLACIER"), status: 501, code: "NotImplemented"},
		"metadata has a limit":                          {line: "PUT /docs/new", ask: with("x-amz-meta-a", strings.Repeat("x", 2048)), status: 400, code: "MetadataTooLarge"},
		"a key of 1024 bytes fits":                      {line: "PUT /docs/" + strings.Repeat("k", 1024), ask: with(), status: 200},
		"a key of 1025 bytes is too long":               {line: "PUT /docs/" + strings.Repeat("k", 1025), ask: with(), status: 400, code: "KeyTooLongError"},
		"a caller without the right learns of no sum":   {line: "PUT /docs/new", ask: ask{header: map[string]string{"Content-MD5": "nonsense"}, decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:PutObject")}, status: 403, code: "AccessDenied"},
		"no bucket, no object":                          {line: "PUT /nothing/new", ask: with(), status: 404, code: "NoSuchBucket"},
	})
}

func TestGetObject(t *testing.T) {
	with := func(pairs ...string) ask {
		a := ask{header: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			a.header[pairs[i]] = pairs[i+1]
		}
		return a
	}
	const before, later = "Fri, 02 Jan 2026 11:59:59 GMT", "Fri, 02 Jan 2026 12:00:00 GMT"
	noList := deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:ListBucket")
	whole := map[string]string{"Content-Length": "11", "ETag": etagHello, "Accept-Ranges": "bytes", "Last-Modified": later, "Content-Type": "binary/octet-stream", "x-amz-checksum-crc64nvme": ""}
	part := func(r, length string) map[string]string {
		return map[string]string{"Content-Range": "bytes " + r + "/11", "Content-Length": length}
	}
	check(t, map[string]row{
		"the whole object":                             {line: "GET /docs/a.txt", status: 200, body: "hello world", header: whole},
		"its head":                                     {line: "HEAD /docs/a.txt", status: 200, header: whole},
		"the checksum is shown when asked for":         {line: "GET /docs/a.txt", ask: with("x-amz-checksum-mode", "ENABLED"), status: 200, header: map[string]string{"x-amz-checksum-crc64nvme": "jSnVw/bqjr4="}},
		"a part has no checksum":                       {line: "GET /docs/a.txt", ask: with("x-amz-checksum-mode", "ENABLED", "Range", "bytes=0-3"), status: 206, header: map[string]string{"x-amz-checksum-crc64nvme": ""}},
		"a missing object":                             {line: "GET /docs/none", status: 404, code: "NoSuchKey", message: "The specified key does not exist."},
		"the head of a missing object has no body":     {line: "HEAD /docs/none", status: 404, header: map[string]string{"Content-Length": ""}},
		"who may not list learns of no missing object": {line: "GET /docs/none", ask: ask{decide: noList}, status: 403, code: "AccessDenied", message: `User: arn:aws:iam::123456789012:user/alice is not authorized to perform: s3:ListBucket on resource: "arn:aws:s3:::docs" because no identity-based policy allows the s3:ListBucket action`},
		"nor does an anonymous caller":                 {line: "GET /docs/none", ask: ask{decide: noList, caller: &anonymous}, status: 403, code: "AccessDenied", message: "Access Denied"},
		"a range":                                      {line: "GET /docs/a.txt", ask: with("Range", "bytes=6-8"), status: 206, body: "wor", header: part("6-8", "3")},
		"a range to the end":                           {line: "GET /docs/a.txt", ask: with("Range", "bytes=6-"), status: 206, body: "world", header: part("6-10", "5")},
		"a range beyond the end is cut":                {line: "GET /docs/a.txt", ask: with("Range", "bytes=6-99"), status: 206, body: "world", header: part("6-10", "5")},
		"the last bytes":                               {line: "GET /docs/a.txt", ask: with("Range", "bytes=-5"), status: 206, body: "world", header: part("6-10", "5")},
		"more last bytes than there are":               {line: "GET /docs/a.txt", ask: with("Range", "bytes=-99"), status: 206, body: "hello world", header: part("0-10", "11")},
		"a range of the head":                          {line: "HEAD /docs/a.txt", ask: with("Range", "bytes=6-8"), status: 206, header: part("6-8", "3")},
		"a range behind the end is refused":            {line: "GET /docs/a.txt", ask: with("Range", "bytes=11-"), status: 416, code: "InvalidRange", body: "<ActualObjectSize>11</ActualObjectSize>"},
		"no last bytes are refused":                    {line: "GET /docs/a.txt", ask: with("Range", "bytes=-0"), status: 416, code: "InvalidRange"},
		"several ranges are not served":                {line: "GET /docs/a.txt", ask: with("Range", "bytes=0-1,3-4"), status: 200, body: "hello world"},
		"a range backwards is none":                    {line: "GET /docs/a.txt", ask: with("Range", "bytes=5-2"), status: 200, body: "hello world"},
		"a range in another unit is none":              {line: "GET /docs/a.txt", ask: with("Range", "lines=1-2"), status: 200},
		"a range without numbers is none":              {line: "GET /docs/a.txt", ask: with("Range", "bytes=a-b"), status: 200},
		"a huge number is none":                        {line: "GET /docs/a.txt", ask: with("Range", "bytes=99999999999999999999-"), status: 200},
		"If-Match that holds":                          {line: "GET /docs/a.txt", ask: with("If-Match", `"x", `+etagHello), status: 200},
		"If-Match that does not":                       {line: "GET /docs/a.txt", ask: with("If-Match", `"x"`), status: 412, code: "PreconditionFailed"},
		"If-None-Match that holds":                     {line: "GET /docs/a.txt", ask: with("If-None-Match", `"x"`), status: 200},
		"If-None-Match that does not":                  {line: "GET /docs/a.txt", ask: with("If-None-Match", "W/"+etagHello), status: 304, header: map[string]string{"ETag": etagHello}},
		"If-None-Match on the head":                    {line: "HEAD /docs/a.txt", ask: with("If-None-Match", etagHello), status: 304},
		"If-Modified-Since of before":                  {line: "GET /docs/a.txt", ask: with("If-Modified-Since", before), status: 200},
		"If-Modified-Since of the same second":         {line: "GET /docs/a.txt", ask: with("If-Modified-Since", later), status: 304},
		"If-Unmodified-Since of before":                {line: "GET /docs/a.txt", ask: with("If-Unmodified-Since", before), status: 412, code: "PreconditionFailed"},
		"an ETag that holds outweighs an earlier date": {line: "GET /docs/a.txt", ask: with("If-Match", etagHello, "If-Unmodified-Since", before), status: 200},
		"an ETag that differs outweighs the date":      {line: "GET /docs/a.txt", ask: with("If-None-Match", `"x"`, "If-Modified-Since", later), status: 200},
		"a header of the answer can be chosen":         {line: "GET /docs/a.txt?response-content-type=text/x", status: 200, header: map[string]string{"Content-Type": "text/x"}},
		"but not by an anonymous caller":               {line: "GET /docs/a.txt?response-content-type=text/x", ask: ask{caller: &anonymous}, status: 400, code: "InvalidRequest"},
		"a customer's key is refused by name":          {line: "GET /docs/a.txt", ask: with("x-amz-server-side-encryption-customer-algorithm", "AES256"), status: 501, code: "NotImplemented"},
	})
}

func TestObjectsKeepTheirHeaders(t *testing.T) {
	s := stocked(t)
	must(t, s, "PUT /docs/h", ask{body: "x", header: map[string]string{
		"Content-Type": "application/json", "Cache-Control": "max-age=60", "Content-Encoding": "aws-chunked,gzip",
		"x-amz-meta-who": "Ann", "X-Amz-Meta-Why": "because", "X-Other": "lost",
	}})
	got := must(t, s, "GET /docs/h", ask{})
	want := map[string]string{
		"Content-Type": "application/json", "Cache-Control": "max-age=60", "Content-Encoding": "gzip",
		"x-amz-meta-who": "Ann", "x-amz-meta-why": "because", "X-Other": "",
		"X-Amz-Request-Id": "REQUEST1", "Server": "AmazonS3",
	}
	for name, value := range want {
		if written := strings.Join(got.Header()[name], ""); written != value {
			t.Errorf("%s is %q, want %q", name, written, value)
		}
	}
}

func TestKeysAreTakenAsTheyAre(t *testing.T) {
	s := stocked(t)
	for path, key := range map[string]string{
		"a%2Fb": "a/b", "x//y": "x//y", "./dot": "./dot", "%C3%A9": "é", "a+b": "a+b", "p%25q": "p%q", "q%3Fx": "q?x", "slash/": "slash/",
	} {
		must(t, s, "PUT /docs/"+path, ask{body: key})
		if got := must(t, s, "GET /docs/"+path, ask{}); got.text() != key || got.entry.Resource != "arn:aws:s3:::docs/"+key {
			t.Errorf("%s: body %q of %s, want %q", path, got.text(), got.entry.Resource, key)
		}
	}
}

func TestDeleteObject(t *testing.T) {
	match := func(etag string) ask { return ask{header: map[string]string{"If-Match": etag}} }
	check(t, map[string]row{
		"an object":                             {line: "DELETE /docs/a.txt", status: 204},
		"no object":                             {line: "DELETE /docs/none", status: 204},
		"the version that was read":             {line: "DELETE /docs/a.txt", ask: match(etagHello), status: 204},
		"any version":                           {line: "DELETE /docs/a.txt", ask: match("*"), status: 204},
		"a deletion by size is refused by name": {line: "DELETE /docs/a.txt", ask: ask{header: map[string]string{"x-amz-if-match-size": "1"}}, status: 501, code: "NotImplemented", body: "x-amz-if-match-size"},
		"another version stays":                 {line: "DELETE /docs/dir/b.txt", ask: match(etagHello), status: 412, code: "PreconditionFailed"},
		"a version of nothing is gone too":      {line: "DELETE /docs/none", ask: match(etagHello), status: 204},
		"comparing needs the right to read": {line: "DELETE /docs/a.txt", ask: ask{header: map[string]string{"If-Match": etagHello},
			decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:GetObject")}, status: 403, code: "AccessDenied"},
	})
	s := stocked(t)
	must(t, s, "DELETE /docs/a.txt", ask{})
	if got := do(t, s, "GET /docs/a.txt", ask{}); got.Code != 404 {
		t.Errorf("after the deletion: status %d", got.Code)
	}
}

func TestDeleteObjects(t *testing.T) {
	// The sums are those of the bodies below.
	signed := func(body string) ask {
		s := sha256Of(body)
		return ask{body: body, header: map[string]string{"x-amz-checksum-sha256": s}}
	}
	with := func(a ask, d decide) ask { a.decide = d; return a }
	const both = "<Delete><Object><Key>a.txt</Key></Object><Object><Key>none</Key></Object></Delete>"
	check(t, map[string]row{
		"each object is answered":               {line: "POST /docs?delete", ask: signed(both), status: 200, body: "<Deleted><Key>a.txt</Key></Deleted><Deleted><Key>none</Key></Deleted>"},
		"quietly":                               {line: "POST /docs?delete", ask: signed("<Delete><Quiet>true</Quiet><Object><Key>a.txt</Key></Object></Delete>"), status: 200, body: `03-01/"></DeleteResult>`},
		"without a sum it is refused":           {line: "POST /docs?delete", ask: ask{body: both}, status: 400, code: "InvalidRequest", message: "Missing required header for this request: Content-MD5"},
		"a refusal of one is part of an answer": {line: "POST /docs?delete", ask: with(signed(both), deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:DeleteObject")), status: 200, body: "<Error><Key>a.txt</Key><Code>AccessDenied</Code><Message>User: "},
		"another ETag stays":                    {line: "POST /docs?delete", ask: signed("<Delete><Object><Key>a.txt</Key><ETag>x</ETag></Object></Delete>"), status: 200, body: "<Code>PreconditionFailed</Code>"},
		"a version is refused":                  {line: "POST /docs?delete", ask: signed("<Delete><Object><Key>a.txt</Key><VersionId>1</VersionId></Object></Delete>"), status: 200, body: "<Code>NotImplemented</Code>"},
		"no object at all is refused":           {line: "POST /docs?delete", ask: signed("<Delete></Delete>"), status: 400, code: "MalformedXML"},
		"more than a thousand are refused":      {line: "POST /docs?delete", ask: signed("<Delete>" + strings.Repeat("<Object><Key>k</Key></Object>", 1001) + "</Delete>"), status: 400, code: "MalformedXML"},
		"an object without a key is refused":    {line: "POST /docs?delete", ask: signed("<Delete><Object/></Delete>"), status: 200, body: "<Code>MalformedXML</Code>"},
		"a second factor is refused by name":    {line: "POST /docs?delete", ask: ask{body: both, header: map[string]string{"x-amz-checksum-sha256": sha256Of(both), "x-amz-mfa": "1 2"}}, status: 501, code: "NotImplemented"},
		"no XML is refused":                     {line: "POST /docs?delete", ask: signed("{}"), status: 400, code: "MalformedXML"},
		"another owner's bucket is not touched": {line: "POST /docs?delete", ask: ask{body: both, header: map[string]string{"x-amz-checksum-sha256": sha256Of(both), "x-amz-expected-bucket-owner": theirs}}, status: 403, code: "AccessDenied"},
	})
}

// TestTwoWritersLoseNothing has two writers add lines to one object, each by
// read, merge and conditional write: if a condition and its write were two
// steps, lines would be lost.
func TestTwoWritersLoseNothing(t *testing.T) {
	const rounds = 1000
	s := stocked(t)
	must(t, s, "PUT /docs/shared", ask{})
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		writers.Go(func() {
			for i := range rounds {
				line := fmt.Sprintf("%s%d\n", name, i)
				for {
					read := do(t, s, "GET /docs/shared", ask{})
					write := do(t, s, "PUT /docs/shared", ask{
						body: read.text() + line, header: map[string]string{"If-Match": read.Header().Get("ETag")},
					})
					if write.Code == http.StatusOK {
						break
					}
					if write.Code != http.StatusPreconditionFailed {
						t.Errorf("%s: status %d, want 200 or 412", line, write.Code)
						return
					}
				}
			}
		})
	}
	writers.Wait()
	seen := map[string]int{}
	for line := range strings.Lines(must(t, s, "GET /docs/shared", ask{}).text()) {
		seen[line]++
	}
	for _, name := range []string{"a", "b"} {
		for i := range rounds {
			if line := fmt.Sprintf("%s%d\n", name, i); seen[line] != 1 {
				t.Fatalf("line %q is there %d times, want once", line, seen[line])
			}
		}
	}
}

func TestAReplacedObjectHasItsOwnTime(t *testing.T) {
	s := stocked(t)
	must(t, s, "PUT /docs/a.txt", ask{body: "new", now: noon.Add(time.Hour)})
	if got := must(t, s, "HEAD /docs/a.txt", ask{}).Header().Get("Last-Modified"); got != "Fri, 02 Jan 2026 13:00:00 GMT" {
		t.Errorf("Last-Modified is %s", got)
	}
}
