package sigv4_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// plain are simple requests of each service, which succeed when they are signed.
var plain = map[string]struct{ target, body string }{
	"sts": {"http://sts.amazonaws.com/", "Action=GetCallerIdentity&Version=2011-06-15"},
	"iam": {"http://iam.amazonaws.com/", "Action=ListRoles&Version=2010-05-08"},
	"ec2": {"http://ec2.us-east-1.amazonaws.com/", "Action=DescribeRegions&Version=2016-11-15"},
	"s3":  {"http://s3.us-east-1.amazonaws.com/", ""},
}

// unsigned is a plain request of a service.
func unsigned(t *testing.T, service string) (*http.Request, string) {
	t.Helper()
	method := http.MethodPost
	if service == "s3" {
		method = http.MethodGet
	}
	r := httptest.NewRequestWithContext(t.Context(), method, plain[service].target, strings.NewReader(plain[service].body))
	hash := awstest.Hash(plain[service].body)
	if service == "s3" {
		r.Header.Set("X-Amz-Content-Sha256", hash)
	} else {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r, hash
}

// terms are how a request is signed. The zero values are the administrator's.
type terms struct {
	keys   aws.Credentials
	scope  string
	region string
	at     time.Time
}

func signed(t *testing.T, server *awslocal.Server, service string, with terms) *http.Request {
	t.Helper()
	if with.keys.AccessKeyID == "" {
		with.keys = credentials(server)
	}
	if with.scope == "" {
		with.scope = service
	}
	if with.region == "" {
		with.region = "us-east-1"
	}
	if with.at.IsZero() {
		with.at = noon
	}
	r, hash := unsigned(t, service)
	if err := awstest.Signer(service).SignHTTP(t.Context(), with.keys, r, hash, with.scope, with.region, with.at); err != nil {
		t.Fatalf("sign: %v", err)
	}
	return r
}

// authorization changes a signed request's Authorization header.
func authorization(old, with string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, with, 1))
	}
}

var (
	errorCode    = regexp.MustCompile(`<Code>([^<]*)</Code>`)
	errorMessage = regexp.MustCompile(`<Message>([^<]*)</Message>`)
)

// failure is "STATUS CODE: MESSAGE" of an answer.
func failure(answer *httptest.ResponseRecorder) string {
	find := func(pattern *regexp.Regexp) string {
		if m := pattern.FindStringSubmatch(answer.Body.String()); m != nil {
			return strings.NewReplacer("&#39;", "'", "&#34;", `"`, "&lt;", "<", "&gt;", ">").Replace(m[1])
		}
		return ""
	}
	return fmt.Sprintf("%d %s: %s", answer.Code, find(errorCode), find(errorMessage))
}

const (
	invalidToken  = "403 InvalidClientTokenId: The security token included in the request is invalid."
	mismatch      = "403 SignatureDoesNotMatch: The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	mismatchS3    = "403 SignatureDoesNotMatch: The request signature we calculated does not match the signature you provided. Check your key and signing method."
	unknownKeyS3  = "403 InvalidAccessKeyId: The AWS Access Key Id you provided does not exist in our records."
	skewedS3      = "403 RequestTimeTooSkewed: The difference between the request time and the current time is too large."
	authFailure   = "401 AuthFailure: AWS was not able to validate the provided access credentials"
	malformed     = "400 AuthorizationHeaderMalformed: The authorization header is malformed; "
	tokenExpired  = "403 ExpiredToken: The security token included in the request is expired"
	tooEarly      = "403 SignatureDoesNotMatch: Signature not yet current: 20260101T121501Z is still later than 20260101T121500Z (20260101T120000Z + 15 min.)"
	tooLate       = "403 SignatureDoesNotMatch: Signature expired: 20260101T114459Z is now earlier than 20260101T114500Z (20260101T120000Z - 15 min.)"
	wrongSTSScope = "403 SignatureDoesNotMatch: Credential should be scoped to correct service: 'sts'."
)

