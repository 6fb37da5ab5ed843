package s3

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

func TestCreateBucket(t *testing.T) {
	check(t, map[string]row{
		"a bucket in us-east-1 needs no location":        {line: "PUT /new-one", status: 200, header: map[string]string{"Location": "/new-one"}},
		"us-east-1 makes buckets elsewhere":              {line: "PUT /new-one", ask: ask{body: location("eu-central-1")}, status: 200, header: map[string]string{"Location": "http://new-one.s3.amazonaws.com/"}},
		"us-east-1 does not want to be named":            {line: "PUT /new-one", ask: ask{body: location("us-east-1")}, status: 400, code: "InvalidLocationConstraint"},
		"a region that is none is refused":               {line: "PUT /new-one", ask: ask{body: location("mars")}, status: 400, code: "InvalidLocationConstraint"},
		"another endpoint wants its region said":         {line: "PUT /new-one", ask: ask{region: "eu-west-1"}, status: 400, code: "IllegalLocationConstraintException"},
		"another endpoint makes only its own":            {line: "PUT /new-one", ask: ask{region: "eu-west-1", body: location("eu-west-2")}, status: 400, code: "IllegalLocationConstraintException", message: "The eu-west-2 location constraint is incompatible for the region specific endpoint this request was sent to."},
		"the owner may repeat it in us-east-1":           {line: "PUT /docs", status: 200},
		"the owner may not repeat it elsewhere":          {line: "PUT /abroad", ask: ask{region: "eu-west-1", body: location("eu-west-1")}, status: 409, code: "BucketAlreadyOwnedByYou"},
		"names are shared by all accounts":               {line: "PUT /docs", ask: ask{caller: &bob}, status: 409, code: "BucketAlreadyExists"},
		"upper case is no name":                          {line: "PUT /Docs", status: 400, code: "InvalidBucketName", message: "The specified bucket is not valid."},
		"two characters are no name":                     {line: "PUT /ab", status: 400, code: "InvalidBucketName"},
		"an address is no name":                          {line: "PUT /10.0.0.1", status: 400, code: "InvalidBucketName"},
		"a reserved ending is no name":                   {line: "PUT /mine-s3alias", status: 400, code: "InvalidBucketName"},
		"an anonymous caller makes nothing":              {line: "PUT /new-one", ask: ask{caller: &anonymous}, status: 403, code: "AccessDenied", message: "Access Denied"},
		"a public ACL is refused":                        {line: "PUT /new-one", ask: ask{header: map[string]string{"x-amz-acl": "public-read"}}, status: 400, code: "InvalidBucketAclWithObjectOwnership"},
		"object lock is refused by name":                 {line: "PUT /new-one", ask: ask{header: map[string]string{"x-amz-bucket-object-lock-enabled": "true"}}, status: 501, code: "NotImplemented", body: "object lock"},
		"ACLs cannot be switched on":                     {line: "PUT /new-one", ask: ask{header: map[string]string{"x-amz-object-ownership": "ObjectWriter"}}, status: 501, code: "NotImplemented", body: "ObjectWriter"},
		"a document that is no XML is refused":           {line: "PUT /new-one", ask: ask{body: "<Create"}, status: 400, code: "MalformedXML"},
		"an element that it does not have is refused":    {line: "PUT /new-one", ask: ask{body: "<CreateBucketConfiguration><Place/></CreateBucketConfiguration>"}, status: 400, code: "MalformedXML"},
		"tags at creation are refused by name":           {line: "PUT /new-one", ask: ask{body: "<CreateBucketConfiguration><Tags/></CreateBucketConfiguration>"}, status: 501, code: "NotImplemented"},
		"a caller without s3:CreateBucket makes nothing": {line: "PUT /new-one", ask: ask{decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:CreateBucket")}, status: 403, code: "AccessDenied", message: `User: arn:aws:iam::123456789012:user/alice is not authorized to perform: s3:CreateBucket on resource: "arn:aws:s3:::new-one" because no identity-based policy allows the s3:CreateBucket action`},
		"a virtual host names the bucket":                {line: "PUT /", ask: ask{host: "new-one.s3.us-east-1.amazonaws.com"}, status: 200, header: map[string]string{"Location": "/new-one"}},
		"a bucket before an address is a virtual host":   {line: "PUT /", ask: ask{host: "new-one.127.0.0.1:4566"}, status: 200, header: map[string]string{"Location": "/new-one"}},
	})
}

func TestBucketOperations(t *testing.T) {
	check(t, map[string]row{
		"HeadBucket shows the region":                         {line: "HEAD /docs", status: 200, header: map[string]string{"x-amz-bucket-region": "us-east-1"}},
		"HeadBucket of nothing is 404 without a body":         {line: "HEAD /nothing", status: 404},
		"HeadBucket abroad redirects and names the region":    {line: "HEAD /abroad", status: 301, header: map[string]string{"x-amz-bucket-region": "eu-west-1"}},
		"HeadBucket refused still names the region":           {line: "HEAD /docs", ask: ask{decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:ListBucket")}, status: 403, header: map[string]string{"x-amz-bucket-region": "us-east-1"}},
		"GetBucketLocation has no name for us-east-1":         {line: "GET /docs?location", status: 200, body: `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`},
		"GetBucketLocation answers in every region":           {line: "GET /abroad?location", status: 200, body: `>eu-west-1</LocationConstraint>`},
		"GetBucketLocation of nothing is NoSuchBucket":        {line: "GET /nothing?location", status: 404, code: "NoSuchBucket", message: "The specified bucket does not exist"},
		"DeleteBucket with objects is refused":                {line: "DELETE /docs", status: 409, code: "BucketNotEmpty"},
		"DeleteBucket of an empty bucket":                     {before: []string{"DELETE /docs/a.txt", "DELETE /docs/dir/b.txt"}, line: "DELETE /docs", status: 204},
		"DeleteBucket of nothing is NoSuchBucket":             {line: "DELETE /nothing", status: 404, code: "NoSuchBucket"},
		"ListBuckets shows the caller's in all regions":       {line: "GET /", status: 200, body: "<Bucket><Name>abroad</Name><CreationDate>2026-01-02T12:00:00.000Z</CreationDate><BucketRegion>eu-west-1</BucketRegion></Bucket><Bucket><Name>docs</Name>"},
		"ListBuckets shows no other account's":                {line: "GET /", ask: ask{caller: &bob}, status: 200, body: "<Buckets></Buckets>"},
		"ListBuckets by region":                               {line: "GET /?bucket-region=us-east-1", status: 200, body: "<Buckets><Bucket><Name>docs</Name>"},
		"ListBuckets by pages":                                {line: "GET /?max-buckets=1", status: 200, body: "<ContinuationToken>"},
		"ListBuckets with a token that is none":               {line: "GET /?continuation-token=x", status: 400, code: "InvalidArgument"},
		"ListBuckets with a limit of nothing":                 {line: "GET /?max-buckets=0", status: 400, code: "InvalidArgument"},
		"ListBuckets with a limit that is none":               {line: "GET /?max-buckets=x", status: 400, code: "InvalidArgument"},
		"ListBuckets needs s3:ListAllMyBuckets":               {line: "GET /", ask: ask{decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:ListAllMyBuckets")}, status: 403, code: "AccessDenied", message: `User: arn:aws:iam::123456789012:user/alice is not authorized to perform: s3:ListAllMyBuckets on resource: "*" because no identity-based policy allows the s3:ListAllMyBuckets action`},
		"ListBuckets is not for anonymous callers":            {line: "GET /", ask: ask{caller: &anonymous}, status: 403, code: "AccessDenied", message: "Access Denied"},
		"a request to another region is redirected":           {line: "GET /abroad?list-type=2", status: 301, code: "PermanentRedirect", body: "<Endpoint>abroad.s3.eu-west-1.amazonaws.com</Endpoint>", header: map[string]string{"x-amz-bucket-region": "eu-west-1"}},
		"an object in another region is redirected":           {line: "GET /abroad/x", status: 301, code: "PermanentRedirect"},
		"an unsigned request to an address is not redirected": {line: "GET /abroad?list-type=2", ask: ask{caller: &anonymous}, status: 200},
		"an unsigned request to another region's host is":     {line: "GET /x", ask: ask{caller: &anonymous, host: "abroad.s3.us-west-2.amazonaws.com"}, status: 301, code: "PermanentRedirect"},
		"an unknown sub-resource is refused by name":          {line: "GET /docs?acl", status: 501, code: "NotImplemented", body: "GetBucketAcl (GET ?acl on a bucket)"},
		"an upload in parts is refused by name":               {line: "POST /docs/a?uploads", status: 501, code: "NotImplemented", body: "CreateMultipartUpload (POST ?uploads on an object)"},
		"a version is refused by name":                        {line: "GET /docs/a.txt?versionId=1", status: 501, code: "NotImplemented", body: "GET ?versionId on an object"},
		"a copy of a part is refused by name":                 {line: "PUT /docs/c?partNumber=1&uploadId=x", ask: ask{header: map[string]string{"x-amz-copy-source": "/docs/a.txt"}}, status: 501, code: "NotImplemented", body: "UploadPartCopy"},
		"a method that S3 does not have is refused":           {line: "PATCH /docs/c", status: 501, code: "NotImplemented", body: "PATCH on an object"},
		"a path that is no UTF-8 is refused":                  {line: "GET /docs/%ff", status: 400, code: "InvalidURI"},
		"an object without a bucket is refused":               {line: "GET //key", status: 400, code: "InvalidBucketName"},
		"a first label that is a bucket is a virtual host":    {line: "GET /a.txt", ask: ask{host: "docs.aws.test:4566"}, status: 200, body: "hello world"},
		"a bucket before localhost is a virtual host":         {line: "GET /a.txt", ask: ask{host: "docs.localhost:4566"}, status: 200, body: "hello world"},
		"a bucket before s3.localhost is a virtual host":      {line: "GET /a.txt", ask: ask{host: "docs.s3.localhost:4566"}, status: 200, body: "hello world"},
		"s3.localhost is a plain host":                        {line: "GET /docs/a.txt", ask: ask{host: "s3.localhost:4566"}, status: 200, body: "hello world"},
		"a bucket before localhost can be made":               {line: "PUT /", ask: ask{host: "new-one.localhost:4566"}, status: 200},
		"a dual-stack host":                                   {line: "GET /a.txt", ask: ask{host: "docs.s3.dualstack.us-east-1.amazonaws.com"}, status: 200, body: "hello world"},
		"a FIPS host":                                         {line: "GET /a.txt", ask: ask{host: "docs.s3-fips.us-gov-west-1.amazonaws.com"}, status: 200, body: "hello world"},
		"an old host with a dash":                             {line: "GET /docs/a.txt", ask: ask{host: "s3-us-west-2.amazonaws.com"}, status: 200, body: "hello world"},
		"a host in China":                                     {line: "GET /a.txt", ask: ask{host: "docs.s3.cn-north-1.amazonaws.com.cn"}, status: 200, body: "hello world"},
		"a host of the European sovereign cloud":              {line: "GET /a.txt", ask: ask{host: "docs.s3.eusc-de-east-1.amazonaws.eu"}, status: 200, body: "hello world"},
		"a host of an isolated partition":                     {line: "GET /a.txt", ask: ask{host: "docs.s3.us-isob-east-1.sc2s.sgov.gov"}, status: 200, body: "hello world"},
		"an anonymous request to the host of another region":  {line: "GET /a.txt", ask: ask{host: "docs.s3.eu-west-1.amazonaws.com", caller: &anonymous}, status: 301, code: "PermanentRedirect"},
		"a first label that is no bucket is a plain host":     {line: "GET /docs/a.txt", ask: ask{host: "s3.aws.test"}, status: 200, body: "hello world"},
		"an IPv6 address is a plain host":                     {line: "GET /docs/a.txt", ask: ask{host: "[::1]:4566"}, status: 200, body: "hello world"},
	})
}

func TestEveryOperationHasAnOwnerCheckAndAnAuthorisation(t *testing.T) {
	lines := map[string]string{
		"HEAD /docs":                     "s3:ListBucket",
		"DELETE /docs":                   "s3:DeleteBucket",
		"GET /docs?location":             "s3:GetBucketLocation",
		"GET /docs?list-type=2":          "s3:ListBucket",
		"GET /docs":                      "s3:ListBucket",
		"GET /docs?tagging":              "s3:GetBucketTagging",
		"PUT /docs?tagging":              "s3:PutBucketTagging",
		"DELETE /docs?tagging":           "s3:PutBucketTagging",
		"GET /docs?policy":               "s3:GetBucketPolicy",
		"PUT /docs?policy":               "s3:PutBucketPolicy",
		"DELETE /docs?policy":            "s3:DeleteBucketPolicy",
		"GET /docs?policyStatus":         "s3:GetBucketPolicyStatus",
		"GET /docs?publicAccessBlock":    "s3:GetBucketPublicAccessBlock",
		"PUT /docs?publicAccessBlock":    "s3:PutBucketPublicAccessBlock",
		"DELETE /docs?publicAccessBlock": "s3:PutBucketPublicAccessBlock",
		"PUT /docs/a.txt":                "s3:PutObject",
		"GET /docs/a.txt":                "s3:GetObject",
		"HEAD /docs/a.txt":               "s3:GetObject",
		"DELETE /docs/a.txt":             "s3:DeleteObject",
		"GET /docs/a.txt?tagging":        "s3:GetObjectTagging",
		"PUT /docs/a.txt?tagging":        "s3:PutObjectTagging",
		"DELETE /docs/a.txt?tagging":     "s3:DeleteObjectTagging",
	}
	s := stocked(t)
	for line, action := range lines {
		t.Run(line, func(t *testing.T) {
			owner := map[string]string{"x-amz-expected-bucket-owner": theirs}
			if got := do(t, s, line, ask{header: owner}); got.Code != 403 {
				t.Errorf("with another expected owner: status %d, want 403", got.Code)
			}
			owner = map[string]string{"x-amz-expected-bucket-owner": "me"}
			if got := do(t, s, line, ask{header: owner}); got.Code != 400 {
				t.Errorf("with an expected owner that is no account: status %d, want 400", got.Code)
			}
			if got := do(t, s, line, ask{decide: deny(iampolicy.ExplicitDeny, iampolicy.BoundaryPolicy, action)}); got.Code != 403 {
				t.Errorf("with %s denied: status %d, want 403", action, got.Code)
			}
			if got := do(t, s, strings.Replace(line, "/docs", "/nothing", 1), ask{}); got.Code != 404 {
				t.Errorf("on no bucket: status %d, want 404", got.Code)
			}
		})
	}
}

func TestExpectedOwnerLetsTheOwnerThrough(t *testing.T) {
	s := stocked(t)
	must(t, s, "GET /docs/a.txt", ask{header: map[string]string{"x-amz-expected-bucket-owner": ours}})
}

func TestAccessDeniedTexts(t *testing.T) {
	const who = `User: arn:aws:iam::123456789012:user/alice is not authorized to perform: s3:GetObject on resource: "arn:aws:s3:::docs/a.txt" `
	tests := map[string]struct {
		caller  iampolicy.Principal
		effect  iampolicy.Effect
		kind    iampolicy.Kind
		message string
	}{
		"no identity policy allows":         {alice, iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, who + "because no identity-based policy allows the s3:GetObject action"},
		"the boundary does not allow":       {alice, iampolicy.ImplicitDeny, iampolicy.BoundaryPolicy, who + "because no permissions boundary allows the s3:GetObject action"},
		"the session policy does not allow": {alice, iampolicy.ImplicitDeny, iampolicy.SessionPolicy, who + "because no session policy allows the s3:GetObject action"},
		"no resource policy allows":         {alice, iampolicy.ImplicitDeny, iampolicy.ResourcePolicy, who + "because no resource-based policy allows the s3:GetObject action"},
		"an identity policy denies":         {alice, iampolicy.ExplicitDeny, iampolicy.IdentityPolicy, who + "with an explicit deny in an identity-based policy"},
		"the bucket policy denies":          {alice, iampolicy.ExplicitDeny, iampolicy.ResourcePolicy, who + "with an explicit deny in a resource-based policy"},
		"the boundary denies":               {alice, iampolicy.ExplicitDeny, iampolicy.BoundaryPolicy, who + "with an explicit deny in a permissions boundary"},
		"the session policy denies":         {alice, iampolicy.ExplicitDeny, iampolicy.SessionPolicy, who + "with an explicit deny in a session policy"},
		"another account learns no reason":  {bob, iampolicy.ImplicitDeny, iampolicy.ResourcePolicy, "Access Denied"},
		"anonymous callers learn no reason": {anonymous, iampolicy.ExplicitDeny, iampolicy.ResourcePolicy, "Access Denied"},
	}
	s := stocked(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := do(t, s, "GET /docs/a.txt", ask{caller: &tt.caller, decide: deny(tt.effect, tt.kind, "s3:GetObject")})
			if code, message := got.failure(); code != "AccessDenied" || message != tt.message {
				t.Errorf("got %s: %s\nwant AccessDenied: %s", code, message, tt.message)
			}
		})
	}
}

func TestConditionKeys(t *testing.T) {
	tests := map[string]struct {
		line string
		ask  ask
		want map[string]string
		none []string
	}{
		"a list tells its parameters": {
			line: "GET /docs?list-type=2&prefix=a/&delimiter=/&max-keys=7",
			want: map[string]string{"s3:prefix": "a/", "s3:delimiter": "/", "s3:max-keys": "7", "s3:ResourceAccount": ours, "s3:authType": "REST-HEADER"},
		},
		"a list without a prefix has no such key": {line: "GET /docs?list-type=2", none: []string{"s3:prefix", "s3:delimiter", "s3:max-keys"}},
		"an empty prefix is present":              {line: "GET /docs?list-type=2&prefix=", want: map[string]string{"s3:prefix": ""}},
		"a write tells its condition and headers": {
			line: "PUT /docs/new", ask: ask{header: map[string]string{"If-None-Match": "*", "x-amz-acl": "private"}},
			want: map[string]string{"s3:if-none-match": "*", "s3:x-amz-acl": "private"},
		},
		"a read tells no prefix":                  {line: "GET /docs/a.txt?prefix=x", none: []string{"s3:prefix"}},
		"an unsigned request has no kind of sign": {line: "GET /docs/a.txt", ask: ask{caller: &anonymous}, none: []string{"s3:authType", "s3:signatureversion"}},
		"a signature in the query has its age":    {line: "GET /docs/a.txt?X-Amz-Signature=1&X-Amz-Date=20260102T115900Z", want: map[string]string{"s3:authType": "REST-QUERY-STRING", "s3:signatureAge": "60000"}},
		"tags of a request are keys":              {line: "PUT /docs?tagging", ask: ask{body: "<Tagging><TagSet><Tag><Key>team</Key><Value>blue</Value></Tag></TagSet></Tagging>"}, want: map[string]string{"aws:RequestTag/team": "blue", "aws:TagKeys": "team"}},
		"a location constraint is a key":          {line: "PUT /new-one", ask: ask{body: location("eu-west-1")}, want: map[string]string{"s3:LocationConstraint": "eu-west-1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var seen iampolicy.Context
			tt.ask.decide = func(_, _ string, _ call.Side, extra iampolicy.Context) iampolicy.Decision {
				seen = extra
				return iampolicy.Decision{Effect: iampolicy.Allow}
			}
			must(t, stocked(t), tt.line, tt.ask)
			for key, want := range tt.want {
				if values, ok := seen.Get(key); !ok || len(values) != 1 || values[0] != want {
					t.Errorf("%s is %q (present: %v), want %q", key, values, ok, want)
				}
			}
			for _, key := range tt.none {
				if values, ok := seen.Get(key); ok {
					t.Errorf("%s is %q, want it absent", key, values)
				}
			}
		})
	}
}

func TestTagging(t *testing.T) {
	tags := func(pairs ...string) string {
		var b strings.Builder
		for i := 0; i < len(pairs); i += 2 {
			b.WriteString("<Tag><Key>" + pairs[i] + "</Key><Value>" + pairs[i+1] + "</Value></Tag>")
		}
		return "<Tagging><TagSet>" + b.String() + "</TagSet></Tagging>"
	}
	put := func(body string) ask { return ask{body: body} }
	check(t, map[string]row{
		"a bucket begins without tags":        {line: "GET /docs?tagging", status: 404, code: "NoSuchTagSet", message: "The TagSet does not exist"},
		"tags are put":                        {line: "PUT /docs?tagging", ask: put(tags("a", "1", "b", "")), status: 204},
		"tags are deleted":                    {line: "DELETE /docs?tagging", status: 204},
		"a key twice is refused":              {line: "PUT /docs?tagging", ask: put(tags("a", "1", "a", "2")), status: 400, code: "InvalidTag", message: "Cannot provide multiple Tags with the same key"},
		"an empty key is refused":             {line: "PUT /docs?tagging", ask: put(tags("", "1")), status: 400, code: "InvalidTag"},
		"a long key is refused":               {line: "PUT /docs?tagging", ask: put(tags(strings.Repeat("é", 129), "1")), status: 400, code: "InvalidTag"},
		"a long value is refused":             {line: "PUT /docs?tagging", ask: put(tags("a", strings.Repeat("v", 257))), status: 400, code: "InvalidTag"},
		"a strange character is refused":      {line: "PUT /docs?tagging", ask: put(tags("a!", "1")), status: 400, code: "InvalidTag"},
		"AWS's own keys are refused":          {line: "PUT /docs?tagging", ask: put(tags("aws:x", "1")), status: 400, code: "InvalidTag"},
		"51 tags are refused":                 {line: "PUT /docs?tagging", ask: put(tags(strings.Split(strings.Repeat("k,v,", 50)+"k,v", ",")...)), status: 400, code: "BadRequest"},
		"a document without a set is refused": {line: "PUT /docs?tagging", ask: put("<Tagging/>"), status: 400, code: "MalformedXML"},
		"a tag without a value is refused":    {line: "PUT /docs?tagging", ask: put("<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>"), status: 400, code: "MalformedXML"},
	})
	s := stocked(t)
	must(t, s, "PUT /docs?tagging", put(tags("b", "2", "a", "1")))
	if got := must(t, s, "GET /docs?tagging", ask{}).text(); !strings.Contains(got, "<Key>b</Key><Value>2</Value></Tag><Tag><Key>a</Key>") {
		t.Errorf("tags are %s", got)
	}
	must(t, s, "DELETE /docs?tagging", ask{})
	if code, _ := do(t, s, "GET /docs?tagging", ask{}).failure(); code != "NoSuchTagSet" {
		t.Errorf("after the deletion: %q", code)
	}
}

func TestTLSVersion(t *testing.T) {
	for version, want := range map[uint16]string{tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3"} {
		if got := tlsVersion(version); got != want {
			t.Errorf("version %#x is %q, want %q", version, got, want)
		}
	}
}

func TestReset(t *testing.T) {
	s := stocked(t)
	s.Reset()
	if got := do(t, s, "HEAD /docs", ask{}); got.Code != 404 {
		t.Errorf("status %d after Reset, want 404", got.Code)
	}
}
