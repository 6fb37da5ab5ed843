package awslocal_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// TestIssuerMayBeABucketOfTheSameServer is the way that the lab goes: STS
// fetches the documents from S3 of the same process, over TLS and anonymously.
func TestIssuerMayBeABucketOfTheSameServer(t *testing.T) {
	l := newLab(t)
	issuer := l.server.URL() + "/documents"
	key := jose.JSONWebKey{Key: rsaKey(t), KeyID: "one", Algorithm: "RS256"}
	cfg := l.administrator(account)
	cfg.Region = "us-east-1"
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := aws.String("documents")
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	public := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::documents/*"}}`
	if _, err := client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: bucket, Policy: &public}); err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string]any{
		".well-known/openid-configuration": map[string]any{"issuer": issuer, "jwks_uri": issuer + "/keys.json"},
		"keys.json":                        jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}},
	} {
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: &name, Body: bytes.NewReader(text)}); err != nil {
			t.Fatal(err)
		}
	}
	made, err := l.iam().CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: &issuer, ClientIDList: []string{audience}})
	if err != nil {
		t.Fatal(err)
	}
	bare := strings.TrimPrefix(issuer, "https://")
	l.role("app", strings.ReplaceAll(l.trust(*made.OpenIDConnectProviderArn), strings.TrimPrefix(l.issuer.url(), "https://"), bare))
	claims := l.issuer.claims()
	claims["iss"] = issuer
	if _, err := exchange(t, l, awstest.SignToken(t, key, claims), nil); err != nil {
		t.Fatal(err)
	}
	anonymous := 0
	for _, entry := range l.server.Admin().Journal() {
		if entry.Service == "s3" && entry.Caller == "anonymous" && entry.Status == http.StatusOK {
			anonymous++
		}
	}
	if anonymous != 2 {
		t.Errorf("the journal has %d anonymous reads, want 2", anonymous)
	}
}

// TestPresignedIdentityIsGoodForEKS plays aws-iam-authenticator: it sends a
// presigned GET with the cluster's header, and reads JSON.
func TestPresignedIdentityIsGoodForEKS(t *testing.T) {
	l := newLab(t)
	signed, err := sts.NewPresignClient(sts.NewFromConfig(l.administrator(account))).PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(url string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), signed.Method, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "application/json")
		response, err := l.client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	if status, body := ask(signed.URL); status != http.StatusOK || !strings.Contains(body, `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Arn":"arn:aws:iam::`+account+`:user/administrator"`) {
		t.Errorf("the answer is %d %s", status, body)
	}
	if status, body := ask(strings.Replace(signed.URL, "GetCallerIdentity", "AssumeRole", 1)); status != http.StatusForbidden || !strings.Contains(body, "SignatureDoesNotMatch") {
		t.Errorf("another action under the same signature answers %d %s", status, body)
	}
}