// TestEveryServiceRefusesInItsOwnWords makes each mistake with each service.
func TestEveryServiceRefusesInItsOwnWords(t *testing.T) {
	server := serve(t, func() time.Time { return noon })
	administrator := credentials(server)
	unknown := aws.Credentials{AccessKeyID: "AKIAUNKNOWNUNKNOWN00", SecretAccessKey: administrator.SecretAccessKey}
	wrong := aws.Credentials{AccessKeyID: administrator.AccessKeyID, SecretAccessKey: "wrong"}
	superfluous := administrator
	superfluous.SessionToken = "token"
	for name, c := range map[string]struct {
		terms  terms
		change func(*http.Request)
		want   map[string]string
	}{
		"rightly signed":    {terms{}, nil, map[string]string{"sts": "200 : ", "iam": "200 : ", "ec2": "200 : ", "s3": "200 : "}},
		"an unknown key":    {terms{keys: unknown}, nil, map[string]string{"sts": invalidToken, "iam": invalidToken, "ec2": authFailure, "s3": unknownKeyS3}},
		"another secret":    {terms{keys: wrong}, nil, map[string]string{"sts": mismatch, "iam": mismatch, "ec2": authFailure, "s3": mismatchS3}},
		"a token too many":  {terms{keys: superfluous}, nil, map[string]string{"sts": invalidToken, "iam": invalidToken, "ec2": authFailure, "s3": "400 InvalidToken: The provided token is malformed or otherwise invalid."}},
		"too early":         {terms{at: noon.Add(15*time.Minute + time.Second)}, nil, map[string]string{"sts": tooEarly, "iam": tooEarly, "ec2": authFailure, "s3": skewedS3}},
		"too late":          {terms{at: noon.Add(-15*time.Minute - time.Second)}, nil, map[string]string{"sts": tooLate, "iam": tooLate, "ec2": "400 RequestExpired: Request has expired.", "s3": skewedS3}},
		"another partition": {terms{region: "cn-north-1"}, nil, map[string]string{"sts": invalidToken, "s3": unknownKeyS3}},
		"another service": {terms{scope: "sqs"}, nil, map[string]string{
			"sts": wrongSTSScope, "s3": malformed + `incorrect service "sqs". This endpoint belongs to "s3".`}},
		"another day in the scope": {terms{}, authorization("/20260101/", "/20260102/"), map[string]string{
			"sts": "403 SignatureDoesNotMatch: Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20260102' != '20260101', from '20260101T120000Z'.",
			"s3":  malformed + `Invalid credential date "20260102". This date is not the same as X-Amz-Date: "20260101".`}},
		"no region in the scope": {terms{}, authorization("/us-east-1/", "//"), map[string]string{"sts": "403 SignatureDoesNotMatch: Credential should be scoped to a valid region. ", "s3": malformed + "a non-empty region must be provided in the credential."}},
		"another terminator":     {terms{}, authorization("aws4_request", "aws5_request"), map[string]string{"sts": "400 IncompleteSignature: Credential should be scoped with a valid terminator: 'aws4_request'.", "s3": malformed + `incorrect terminator "aws5_request". This endpoint uses "aws4_request".`}},
		"a short credential":     {terms{}, authorization("/aws4_request", ""), map[string]string{"sts": "400 IncompleteSignature: Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term.", "s3": malformed + `the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".`}},
		"no signature":           {terms{}, authorization("Signature=", "Sum="), map[string]string{"sts": "400 IncompleteSignature: Authorization header requires 'Signature' parameter."}},
		"another algorithm":      {terms{}, authorization("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA512"), map[string]string{"sts": "400 IncompleteSignature: The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.", "s3": "400 InvalidRequest: The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."}},
		"a signature in capitals": {terms{}, func(r *http.Request) {
			at := strings.Index(r.Header.Get("Authorization"), "Signature=")
			r.Header.Set("Authorization", r.Header.Get("Authorization")[:at]+"Signature="+strings.ToUpper(r.Header.Get("Authorization")[at+10:]))
		}, map[string]string{"sts": mismatch, "s3": mismatchS3}},
		"no commas' spaces": {terms{}, func(r *http.Request) {
			r.Header.Set("Authorization", strings.ReplaceAll(r.Header.Get("Authorization"), ", ", ","))
		}, map[string]string{"sts": "200 : ", "s3": "200 : "}},
		"no date":               {terms{}, func(r *http.Request) { r.Header.Del("X-Amz-Date") }, map[string]string{"sts": "400 IncompleteSignature: Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.", "s3": "403 AccessDenied: AWS authentication requires a valid Date or x-amz-date header"}},
		"two headers":           {terms{}, func(r *http.Request) { r.Header.Add("Authorization", r.Header.Get("Authorization")) }, map[string]string{"s3": "400 InvalidArgument: Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified"}},
		"a host behind a proxy": {terms{}, func(r *http.Request) { r.Header.Set("X-Forwarded-Host", r.Host); r.Host = "s3.amazonaws.com" }, map[string]string{"s3": mismatchS3}},
		"a header not signed":   {terms{}, func(r *http.Request) { r.Header.Set("X-Amz-Acl", "private") }, map[string]string{"s3": "403 AccessDenied: There were headers present in the request which were not signed"}},
		"no hash":               {terms{}, func(r *http.Request) { r.Header.Del("X-Amz-Content-Sha256") }, map[string]string{"s3": "400 InvalidRequest: Missing required header for this request: x-amz-content-sha256"}},
		"unsigned":              {terms{}, func(r *http.Request) { r.Header.Del("Authorization") }, map[string]string{"sts": "403 MissingAuthenticationToken: Request is missing Authentication Token", "iam": "403 MissingAuthenticationToken: Request is missing Authentication Token", "s3": "403 AccessDenied: Access Denied"}},
		"an earlier version's URL": {terms{}, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "AWSAccessKeyId=AKIA&Signature=x&Expires=1"
		}, map[string]string{"s3": "400 InvalidRequest: The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."}},
	} {
		for service, want := range c.want {
			t.Run(name+" for "+service, func(t *testing.T) {
				r := signed(t, server, service, c.terms)
				if c.change != nil {
					c.change(r)
				}
				if _, answer := ask(t, server, r); failure(answer) != want {
					t.Errorf("answered\n %s\nwant\n %s", failure(answer), want)
				}
			})
		}
	}
}

