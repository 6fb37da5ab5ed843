package s3

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	publicRead = `{"Version":"2012-10-17","Statement":[{"Sid":"Read","Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":["arn:aws:s3:::docs/a.txt"]}]}`
	aliceReads = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:user/alice"},"Action":["s3:GetObject","s3:ListBucket"],"Resource":["arn:aws:s3:::docs","arn:aws:s3:::docs/*"]}}`
)

// judged evaluates bucket policies for real; alice may do everything.
func judged(t *testing.T, caller iampolicy.Principal) decide {
	t.Helper()
	everything, err := iampolicy.Parse([]byte(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`))
	if err != nil {
		t.Fatalf("policy: %v", err)
	}
	return func(action, resource string, side call.Side, extra iampolicy.Context) iampolicy.Decision {
		policies := &iampolicy.Policies{Resource: side.Policy, RestrictPublicBuckets: side.RestrictPublicBuckets}
		if caller.Kind == iampolicy.User {
			policies.Identity = []*iampolicy.Policy{everything}
		}
		return iampolicy.Evaluate(&iampolicy.Request{
			Principal: caller, Action: action, Resource: resource, ResourceAccountID: side.AccountID, Context: extra,
		}, policies)
	}
}

const openAll = `<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>false</BlockPublicPolicy><RestrictPublicBuckets>false</RestrictPublicBuckets></PublicAccessBlockConfiguration>`

func TestPublicAccessBlock(t *testing.T) {
	const all = "<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets>"
	check(t, map[string]row{
		"a new bucket blocks everything":          {line: "GET /docs?publicAccessBlock", status: 200, body: `<PublicAccessBlockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` + all},
		"the block can be replaced":               {line: "PUT /docs?publicAccessBlock", ask: ask{body: openAll}, status: 200},
		"the block can be deleted":                {line: "DELETE /docs?publicAccessBlock", status: 204},
		"a deleted block is NoSuch…":              {before: []string{"DELETE /docs?publicAccessBlock"}, line: "GET /docs?publicAccessBlock", status: 404, code: "NoSuchPublicAccessBlockConfiguration", message: "The public access block configuration was not found"},
		"a switch that there is not is refused":   {line: "PUT /docs?publicAccessBlock", ask: ask{body: "<PublicAccessBlockConfiguration><BlockPublicPolcy>true</BlockPublicPolcy></PublicAccessBlockConfiguration>"}, status: 400, code: "MalformedXML"},
		"a switch that is neither way is refused": {line: "PUT /docs?publicAccessBlock", ask: ask{body: "<PublicAccessBlockConfiguration><BlockPublicPolicy>maybe</BlockPublicPolicy></PublicAccessBlockConfiguration>"}, status: 400, code: "MalformedXML"},
		"an empty document is refused":            {line: "PUT /docs?publicAccessBlock", status: 400, code: "MalformedXML"},
	})
	s := stocked(t)
	must(t, s, "PUT /docs?publicAccessBlock", ask{body: "<PublicAccessBlockConfiguration><BlockPublicPolicy>true</BlockPublicPolicy></PublicAccessBlockConfiguration>"})
	got := must(t, s, "GET /docs?publicAccessBlock", ask{}).text()
	if !strings.Contains(got, "<IgnorePublicAcls>false</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>") {
		t.Errorf("a switch that was not named should be off: %s", got)
	}
}

func TestPutBucketPolicy(t *testing.T) {
	statement := func(rest string) ask {
		return ask{body: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` + rest + `}]}`}
	}
	const who = `"Principal":{"AWS":"arn:aws:iam::123456789012:root"},`
	const bad = "MalformedPolicy"
	check(t, map[string]row{
		"a policy for a user":                              {line: "PUT /docs?policy", ask: ask{body: aliceReads}, status: 204},
		"a public policy while those are blocked":          {line: "PUT /docs?policy", ask: ask{body: publicRead}, status: 403, code: "AccessDenied", message: `User: arn:aws:iam::123456789012:user/alice is not authorized to perform: s3:PutBucketPolicy on resource: "arn:aws:s3:::docs" because public policies are prevented by the BlockPublicPolicy setting in S3 Block Public Access.`},
		"a public policy while those are not":              {before: []string{"DELETE /docs?publicAccessBlock"}, line: "PUT /docs?policy", ask: ask{body: publicRead}, status: 204},
		"what is no JSON":                                  {line: "PUT /docs?policy", ask: ask{body: "hello"}, status: 400, code: bad, message: "Policies must be valid JSON and the first byte must be '{'"},
		"an empty body":                                    {line: "PUT /docs?policy", status: 400, code: bad},
		"more than 20 KB":                                  {line: "PUT /docs?policy", ask: ask{body: aliceReads + strings.Repeat(" ", 20<<10)}, status: 400, code: bad, message: "Policy exceeds the maximum allowed document size."},
		"no principal":                                     {line: "PUT /docs?policy", ask: statement(`"Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/*"`), status: 400, code: bad, message: "Missing required field Principal"},
		"another bucket":                                   {line: "PUT /docs?policy", ask: statement(who + `"Action":"s3:GetObject","Resource":"arn:aws:s3:::other/*"`), status: 400, code: bad, message: "Policy has invalid resource"},
		"a bucket whose name only begins alike":            {line: "PUT /docs?policy", ask: statement(who + `"Action":"s3:GetObject","Resource":"arn:aws:s3:::docs2/*"`), status: 400, code: bad, message: "Policy has invalid resource"},
		"everything":                                       {line: "PUT /docs?policy", ask: statement(who + `"Action":"s3:GetObject","Resource":"*"`), status: 400, code: bad, message: "Policy has invalid resource"},
		"an action of another service":                     {line: "PUT /docs?policy", ask: statement(who + `"Action":"iam:GetRole","Resource":"arn:aws:s3:::docs/*"`), status: 400, code: bad, message: "Policy has invalid action"},
		"an action on objects for the bucket":              {line: "PUT /docs?policy", ask: statement(who + `"Action":"s3:GetObject","Resource":"arn:aws:s3:::docs"`), status: 400, code: bad, message: "Action does not apply to any resource(s) in statement"},
		"an action on the bucket for objects":              {line: "PUT /docs?policy", ask: statement(who + `"Action":["s3:GetObject","s3:ListBucket"],"Resource":"arn:aws:s3:::docs/*"`), status: 400, code: bad, message: "Action does not apply to any resource(s) in statement"},
		"bucket and objects in one pattern":                {line: "PUT /docs?policy", ask: statement(who + `"Action":["s3:GetObject","s3:ListBucket"],"Resource":"arn:aws:s3:::docs*"`), status: 204},
		"a wildcard action fits everything":                {line: "PUT /docs?policy", ask: statement(who + `"Action":"s3:*","Resource":"arn:aws:s3:::docs"`), status: 204},
		"an account by its number":                         {line: "PUT /docs?policy", ask: statement(`"Principal":{"AWS":"111122223333"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/*"`), status: 204},
		"a service":                                        {line: "PUT /docs?policy", ask: statement(`"Principal":{"Service":"logging.s3.amazonaws.com"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::docs/*"`), status: 204},
		"a principal that is no ARN":                       {line: "PUT /docs?policy", ask: statement(`"Principal":{"AWS":"alice"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/*"`), status: 400, code: bad, message: "Invalid principal in policy"},
		"a caller without s3:PutBucketPolicy":              {line: "PUT /docs?policy", ask: ask{body: aliceReads, decide: deny(iampolicy.ImplicitDeny, iampolicy.IdentityPolicy, "s3:PutBucketPolicy")}, status: 403, code: "AccessDenied"},
		"a caller of another account, even if let in":      {line: "PUT /docs?policy", ask: ask{body: aliceReads, caller: &bob}, status: 405, code: "MethodNotAllowed", message: "The specified method is not allowed against this resource."},
		"reading it from another account, even if let in":  {line: "GET /docs?policy", ask: ask{caller: &bob}, status: 405, code: "MethodNotAllowed"},
		"deleting it from another account, even if let in": {line: "DELETE /docs?policy", ask: ask{caller: &bob}, status: 405, code: "MethodNotAllowed"},
		"a kind of principal that is not known here":       {line: "PUT /docs?policy", ask: statement(`"Principal":{"CanonicalUser":"abc"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/*"`), status: 400, code: bad, message: "Invalid principal in policy"},
		"a provider of identities":                         {line: "PUT /docs?policy", ask: statement(`"Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/x.test"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/*"`), status: 204},
		"an action on the bucket with Object in its name":  {line: "PUT /docs?policy", ask: statement(who + `"Action":"s3:GetBucketObjectLockConfiguration","Resource":"arn:aws:s3:::docs"`), status: 204},
		"a denial of everything else":                      {line: "PUT /docs?policy", ask: ask{body: `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*","NotResource":"arn:aws:s3:::docs/open"}]}`}, status: 204},
		"a lone backslash":                                 {line: "PUT /docs?policy", ask: ask{body: `{"Version":"2012-10-17\"}`}, status: 400, code: bad},
		"the owner's root is never locked out":             {line: "PUT /docs?policy", ask: ask{body: aliceReads, caller: &rootUser, decide: deny(iampolicy.ExplicitDeny, iampolicy.ResourcePolicy, "s3:PutBucketPolicy")}, status: 204},
		"reading the policy of a bucket that has none":     {line: "GET /docs?policy", status: 404, code: "NoSuchBucketPolicy", message: "The bucket policy does not exist"},
		"the status of a policy that there is not":         {line: "GET /docs?policyStatus", status: 404, code: "NoSuchBucketPolicy"},
		"deleting the policy of a bucket that has none":    {line: "DELETE /docs?policy", status: 204},
	})
}

func TestBucketPolicyIsKeptByteForByte(t *testing.T) {
	s := stocked(t)
	document := strings.ReplaceAll(aliceReads, ",", ",\n ")
	must(t, s, "PUT /docs?policy", ask{body: document})
	got := must(t, s, "GET /docs?policy", ask{})
	if got.text() != document || got.Header().Get("Content-Type") != "application/json" {
		t.Errorf("got %s %q", got.Header().Get("Content-Type"), got.text())
	}
	if status := must(t, s, "GET /docs?policyStatus", ask{}).text(); !strings.Contains(status, "<IsPublic>false</IsPublic>") {
		t.Errorf("status is %s", status)
	}
	must(t, s, "DELETE /docs?policy", ask{})
	if code, _ := do(t, s, "GET /docs?policy", ask{}).failure(); code != "NoSuchBucketPolicy" {
		t.Errorf("after the deletion: %q", code)
	}
}

func TestPrincipalsOfABucketPolicyMustExist(t *testing.T) {
	s := New(Options{PrincipalExists: func(kind, arn string) bool {
		return kind == "AWS" && arn == "arn:aws:iam::123456789012:user/alice"
	}})
	must(t, s, "PUT /docs", ask{})
	must(t, s, "PUT /docs?policy", ask{body: aliceReads})
	got := do(t, s, "PUT /docs?policy", ask{body: strings.ReplaceAll(aliceReads, "user/alice", "role/gone")})
	if code, message := got.failure(); code != "MalformedPolicy" || message != "Invalid principal in policy" {
		t.Errorf("got %s: %s", code, message)
	}
	if !strings.Contains(got.text(), "role/gone") {
		t.Errorf("the detail should name the principal: %s", got.text())
	}
}

func TestBlocksOfBucketAndAccountAddUp(t *testing.T) {
	s := New(Options{})
	must(t, s, "PUT /docs", ask{})
	must(t, s, "PUT /docs/a.txt", ask{body: "hello"})
	must(t, s, "PUT /docs?publicAccessBlock", ask{body: openAll})
	must(t, s, "PUT /docs?policy", ask{body: publicRead})
	read := ask{caller: &anonymous, decide: judged(t, anonymous)}
	must(t, s, "GET /docs/a.txt", read)
	if got := do(t, s, "GET /docs/b.txt", read); got.Code != 403 {
		t.Errorf("another key: status %d, want 403", got.Code)
	}
	s.BlockAccount(ours, &PublicAccessBlock{BlockPublicPolicy: true})
	if got := do(t, s, "PUT /docs?policy", ask{body: publicRead}); got.Code != 403 {
		t.Errorf("BlockPublicPolicy of the account: status %d, want 403", got.Code)
	}
	must(t, s, "GET /docs/a.txt", read)
	s.BlockAccount(ours, &PublicAccessBlock{RestrictPublicBuckets: true})
	if got := do(t, s, "GET /docs/a.txt", read); got.Code != 403 {
		t.Errorf("RestrictPublicBuckets of the account: status %d, want 403", got.Code)
	}
	must(t, s, "GET /docs/a.txt", ask{decide: judged(t, alice)})
	s.BlockAccount(ours, nil)
	must(t, s, "GET /docs/a.txt", read)
}
