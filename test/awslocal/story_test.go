package awslocal_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestIssuerMayBeABucketOfTheSameServer is the way that the lab goes: STS
// fetches the documents from S3 of the same process, over TLS and anonymously.
func TestIssuerMayBeABucketOfTheSameServer(t *testing.T) {
	l := newLab(t)
	issuer := l.URL() + "/documents"
	key := awstest.RSAKey(t, "one")
	key.Use = "" // as many issuers publish theirs
	cfg := l.administrator(account)
	cfg.Region = "us-east-1"
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := aws.String("documents")
	l.Must(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}))
	l.Must(client.DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{Bucket: bucket}))
	public := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::documents/*"}}`
	l.Must(client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: bucket, Policy: &public}))
	for name, document := range map[string]any{
		".well-known/openid-configuration": map[string]any{"issuer": issuer, "jwks_uri": issuer + "/keys.json"},
		"keys.json":                        awstest.KeySet(key),
	} {
		text := must.Get(json.Marshal(document))(t)
		l.Must(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: &name, Body: bytes.NewReader(text)}))
	}
	l.role("app", l.trust(l.Provider(account, issuer, audience)))
	claims := l.claims()
	claims["iss"] = issuer
	l.Must(exchange(t, l, awstest.SignToken(t, key, claims), nil))
	anonymous := 0
	for _, entry := range l.Admin().Journal() {
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
	signed := must.Get(sts.NewPresignClient(sts.NewFromConfig(l.administrator(account))).PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}))(t)
	ask := func(url string) (int, string) {
		request := must.Get(http.NewRequestWithContext(t.Context(), signed.Method, url, http.NoBody))(t)
		request.Header.Set("Accept", "application/json")
		status, _, body := l.Send(l.Client(), request)
		return status, body
	}
	if status, body := ask(signed.URL); status != http.StatusOK || !strings.Contains(body, `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Arn":"arn:aws:iam::`+account+`:user/administrator"`) {
		t.Errorf("the answer is %d %s", status, body)
	}
	if status, body := ask(strings.Replace(signed.URL, "GetCallerIdentity", "AssumeRole", 1)); status != http.StatusForbidden || !strings.Contains(body, "SignatureDoesNotMatch") {
		t.Errorf("another action under the same signature answers %d %s", status, body)
	}
}
