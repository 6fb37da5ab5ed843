package awslocal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// signed is a request with a signature of version 4 for us-east-1, for paths and
// queries that need no escaping.
func signed(key Credentials, token, service, method, path, body string) *http.Request {
	return signedFor("us-east-1", key, token, service, method, path, body)
}

func signedFor(region string, key Credentials, token, service, method, path, body string) *http.Request {
	return signedAt("127.0.0.1", region, key, token, service, method, path, body)
}

func signedAt(host, region string, key Credentials, token, service, method, path, body string) *http.Request {
	r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	now := time.Now().UTC()
	stamp, day := now.Format("20060102T150405Z"), now.Format("20060102")
	r.Header.Set("X-Amz-Date", stamp)
	r.Header.Set("X-Amz-Content-Sha256", hashed(body))
	names, lines := "host;x-amz-content-sha256;x-amz-date", "host:"+host+"\nx-amz-content-sha256:"+hashed(body)+"\nx-amz-date:"+stamp+"\n"
	if token != "" {
		r.Header.Set("X-Amz-Security-Token", token)
		names, lines = names+";x-amz-security-token", lines+"x-amz-security-token:"+token+"\n"
	}
	if service != "s3" {
		form(r)
	}
	scope := day + "/" + region + "/" + service + "/aws4_request"
	canonical := strings.Join([]string{method, path, "", lines, names, hashed(body)}, "\n")
	secret := mac([]byte("AWS4"+key.SecretAccessKey), day)
	for _, part := range []string{region, service, "aws4_request"} {
		secret = mac(secret, part)
	}
	signature := hex.EncodeToString(mac(secret, "AWS4-HMAC-SHA256\n"+stamp+"\n"+scope+"\n"+hashed(canonical)))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key.AccessKeyID+"/"+scope+", SignedHeaders="+names+", Signature="+signature)
	return r
}

// queryBody is the body of a call in the query protocol.
func queryBody(version, action string, parameters ...string) string {
	values := url.Values{"Version": {version}, "Action": {action}}
	for i := 0; i < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	return values.Encode()
}

// journalEntries are enough to fill the journal.
const journalEntries = 10_000