// TestPresignedURLsAreRefusedInS3sOwnWords changes parameters of a URL. What
// they are is looked at before the signature is.
func TestPresignedURLsAreRefusedInS3sOwnWords(t *testing.T) {
	server := serve(t, func() time.Time { return noon })
	const bad = "400 AuthorizationQueryParametersError: "
	const missing = bad + "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters."
	const credential = bad + "Error parsing the X-Amz-Credential parameter; "
	key := credentials(server).AccessKeyID
	for name, c := range map[string]struct {
		at        time.Time
		parameter string
		// values replace the parameter's; none take it away.
		values []string
		want   string
	}{
		"as it was signed":          {noon, "", nil, "200 : "},
		"a week old":                {noon.Add(-7 * 24 * time.Hour), "", nil, "200 : "},
		"more than a week old":      {noon.Add(-7*24*time.Hour - time.Second), "", nil, "403 AccessDenied: Request has expired"},
		"from the future":           {noon.Add(16 * time.Minute), "", nil, "403 AccessDenied: Request is not valid yet"},
		"no algorithm":              {noon, "X-Amz-Algorithm", nil, missing},
		"no credential":             {noon, "X-Amz-Credential", nil, missing},
		"no date":                   {noon, "X-Amz-Date", nil, missing},
		"no signature":              {noon, "X-Amz-Signature", nil, missing},
		"no signed headers":         {noon, "X-Amz-SignedHeaders", nil, missing},
		"no expiry":                 {noon, "X-Amz-Expires", nil, missing},
		"two expiries":              {noon, "X-Amz-Expires", []string{"1", "2"}, missing},
		"another algorithm":         {noon, "X-Amz-Algorithm", []string{"AWS4"}, bad + `X-Amz-Algorithm only supports "AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256"`},
		"a date that is none":       {noon, "X-Amz-Date", []string{"today"}, bad + `X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`},
		"an expiry that is none":    {noon, "X-Amz-Expires", []string{"soon"}, bad + "X-Amz-Expires should be a number"},
		"an expiry before its time": {noon, "X-Amz-Expires", []string{"-1"}, bad + "X-Amz-Expires must be non-negative"},
		"an expiry of over a week":  {noon, "X-Amz-Expires", []string{"604801"}, bad + "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds"},
		"another expiry":            {noon, "X-Amz-Expires", []string{"604799"}, mismatchS3},
		"a short credential":        {noon, "X-Amz-Credential", []string{"AKIA"}, credential + `the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".`},
		"another service":           {noon, "X-Amz-Credential", []string{key + "/20260101/us-east-1/sqs/aws4_request"}, credential + `incorrect service "sqs". This endpoint belongs to "s3".`},
		"another terminator":        {noon, "X-Amz-Credential", []string{key + "/20260101/us-east-1/s3/aws5_request"}, credential + `incorrect terminator "aws5_request". This endpoint uses "aws4_request".`},
		"another day":               {noon, "X-Amz-Credential", []string{key + "/20260102/us-east-1/s3/aws4_request"}, credential + `Invalid credential date "20260102". This date is not the same as X-Amz-Date: "20260101".`},
		"a token that is not its":   {noon, "X-Amz-Security-Token", []string{"token"}, "400 InvalidToken: The provided token is malformed or otherwise invalid."},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, plain["s3"].target+"?X-Amz-Expires=604800", http.NoBody)
			address, _, err := awstest.Signer("s3").PresignHTTP(t.Context(), credentials(server), r, "UNSIGNED-PAYLOAD", "s3", "us-east-1", c.at)
			if err != nil {
				t.Fatalf("presign: %v", err)
			}
			parsed, err := url.Parse(address)
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			if query := parsed.Query(); c.parameter != "" {
				query[c.parameter] = c.values
				parsed.RawQuery = query.Encode()
			}
			_, answer := ask(t, server, httptest.NewRequestWithContext(t.Context(), http.MethodGet, parsed.String(), http.NoBody))
			if failure(answer) != c.want {
				t.Errorf("answered\n %s\nwant\n %s", failure(answer), c.want)
			}
		})
	}
}

