package awslocal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/hack/load/oidc"
)

// request is what is sent again and again. Its signature is good for a quarter
// of an hour.
type request struct {
	name, method, url string
	header            http.Header
	body              []byte
}

// subject is who asks for a session.
const subject = "system:serviceaccount:team-a:app"

func trusting(principal, action, condition string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":` + principal + `,"Action":"` + action + `"` + condition + `}]}`
}

// prepare makes what the requests need, and the requests.
func prepare(ctx context.Context, s *server, i *oidc.Issuer) ([]request, error) {
	client := s.iam()
	provider, err := client.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: &i.URL, ClientIDList: []string{"sts.amazonaws.com"}, ThumbprintList: []string{i.Thumbprint()},
	})
	if err != nil {
		return nil, err
	}
	web := trusting(`{"Federated":"`+*provider.OpenIDConnectProviderArn+`"}`, "sts:AssumeRoleWithWebIdentity",
		fmt.Sprintf(`,"Condition":{"StringEquals":{"%[1]s:aud":"sts.amazonaws.com","%[1]s:sub":"%[2]s"}}`, i.Bare(), subject))
	for name, trust := range map[string]string{"web": web, "chain": trusting(`{"AWS":"`+account+`"}`, "sts:AssumeRole", "")} {
		if _, err := client.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust}); err != nil {
			return nil, err
		}
	}
	objects := s.s3()
	if _, err := objects.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		return nil, err
	}
	body := bytes.Repeat([]byte("x"), 1024)
	if _, err := objects.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("one"), Body: bytes.NewReader(body)}); err != nil {
		return nil, err
	}
	return s.requests(ctx, i)
}

func (s *server) requests(ctx context.Context, i *oidc.Issuer) ([]request, error) {
	token, err := i.Token(subject)
	if err != nil {
		return nil, err
	}
	form := func(action, role string, more ...string) []byte {
		values := url.Values{"Action": {action}, "Version": {"2011-06-15"}, "RoleArn": {"arn:aws:iam::" + account + ":role/" + role}, "RoleSessionName": {"load"}}
		for k := 0; k+1 < len(more); k += 2 {
			values.Set(more[k], more[k+1])
		}
		return []byte(values.Encode())
	}
	unsigned := request{name: "AssumeRoleWithWebIdentity", method: http.MethodPost, url: s.url + "/", header: http.Header{}, body: form("AssumeRoleWithWebIdentity", "web", "WebIdentityToken", token)}
	// A server of many services tells them apart by the scope of the signature,
	// also where none is asked for.
	webIdentity, err := s.sign(ctx, unsigned, "sts")
	if err != nil {
		return nil, err
	}
	chain, err := s.sign(ctx, request{name: "AssumeRole", method: http.MethodPost, url: s.url + "/", header: http.Header{}, body: form("AssumeRole", "chain")}, "sts")
	if err != nil {
		return nil, err
	}
	get, err := s.sign(ctx, request{name: "GetObject 1 kB", method: http.MethodGet, url: s.url + "/" + bucket + "/one", header: http.Header{}}, "s3")
	return []request{webIdentity, chain, get}, err
}

// sign signs a request once.
func (s *server) sign(ctx context.Context, r request, service string) (request, error) {
	made, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return r, err
	}
	sum := sha256.Sum256(r.body)
	hash := hex.EncodeToString(sum[:])
	made.Header.Set("X-Amz-Content-Sha256", hash)
	if r.method == http.MethodPost {
		made.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	err = v4.NewSigner().SignHTTP(ctx, s.keys, made, hash, service, region, time.Now())
	r.header = made.Header
	return r, err
}