const (
	iamVersion = "2010-05-08"
	stsVersion = "2011-06-15"
	inlineText = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::bucket/%s/*"}]}`
)

// do wants a request to succeed.
func do(tb testing.TB, server *Server, r *http.Request) string {
	tb.Helper()
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		tb.Fatalf("answered %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// world is a server with an issuer, and two roles: one for its tokens, one for
// the account.
type world struct {
	server *Server
	key    Credentials
	token  string
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		tb.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private, KeyID: "one", Algorithm: "RS256", Use: "sig"}
	issuer := httptest.NewServer(nil)
	tb.Cleanup(issuer.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]string{"issuer": issuer.URL, "jwks_uri": issuer.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}})
	})
	issuer.Config.Handler = mux
	server, err := New(Options{AllowPlainHTTPIssuers: true, RolesPerAccount: 20_000})
	if err != nil {
		tb.Fatal(err)
	}
	w := &world{server: server, key: server.Administrator(DefaultAccount), token: sign(tb, key, issuer.URL)}
	bare := strings.TrimPrefix(issuer.URL, "http://")
	w.iam(tb, "CreateOpenIDConnectProvider", "Url", issuer.URL, "ClientIDList.member.1", "sts.amazonaws.com")
	w.role(tb, "pod", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"arn:aws:iam::`+DefaultAccount+`:oidc-provider/`+bare+`"},"Condition":{"StringEquals":{"`+bare+`:sub":"system:serviceaccount:a:b","`+bare+`:aud":"sts.amazonaws.com"}}}]}`)
	w.role(tb, "app", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::`+DefaultAccount+`:user/administrator"}}]}`)
	return w
}

func sign(tb testing.TB, key jose.JSONWebKey, issuer string) string {
	tb.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	now := time.Now().Unix()
	claims, err := json.Marshal(map[string]any{"iss": issuer, "sub": "system:serviceaccount:a:b", "aud": []string{"sts.amazonaws.com"}, "iat": now, "nbf": now, "exp": now + 3600})
	if err != nil {
		tb.Fatal(err)
	}
	object, err := signer.Sign(claims)
	if err != nil {
		tb.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

func (w *world) iam(tb testing.TB, action string, parameters ...string) {
	tb.Helper()
	do(tb, w.server, signed(w.key, "", "iam", "POST", "/", queryBody(iamVersion, action, parameters...)))
}

func (w *world) role(tb testing.TB, name, trust string) {
	tb.Helper()
	w.iam(tb, "CreateRole", "RoleName", name, "AssumeRolePolicyDocument", trust)
	w.iam(tb, "PutRolePolicy", "RoleName", name, "PolicyName", "inline", "PolicyDocument", fmt.Sprintf(inlineText, name))
}

func arn(role string) string { return "arn:aws:iam::" + DefaultAccount + ":role/" + role }

// measure asks the server again and again, the making of requests left out. A
// request is made anew once in a while: signatures grow old. The journal is full,
// as that of a server that has run for a minute is.
func measure(b *testing.B, server *Server, request func() *http.Request) {
	b.Helper()
	do(b, server, request())
	one := server.journal.Since("")
	for range journalEntries {
		server.journal.Add(one[len(one)-1])
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		r, w := request(), httptest.NewRecorder()
		b.StartTimer()
		server.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatalf("answered %d %s", w.Code, w.Body)
		}
	}
}

func BenchmarkAssumeRoleWithWebIdentity(b *testing.B) {
	w := newWorld(b)
	body := queryBody(stsVersion, "AssumeRoleWithWebIdentity", "RoleArn", arn("pod"), "RoleSessionName", "pod", "WebIdentityToken", w.token)
	measure(b, w.server, func() *http.Request {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", strings.NewReader(body))
		form(r)
		return r
	})
}

func BenchmarkAssumeRole(b *testing.B) {
	w := newWorld(b)
	body := queryBody(stsVersion, "AssumeRole", "RoleArn", arn("app"), "RoleSessionName", "pod")
	measure(b, w.server, func() *http.Request { return signed(w.key, "", "sts", "POST", "/", body) })
}

func BenchmarkGetCallerIdentity(b *testing.B) {
	w := newWorld(b)
	body := queryBody(stsVersion, "GetCallerIdentity")
	measure(b, w.server, func() *http.Request { return signed(w.key, "", "sts", "POST", "/", body) })
}

// BenchmarkGetObject is by a session, whose policies are read at each request.
func BenchmarkGetObject(b *testing.B) {
	w := newWorld(b)
	do(b, w.server, signed(w.key, "", "s3", "PUT", "/bucket", ""))
	do(b, w.server, signed(w.key, "", "s3", "PUT", "/bucket/app/object", strings.Repeat("x", 1024)))
	key, token := sessionKey(b, w.server, w.key, "app")
	measure(b, w.server, func() *http.Request { return signed(key, token, "s3", "GET", "/bucket/app/object", "") })
}

// heap is what is in use after a collection of garbage.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestRolesAreSmall makes roles with a trust policy and an inline policy each.
// 10,000 of them are to stay well below 60 MB.
func TestRolesAreSmall(t *testing.T) {
	const roles, limit = 2000, 6 << 10
	w := newWorld(t)
	before := heap()
	for i := range roles {
		name := fmt.Sprintf("role-%d", i)
		w.role(t, name, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"arn:aws:iam::`+DefaultAccount+`:oidc-provider/issuer.example"},"Condition":{"StringEquals":{"issuer.example:sub":"system:serviceaccount:`+name+`:app","issuer.example:aud":"sts.amazonaws.com"}}}]}`)
	}
	after := heap()
	if each := (after - before) / roles; each > limit {
		t.Errorf("a role takes %d bytes, want at most %d", each, limit)
	}
	runtime.KeepAlive(w)
}

// largeServer has 10,000 roles and 10,000 objects of 1 kB.
func largeServer(b *testing.B) *Server {
	b.Helper()
	const count = 10000
	w := newWorld(b)
	do(b, w.server, signed(w.key, "", "s3", "PUT", "/bucket", ""))
	body := strings.Repeat("x", 1024)
	for i := range count {
		w.role(b, fmt.Sprintf("role-%d", i), fmt.Sprintf(trustText, "user/administrator"))
		do(b, w.server, signed(w.key, "", "s3", "PUT", fmt.Sprintf("/bucket/object-%d", i), body))
	}
	return w.server
}

func BenchmarkDump(b *testing.B) {
	server := largeServer(b)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(dump(b, server))))
	}
}

func BenchmarkLoad(b *testing.B) {
	server := largeServer(b)
	text := dump(b, server)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := server.Admin().Load(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSnapshot is the part of a dump for which the services wait.
func BenchmarkSnapshot(b *testing.B) {
	server := largeServer(b)
	for b.Loop() {
		server.iam.Snapshot()
		server.s3.Snapshot()
	}
}
