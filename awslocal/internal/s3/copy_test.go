package s3

import (
	"testing"
	"time"

	"github.com/tabard-dev/tabard/iampolicy"
)

// copying is a PUT that copies, with more headers in pairs.
func copying(source string, pairs ...string) ask {
	a := ask{header: map[string]string{"x-amz-copy-source": source}}
	for i := 0; i < len(pairs); i += 2 {
		a.header[pairs[i]] = pairs[i+1]
	}
	return a
}

func TestCopyObject(t *testing.T) {
	refused := func(action string) ask {
		a := copying("docs/a.txt")
		a.decide = deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, action)
		return a
	}
	absent := copying("docs/none")
	absent.decide = deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:ListBucket")
	const illegal = "InvalidRequest"
	later := noon.Add(time.Hour).Format("Mon, 02 Jan 2006 15:04:05 GMT")
	check(t, map[string]row{
		"a copy":                                     {line: "PUT /docs/c", ask: copying("docs/a.txt"), status: 200, body: "<ETag>&#34;5eb63bbbe01eeed093cb22bb8f5acdc3&#34;</ETag><ChecksumType>FULL_OBJECT</ChecksumType><ChecksumCRC64NVME>"},
		"a source with a slash and escapes":          {line: "PUT /docs/c", ask: copying("/docs/dir%2Fb.txt"), status: 200},
		"another checksum":                           {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-checksum-algorithm", "SHA256"), status: 200, body: "<ChecksumSHA256>" + sha256Of("hello world")},
		"a checksum that there is not":               {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-checksum-algorithm", "CRC7"), status: 400, code: illegal},
		"a source without a key":                     {line: "PUT /docs/c", ask: copying("docs"), status: 400, code: "InvalidArgument"},
		"a source that is not encoded well":          {line: "PUT /docs/c", ask: copying("docs/%zz"), status: 400, code: "InvalidArgument"},
		"a version":                                  {line: "PUT /docs/c", ask: copying("docs/a.txt?versionId=1"), status: 501, code: "NotImplemented"},
		"an access point":                            {line: "PUT /docs/c", ask: copying("arn:aws:s3:us-east-1:123456789012:accesspoint/a/object/b"), status: 501, code: "NotImplemented"},
		"a source bucket that there is not":          {line: "PUT /docs/c", ask: copying("none/a.txt"), status: 404, code: "NoSuchBucket"},
		"a source that there is not":                 {line: "PUT /docs/c", ask: copying("docs/none"), status: 404, code: "NoSuchKey"},
		"a source that there is not, without a list": {line: "PUT /docs/c", ask: absent, status: 403, code: "AccessDenied"},
		"without s3:GetObject on the source":         {line: "PUT /docs/c", ask: refused("s3:GetObject"), status: 403, code: "AccessDenied", message: `User: arn:aws:iam::123456789012:user/alice is not authorized to perform: s3:GetObject on resource: "arn:aws:s3:::docs/a.txt" because no identity-based policy allows the s3:GetObject action`},
		"without s3:PutObject on the target":         {line: "PUT /docs/c", ask: refused("s3:PutObject"), status: 403, code: "AccessDenied"},
		"to itself":                                  {line: "PUT /docs/a.txt", ask: copying("docs/a.txt"), status: 400, code: illegal},
		"to itself with other metadata":              {line: "PUT /docs/a.txt", ask: copying("docs/a.txt", "x-amz-metadata-directive", "REPLACE"), status: 200},
		"a directive that there is not":              {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-metadata-directive", "MERGE"), status: 400, code: "InvalidArgument"},
		"a tagging directive that there is not":      {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-tagging-directive", "MERGE"), status: 400, code: "InvalidArgument"},
		"a source of another owner than expected":    {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-source-expected-bucket-owner", theirs), status: 403, code: "AccessDenied"},
		"If-Match that holds":                        {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-copy-source-if-match", etagHello), status: 200},
		"If-Match that does not":                     {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-copy-source-if-match", "x"), status: 412, code: "PreconditionFailed"},
		"If-None-Match that does not":                {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-copy-source-if-none-match", etagHello), status: 412, code: "PreconditionFailed"},
		"If-Modified-Since that does not":            {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-copy-source-if-modified-since", later), status: 412, code: "PreconditionFailed"},
		"If-Unmodified-Since that holds":             {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-copy-source-if-unmodified-since", later), status: 200},
		"If-None-Match of the target":                {line: "PUT /docs/dir/b.txt", ask: copying("docs/a.txt", "if-none-match", "*"), status: 412, code: "PreconditionFailed"},
		"a public ACL":                               {line: "PUT /docs/c", ask: copying("docs/a.txt", "x-amz-acl", "public-read"), status: 400, code: "AccessControlListNotSupported"},
	})
}

func TestCopiesTakeWhatTheDirectivesSay(t *testing.T) {
	s := stocked(t)
	must(t, s, "PUT /docs/x", ask{body: "v1", header: map[string]string{"x-amz-meta-a": "1", "x-amz-tagging": "team=blue", "Content-Type": "text/plain"}})
	must(t, s, "PUT /docs/same", copying("docs/x"))
	must(t, s, "PUT /docs/other", copying("docs/x", "x-amz-metadata-directive", "REPLACE", "x-amz-tagging-directive", "REPLACE", "Content-Type", "text/html"))
	for key, want := range map[string][4]string{"same": {"v1", "text/plain", "1", "1"}, "other": {"v1", "text/html", "", ""}} {
		got := must(t, s, "GET /docs/"+key, ask{})
		// The name of metadata is written as it was sent.
		const name = "x-amz-meta-a"
		meta := ""
		for header, values := range got.Header() {
			if header == name {
				meta = values[0]
			}
		}
		if is := [4]string{got.text(), got.Header().Get("Content-Type"), meta, got.Header().Get("x-amz-tagging-count")}; is != want {
			t.Errorf("%s has body, type, metadata and number of tags %q, want %q", key, is, want)
		}
	}
	blind := copying("docs/x")
	blind.decide = deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:GetObjectTagging")
	if got := do(t, s, "PUT /docs/tagged", blind); got.Code != 403 {
		t.Errorf("copying tags that the caller may not read: status %d, want 403", got.Code)
	}
}
