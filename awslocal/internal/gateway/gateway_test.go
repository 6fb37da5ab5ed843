package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
	"github.com/tabard-dev/tabard/iampolicy"
)

func TestDestinationIsFoundByContentThenSignature(t *testing.T) {
	signed := &sigv4.Signature{Service: "s3"}
	cases := map[string]struct {
		signature       *sigv4.Signature
		action, version string
		want            string
	}{
		"an action of IAM":                 {signed, "GetRole", "2010-05-08", "iam"},
		"an action of STS":                 {nil, "AssumeRoleWithWebIdentity", "2011-06-15", "sts"},
		"an action of another service":     {&sigv4.Signature{Service: "ec2"}, "DescribeRegions", "2016-11-15", "ec2"},
		"a signature":                      {signed, "", "", "s3"},
		"an action without anything more":  {nil, "AssumeRoleWithWebIdentity", "", "sts"},
		"nothing of the kind is anonymous": {nil, "", "", "s3"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := destination("127.0.0.1:4566", c.signature, c.action, c.version); got != c.want {
				t.Errorf("the service is %s, want %s", got, c.want)
			}
		})
	}
}

func TestPayloadsAreHeldAgainstTheirHash(t *testing.T) {
	cases := map[string]struct {
		service, hash, length, body string
		want                        string
		wantKind                    sigv4.Kind
	}{
		"no hash":                         {"sts", "", "", "body", "body", 0},
		"the right hash":                  {"sts", sigv4.Hash([]byte("body")), "", "body", "body", 0},
		"the hash of another body":        {"sts", sigv4.Hash([]byte("other")), "", "body", "", sigv4.BodyMismatch},
		"unsigned, which S3 knows":        {"s3", sigv4.UnsignedPayload, "", "body", "body", 0},
		"unsigned, which STS knows not":   {"sts", sigv4.UnsignedPayload, "", "body", "", sigv4.BodyMismatch},
		"unsigned chunks":                 {"s3", sigv4.UnsignedTrailer, "4", "4\r\nbody\r\n0\r\n\r\n", "body", 0},
		"signed chunks without signature": {"s3", sigv4.SignedChunks, "4", "4\r\nbody\r\n0\r\n\r\n", "", sigv4.Broken},
		"chunks without a length":         {"s3", sigv4.UnsignedTrailer, "", "4\r\nbody\r\n0\r\n\r\n", "", sigv4.LengthMissing},
		"chunks that say they are huge":   {"s3", sigv4.UnsignedTrailer, "67108865", "0\r\n\r\n", "", sigv4.TooLarge},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPut, "/", http.NoBody)
			r.Header.Set("Content-Encoding", "gzip, aws-chunked")
			if c.hash != "" {
				r.Header.Set(hashHeader, c.hash)
			}
			if c.length != "" {
				r.Header.Set("X-Amz-Decoded-Content-Length", c.length)
			}
			one := &call.Call{HTTP: r}
			problem := fillPayload(one, c.service, nil, "", []byte(c.body))
			switch {
			case problem == nil && c.wantKind != 0, problem != nil && problem.Kind != c.wantKind:
				t.Errorf("problem %v, want one of kind %d", problem, c.wantKind)
			case problem == nil && string(one.Payload) != c.want:
				t.Errorf("the payload is %q, want %q", one.Payload, c.want)
			case problem == nil && sigv4.IsStreaming(c.hash) && r.Header.Get("Content-Encoding") != "gzip":
				t.Errorf("the content's encoding is %q, want gzip", r.Header.Get("Content-Encoding"))
			}
		})
	}
}

func TestGlobalConditionKeysAreFilledIn(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "https://h/", http.NoBody)
	r.RemoteAddr = "10.2.3.4:5"
	r.Header.Set("User-Agent", "test")
	c := &call.Call{HTTP: r, Region: "eu-central-1", Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.Context = requestContext(c)
	conditions := []string{}
	for key, value := range map[string]string{
		"aws:CurrentTime": "2026-01-01T00:00:00Z", "aws:EpochTime": "1767225600", "aws:SecureTransport": "true", "aws:SourceIp": "10.2.3.4",
		"aws:UserAgent": "test", "aws:RequestedRegion": "eu-central-1", "aws:userid": "AROA1:s", "aws:PrincipalAccount": "123456789012",
		"aws:PrincipalArn": "arn:aws:iam::123456789012:role/team/app", "aws:ResourceAccount": "111122223333", "aws:PrincipalType": "AssumedRole", "s3:prefix": "a/",
	} {
		conditions = append(conditions, `"`+key+`":"`+value+`"`)
	}
	policy, err := iampolicy.Parse([]byte(`{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringEquals":{` + strings.Join(conditions, ",") + `}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	credential := call.Credential{
		Caller: call.Caller{UserID: "AROA1:s", Principal: iampolicy.Principal{
			Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::123456789012:assumed-role/app/s", RoleARN: "arn:aws:iam::123456789012:role/team/app", AccountID: "123456789012",
		}},
		Context:  iampolicy.Context{},
		Policies: iampolicy.Policies{Identity: []*iampolicy.Policy{policy}},
	}
	credential.Context.Set("aws:PrincipalType", "AssumedRole")
	extra := iampolicy.Context{}
	extra.Set("s3:prefix", "a/")
	authorize := c.As(credential).Authorize
	if got := authorize("s3:ListBucket", "arn:aws:s3:::b", call.Side{AccountID: "111122223333"}, extra); got.Effect != iampolicy.ExplicitDeny {
		t.Errorf("a denial on all keys gives %+v", got)
	}
	extra.Set("s3:prefix", "b/")
	if got := authorize("s3:ListBucket", "arn:aws:s3:::b", call.Side{AccountID: "111122223333"}, extra); got.Effect != iampolicy.ImplicitDeny {
		t.Errorf("with one key changed it gives %+v", got)
	}
}