// TestAPresignedIdentityLastsAQuarterOfAnHour whatever expiry it asks for.
func TestAPresignedIdentityLastsAQuarterOfAnHour(t *testing.T) {
	for _, expires := range []string{"", "0", "60", "900", "604800"} {
		for age, want := range map[time.Duration]int{0: 200, 15 * time.Minute: 200, 15*time.Minute + time.Second: 403, -15*time.Minute - time.Second: 403} {
			server := serve(t, func() time.Time { return noon.Add(age) })
			target := "http://sts.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15"
			if expires != "" {
				target += "&X-Amz-Expires=" + expires
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
			r.Header.Set("X-K8s-Aws-Id", "demo")
			address, _, err := awstest.Signer("sts").PresignHTTP(t.Context(), credentials(server), r, awstest.Hash(""), "sts", "us-east-1", noon)
			if err != nil {
				t.Fatalf("presign: %v", err)
			}
			sent := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
			sent.Header.Set("X-K8s-Aws-Id", "demo")
			if _, answer := ask(t, server, sent); answer.Code != want {
				t.Errorf("X-Amz-Expires %q, %v old: %s, want %d", expires, age, failure(answer), want)
			}
			sent = httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
			sent.Header.Set("X-K8s-Aws-Id", "other")
			if _, answer := ask(t, server, sent); answer.Code != 403 {
				t.Errorf("for another cluster: %s, want 403", failure(answer))
			}
		}
	}
}

// TestAPresignedPostHasNoBodyOfAnybodyElses: what is done must be signed.
func TestAPresignedPostHasNoBodyOfAnybodyElses(t *testing.T) {
	server := serve(t, func() time.Time { return noon })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://iam.amazonaws.com/", http.NoBody)
	address, _, err := awstest.Signer("iam").PresignHTTP(t.Context(), credentials(server), r, awstest.Hash(""), "iam", "us-east-1", noon)
	if err != nil {
		t.Fatalf("presign: %v", err)
	}
	sent := httptest.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("Action=ListRoles&Version=2010-05-08"))
	sent.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if _, answer := ask(t, server, sent); failure(answer) != mismatch {
		t.Errorf("answered %s, want %s", failure(answer), mismatch)
	}
}
