package issuer_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	// otherAccount trusts the issuer too, by a role that registers it there.
	otherAccount = "210987654321"
	// unseenAccount registered the issuer by itself and told nobody.
	unseenAccount = "333344445555"
	// attackersAccount wants to become the roles of the others.
	attackersAccount = "666677778888"

	registrar = "arn:aws:iam::" + otherAccount + ":role/registrar"
)

// stage is one issuer of its own on a fixture, and the accounts around it.
type stage struct {
	*fixture
	bucket, url string
}

func (f *fixture) stage(bucket string) *stage {
	return &stage{fixture: f, bucket: bucket, url: f.aws.URL() + "/" + bucket}
}

// config is an account's administrator.
func (s *stage) config(account string) aws.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.aws.CACertificate())
	admin := s.aws.Administrator(account)
	return aws.Config{
		Region: testRegion, BaseEndpoint: aws.String(s.aws.URL()),
		Credentials: credentials.NewStaticCredentialsProvider(admin.AccessKeyID, admin.SecretAccessKey, ""),
		HTTPClient: &http.Client{Transport: awstest.PlainBodies(
			&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})},
	}
}

// publish stores an OIDCIssuer and waits until it rests.
func (s *stage) publish(t *testing.T, name string, change func(*v1alpha1.OIDCIssuer)) *v1alpha1.OIDCIssuer {
	t.Helper()
	s.create(t, name, func(o *v1alpha1.OIDCIssuer) {
		o.Spec.URL, o.Spec.Publication.S3.Bucket = s.url, s.bucket
		o.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
		change(o)
	})
	stored := s.settle(t, name)
	wantCondition(t, stored, "IssuerPublished", metav1.ConditionTrue, core.ReasonPublished)
	return stored
}

// edit changes the stored spec and waits until the object rests.
func (s *stage) edit(t *testing.T, name string, change func(*v1alpha1.OIDCIssuerSpec)) {
	t.Helper()
	s.update(t, name, change)
	s.settle(t, name)
}

// update changes the stored spec.
func (s *stage) update(t *testing.T, name string, change func(*v1alpha1.OIDCIssuerSpec)) {
	t.Helper()
	stored := &v1alpha1.OIDCIssuer{}
	must.Do(t, s.client.Get(t.Context(), client.ObjectKey{Name: name}, stored))
	change(&stored.Spec)
	must.Do(t, s.client.Update(t.Context(), stored))
}

