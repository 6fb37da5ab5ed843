package sigv4_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// shapes are the kinds of signed requests.
var shapes = map[string]func(*testing.T, *awslocal.Server, *rand.Rand) (*http.Request, string){
	"S3, signed in the header": func(t *testing.T, server *awslocal.Server, random *rand.Rand) (*http.Request, string) {
		body := text(random, 20)
		r := request(t, random, pick(random, []string{"GET", "PUT", "DELETE"}), "/bucket/"+escape(text(random, 20)), body)
		hash := awstest.Hash(body)
		r.Header.Set("X-Amz-Content-Sha256", hash)
		sign(t, server, r, hash, "s3")
		return r, body
	},
	"S3, with an unsigned payload": func(t *testing.T, server *awslocal.Server, random *rand.Rand) (*http.Request, string) {
		r := request(t, random, "GET", "/bucket/"+escape(text(random, 20)), "")
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		sign(t, server, r, "UNSIGNED-PAYLOAD", "s3")
		return r, ""
	},
	"S3, signed in the query": func(t *testing.T, server *awslocal.Server, random *rand.Rand) (*http.Request, string) {
		r := request(t, random, "GET", "/bucket/"+escape(text(random, 20)), "")
		query := r.URL.Query()
		query.Set("X-Amz-Expires", "3600")
		r.URL.RawQuery = query.Encode()
		return presign(t, server, r, "UNSIGNED-PAYLOAD", "s3"), ""
	},
	"STS, signed in the header": func(t *testing.T, server *awslocal.Server, random *rand.Rand) (*http.Request, string) {
		body := "Action=GetCallerIdentity&Version=2011-06-15&x=" + url.QueryEscape(text(random, 10))
		r := request(t, random, "POST", "/", body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		sign(t, server, r, awstest.Hash(body), "sts")
		return r, body
	},
	"STS, signed in the query": func(t *testing.T, server *awslocal.Server, random *rand.Rand) (*http.Request, string) {
		r := request(t, random, "GET", "/", "")
		query := r.URL.Query()
		query.Set("Action", "GetCallerIdentity")
		query.Set("Version", "2011-06-15")
		query.Set("X-Amz-Expires", "60")
		r.URL.RawQuery = query.Encode()
		return presign(t, server, r, awstest.Hash(""), "sts"), ""
	},
	"another service, with a path that is escaped twice": func(t *testing.T, server *awslocal.Server, random *rand.Rand) (*http.Request, string) {
		path := "/" + escape(strings.NewReplacer("/", "-", ".", "-").Replace(text(random, 12)))
		r := request(t, random, "GET", path, "")
		sign(t, server, r, awstest.Hash(""), "sts")
		return r, ""
	},
}

// request makes a request with a random query and random headers.
func request(t *testing.T, random *rand.Rand, method, path, body string) *http.Request {
	t.Helper()
	query := url.Values{}
	for range random.IntN(4) {
		query.Add("q"+text(random, 5), text(random, 8))
	}
	target := "http://" + pick(random, []string{"127.0.0.1:4566", "localhost", "sts.amazonaws.com"}) + path
	if encoded := query.Encode(); encoded != "" {
		// Both ways to write a space mean the same.
		target += "?" + strings.ReplaceAll(encoded, "+", "%20")
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatalf("request %s: %v", target, err)
	}
	for range random.IntN(4) {
		name := "X-Amz-Meta-" + pick(random, []string{"A", "Bb", "C-C"})
		r.Header.Add(name, pick(random, []string{"one", "two  words", "é, b", "  led and trailed  ", "", "a\tb"}))
	}
	if random.IntN(2) == 0 {
		r.Header.Set("Content-Type", "text/plain")
	}
	return r
}

func credentials(server *awslocal.Server) aws.Credentials {
	key := server.Administrator(account)
	return aws.Credentials{AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey}
}

func sign(t *testing.T, server *awslocal.Server, r *http.Request, hash, service string) {
	t.Helper()
	if err := awstest.Signer(service).SignHTTP(context.WithoutCancel(t.Context()), credentials(server), r, hash, service, "us-east-1", time.Now()); err != nil {
		t.Fatalf("sign: %v", err)
	}
}

// presign returns the request to the presigned URL, with the headers that were
// signed.
func presign(t *testing.T, server *awslocal.Server, r *http.Request, hash, service string) *http.Request {
	t.Helper()
	signed, headers, err := awstest.Signer(service).PresignHTTP(t.Context(), credentials(server), r, hash, service, "us-east-1", time.Now())
	if err != nil {
		t.Fatalf("presign: %v", err)
	}
	out, err := http.NewRequestWithContext(t.Context(), r.Method, signed, http.NoBody)
	if err != nil {
		t.Fatalf("request %s: %v", signed, err)
	}
	out.Header = headers
	out.Header.Del("Host")
	return out
}

// text is 1 to most characters of all kinds.
func text(random *rand.Rand, most int) string {
	all := []rune("abcXYZ019-._~ /+%&=?#:@!$'()*,;\"<>[]{}|\\^`é漢\u00a0")
	out := make([]rune, 1+random.IntN(most))
	for i := range out {
		out[i] = all[random.IntN(len(all))]
	}
	return string(out)
}

// escape is AWS's percent encoding of a path: slashes stay.
func escape(path string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/", "%7E", "~").Replace(url.QueryEscape(path))
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func sorted(texts []string) []string {
	out := slices.Clone(texts)
	slices.Sort(out)
	return out
}
