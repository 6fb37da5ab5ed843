package conformance_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// plain is a request before it is signed.
type plain struct {
	service, method, path, body string
}

var (
	identity = plain{"sts", http.MethodPost, "/", "Action=GetCallerIdentity&Version=2011-06-15"}
	creation = plain{"iam", http.MethodPost, "/", "Action=CreateUser&Version=2010-05-08&UserName=eve"}
	writing  = plain{"s3", http.MethodPut, "/conformance/spoiled", "body"}
)

// signed makes a request with the SDK's signer and the administrator's key.
func (w *world) signed(t *testing.T, p plain, service, region string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), p.method, w.url+p.path, strings.NewReader(p.body))
	if err != nil {
		t.Fatal(err)
	}
	if p.service != "s3" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	}
	sum := sha256.Sum256([]byte(p.body))
	hash := hex.EncodeToString(sum[:])
	request.Header.Set("X-Amz-Content-Sha256", hash)
	key := w.Administrator(account)
	given := aws.Credentials{AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = p.service == "s3" })
	if err := signer.SignHTTP(t.Context(), given, request, hash, service, region, time.Now()); err != nil {
		t.Fatal(err)
	}
	return request
}

// refusesRaw demands a refusal of a request as it is.
func (w *world) refusesRaw(t *testing.T, request *http.Request, status int, code string) {
	t.Helper()
	if got, body := w.send(t, request); got != status || !strings.Contains(body, "<Code>"+code+"</Code>") {
		t.Errorf("%s %s is answered %d %s, want %d %s", request.Method, request.URL.Path, got, body, status, code)
	}
}

// authorization replaces a part of the signature's header.
func authorization(t *testing.T, request *http.Request, old, replacement string) {
	t.Helper()
	before := request.Header.Get("Authorization")
	after := strings.Replace(before, old, replacement, 1)
	if before == after {
		t.Fatalf("the header %q has no %q", before, old)
	}
	request.Header.Set("Authorization", after)
}

// spoiled are requests that were signed well, and changed on the way.
var spoiled = map[string]attempt{
	"a tampered signature is refused": func(t *testing.T, w *world) {
		for _, p := range []plain{identity, creation, writing} {
			if status, body := w.send(t, w.signed(t, p, p.service, region)); status != http.StatusOK {
				t.Fatalf("%s unchanged is answered %d %s", p.service, status, body)
			}
			request := w.signed(t, p, p.service, region)
			value := request.Header.Get("Authorization")
			signature := value[strings.LastIndex(value, "=")+1:]
			authorization(t, request, signature, strings.Repeat("0", len(signature)))
			w.refusesRaw(t, request, http.StatusForbidden, "SignatureDoesNotMatch")
		}
	},
	"a tampered body is refused": func(t *testing.T, w *world) {
		request := w.signed(t, creation, "iam", region)
		replace(request, strings.Replace(creation.body, "eve", "bob", 1))
		w.refusesRaw(t, request, http.StatusForbidden, "SignatureDoesNotMatch")
		request = w.signed(t, writing, "s3", region)
		replace(request, "BODY")
		w.refusesRaw(t, request, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
	},
	"a tampered header is refused": func(t *testing.T, w *world) {
		request := w.signed(t, writing, "s3", region)
		request.URL.Path = "/conformance/elsewhere"
		w.refusesRaw(t, request, http.StatusForbidden, "SignatureDoesNotMatch")
		request = w.signed(t, identity, "sts", region)
		request.Header.Set("X-Amz-Date", time.Now().Add(-time.Minute).UTC().Format("20060102T150405Z"))
		w.refusesRaw(t, request, http.StatusForbidden, "SignatureDoesNotMatch")
	},
	"a signature for another service is refused": func(t *testing.T, w *world) {
		w.refusesRaw(t, w.signed(t, identity, "ec2", region), http.StatusForbidden, "SignatureDoesNotMatch")
		request := w.signed(t, identity, "iam", region)
		authorization(t, request, "/iam/", "/sts/")
		w.refusesRaw(t, request, http.StatusForbidden, "SignatureDoesNotMatch")
	},
	"a signature for another region is refused": func(t *testing.T, w *world) {
		request := w.signed(t, identity, "sts", "eu-west-1")
		authorization(t, request, "/eu-west-1/", "/us-east-1/")
		w.refusesRaw(t, request, http.StatusForbidden, "SignatureDoesNotMatch")
	},
	"a signature of another day is refused": func(t *testing.T, w *world) {
		request := w.signed(t, identity, "sts", region)
		today := request.Header.Get("X-Amz-Date")[:8]
		authorization(t, request, "/"+today+"/", "/20200101/")
		w.refusesRaw(t, request, http.StatusForbidden, "SignatureDoesNotMatch")
	},
}

func replace(request *http.Request, body string) {
	request.Body, request.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
}