// delete deletes an OIDCIssuer and runs passes until it is gone, or rests.
func (s *stage) delete(t *testing.T, name string) *v1alpha1.OIDCIssuer {
	t.Helper()
	must.Do(t, s.client.Delete(t.Context(), &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	return s.goOn(t, name)
}

// goOn runs passes over a dying issuer until it is gone, or rests.
func (s *stage) goOn(t *testing.T, name string) *v1alpha1.OIDCIssuer {
	t.Helper()
	for range 20 {
		stored, result := s.pass(t, name)
		if stored.Name == "" || result.RequeueAfter >= core.LookAgain {
			return stored
		}
	}
	t.Fatal("20 passes did not come to rest")
	return nil
}

// register makes a provider for the issuer's URL; with an owner it is as
// Tabard's own command makes it.
func (s *stage) register(t *testing.T, account, owner string) {
	t.Helper()
	config := s.config(account)
	_, err := iam.NewFromConfig(config).CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &s.url, ClientIDList: []string{"sts.amazonaws.com"},
	})
	if err == nil && owner != "" {
		_, err = iam.NewFromConfig(config).TagOpenIDConnectProvider(t.Context(), &iam.TagOpenIDConnectProviderInput{
			OpenIDConnectProviderArn: aws.String(s.provider(account)),
			Tags:                     []iamtypes.Tag{{Key: aws.String(core.OwnerTag), Value: &owner}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) unregister(t *testing.T, account string) {
	t.Helper()
	must.Get(iam.NewFromConfig(s.config(account)).DeleteOpenIDConnectProvider(t.Context(),
		&iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(s.provider(account))}))(t)
}

func (s *stage) provider(account string) string { return core.ProviderARN("aws", account, s.url) }

// trust makes a role of the account's workload that trusts the issuer.
func (s *stage) trust(t *testing.T, account string) (arn string) {
	t.Helper()
	policy := core.TrustPolicy(s.provider(account), core.Subject{Namespace: "shop", ServiceAccount: "till", Audience: "sts.amazonaws.com"})
	out := must.Get(iam.NewFromConfig(s.config(account)).CreateRole(t.Context(),
		&iam.CreateRoleInput{RoleName: aws.String("till-" + s.bucket), AssumeRolePolicyDocument: &policy}))(t)
	return aws.ToString(out.Role.Arn)
}

// distrust deletes that role, and has the issuer looked at anew.
func (s *stage) distrust(t *testing.T, account string) {
	t.Helper()
	look := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"tabard.dev/look":"now"}}}`))
	must.Do(t, s.client.Patch(t.Context(), &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: s.bucket}}, look))
	must.Get(iam.NewFromConfig(s.config(account)).DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("till-" + s.bucket)}))(t)
}

// letRegister makes the role by which the operator reaches the other account.
func (s *stage) letRegister(t *testing.T) {
	t.Helper()
	client := iam.NewFromConfig(s.config(otherAccount))
	_, err := client.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("registrar"), AssumeRolePolicyDocument: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + testAccount + `:root"},"Action":"sts:AssumeRole"}]}`)})
	if err == nil {
		_, err = client.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: aws.String("registrar"), PolicyName: aws.String("register"), PolicyDocument: aws.String(
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:*","Resource":"*"}]}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// errSafe is how an attack ends that was held off where it should be: at the
// bucket's name.
var errSafe = errors.New("the bucket's name is taken")

// takeOver makes the bucket in the attacker's account, publishes a key of the
// attacker's there and asks to become the roles with a token of that key. It
// returns nil if one of them let the attacker in.
func (s *stage) takeOver(t *testing.T, roles ...string) error {
	t.Helper()
	bucket := s3.NewFromConfig(s.config(attackersAccount))
	_, err := bucket.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: &s.bucket, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: testRegion},
	})
	if _, taken := errors.AsType[*s3types.BucketAlreadyExists](err); taken {
		return errSafe
	}
	if err != nil {
		t.Fatal(err)
	}
	key := s.publishAs(t, bucket)
	token := awstest.SignToken(t, key, map[string]any{
		"iss": s.url, "aud": []string{"sts.amazonaws.com"}, "sub": "system:serviceaccount:shop:till",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	})
	anonymous := s.config(attackersAccount)
	anonymous.Credentials = aws.AnonymousCredentials{}
	for _, role := range roles {
		_, err = sts.NewFromConfig(anonymous).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: &role, RoleSessionName: aws.String("attacker"), WebIdentityToken: &token,
		})
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("the name was free, and no role let the attacker in: %w", err)
}

// publishAs writes documents with a new key to a bucket that anybody may read.
func (s *stage) publishAs(t *testing.T, bucket *s3.Client) jose.JSONWebKey {
	t.Helper()
	private := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	key := jose.JSONWebKey{Key: private, KeyID: "attacker", Algorithm: "RS256", Use: "sig"}
	keys := must.Get(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}}))(t)
	spec := v1alpha1.OIDCIssuerSpec{URL: s.url, Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: s.bucket, Region: testRegion}}}
	policy := must.Get(core.MergePolicy(nil, spec))(t)
	steps := []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := bucket.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{Bucket: &s.bucket, PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{}})
			return err
		},
		func(ctx context.Context) error {
			_, err := bucket.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &s.bucket, Policy: &policy})
			return err
		},
	}
	for path, body := range map[string][]byte{core.KeysPath: keys, core.DiscoveryPath: core.Discovery(s.url, []string{"RS256"})} {
		steps = append(steps, func(ctx context.Context) error {
			_, err := bucket.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &path, Body: strings.NewReader(string(body))})
			return err
		})
	}
	for _, step := range steps {
		must.Do(t, step(t.Context()))
	}
	return key
}
