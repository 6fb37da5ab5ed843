// Package oldmodules_test is a program of somebody else: it is built on client-go 0.33,
// controller-runtime 0.21 and Go 1.25, older than the product's. It becomes somebody in
// AWS by awsauth, for its objects by roleselector, and embeds the local AWS and the
// policy evaluator in its tests. It shows that all of them work there, and that they do
// not move the versions of what it requires.
package oldmodules_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/iampolicy"
)

const roleARN = "arn:aws:iam::123456789012:role/app"

// TestProgramSignsACall finds a key in a Secret, in the cache of its own
// client-go, and asks the local AWS with it.
func TestProgramSignsACall(t *testing.T) {
	server, err := awslocal.New(awslocal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	key := server.Administrator(awslocal.DefaultAccount)
	secrets := cache.NewStore(cache.MetaNamespaceKeyFunc)
	if err := secrets.Add(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "aws"},
		StringData: map[string]string{"id": key.AccessKeyID, "secret": key.SecretAccessKey},
	}); err != nil {
		t.Fatal(err)
	}
	found, _, err := secrets.GetByKey("team-a/aws")
	if err != nil {
		t.Fatal(err)
	}
	secret := found.(*corev1.Secret).StringData
	credentials := aws.Credentials{AccessKeyID: secret["id"], SecretAccessKey: secret["secret"]}
	if status, body := whoAmI(t, server, credentials); status != http.StatusOK || !strings.Contains(body, ":user/administrator</Arn>") {
		t.Errorf("the signed call is answered %d %s", status, body)
	}
	credentials.SecretAccessKey = "wrong"
	if status, body := whoAmI(t, server, credentials); status != http.StatusForbidden || !strings.Contains(body, "SignatureDoesNotMatch") {
		t.Errorf("the call with a wrong secret is answered %d %s", status, body)
	}
}

// whoAmI asks STS with a signature of the SDK's.
func whoAmI(t *testing.T, server *awslocal.Server, credentials aws.Credentials) (status int, body string) {
	t.Helper()
	form := []byte("Action=GetCallerIdentity&Version=2011-06-15")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL(), bytes.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	hash := sha256.Sum256(form)
	if err := v4.NewSigner().SignHTTP(t.Context(), credentials, request, hex.EncodeToString(hash[:]), "sts", "us-east-1", time.Now()); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(server.CACertificate())
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs = pool
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func TestProgramEvaluatesAPolicy(t *testing.T) {
	policy, err := iampolicy.Parse([]byte(`{"Version":"2012-10-17","Statement":[{"Sid":"Read","Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/*"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]iampolicy.Effect{"s3:GetObject": iampolicy.Allow, "s3:PutObject": iampolicy.ImplicitDeny} {
		got := iampolicy.Evaluate(&iampolicy.Request{
			Principal: iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::123456789012:assumed-role/app/pod", RoleARN: roleARN, AccountID: "123456789012"},
			Action:    action, Resource: "arn:aws:s3:::docs/a", ResourceAccountID: "123456789012", Context: iampolicy.NewContext(),
		}, &iampolicy.Policies{Identity: []*iampolicy.Policy{policy}})
		if got.Effect != want {
			t.Errorf("%s: %s, want %s", action, got.Effect, want)
		}
	}
}
