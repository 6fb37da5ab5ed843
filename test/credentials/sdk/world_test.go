// Package sdk_test has the SDKs of three clouds read the token Secrets that the controller
// credentials writes, with tokens that a real API server issues. AWS is the local one, Azure
// and Google Cloud are stand-ins. It is a module of its own, so that no program of Tabard
// requires the SDKs of Azure and Google.
package sdk_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/go-jose/go-jose/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/credentials/sdk/standin"
)

const (
	account        = "123456789012"
	system         = "tabard-system"
	team           = "team-a"
	subject        = "system:serviceaccount:" + team + ":app"
	audience       = "openshift"
	boundary       = "arn:aws:iam::" + account + ":policy/boundary"
	infrastructure = "lab"
	givenRole      = "arn:aws:iam::" + account + ":role/given"

	tenant   = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	appID    = "6ba7b811-9dad-11d1-80b4-00c04fd430c8"
	resource = "https://management.azure.com"

	pool     = "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/pool/providers/"
	universe = "apis.example"
	email    = "app@project.iam.gserviceaccount.com"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// world is a cluster whose controller has written token Secrets, and three clouds that trust
// the cluster's issuer for one ServiceAccount.
type world struct {
	*testkit.Cluster
	aws    *awstest.Lab
	clouds *standin.Server
	// issuer is the URL that tokens name, key one that it publishes beside the API server's.
	issuer string
	key    jose.JSONWebKey
	// token is the path that the Secrets name.
	token string
}

var started = testkit.Shared(newWorld)

// in is the world of one test.
func in(t *testing.T) *world {
	t.Helper()
	w := *started(t)
	w.Cluster = w.In(t)
	return &w
}

func newWorld(t testing.TB) *world {
	w := &world{key: awstest.RSAKey(t, "second"), token: filepath.Join(t.TempDir(), "token")}
	front := testkit.ServeIssuer(t, func(ctx context.Context) ([]byte, error) { return w.published(ctx) })
	w.issuer = front.URL
	w.Cluster = testkit.StartCluster(t, testkit.ClusterOptions{
		Issuer: front.URL, CRDs: []string{testkit.CRDs}, Schemes: []func(*runtime.Scheme) error{cloudv1.AddToScheme},
	})
	roots := x509.NewCertPool()
	roots.AddCert(front.Certificate())
	w.MakeNamespaces(system, team, "team-b")
	for _, one := range []client.ObjectKey{{Namespace: system, Name: "tabard-credentials"}, {Namespace: team, Name: "app"}, {Namespace: team, Name: "other"}, {Namespace: "team-b", Name: "app"}} {
		w.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: one.Name}})
	}
	federation := standin.Federation{Issuer: w.issuer, Subject: subject, Audience: audience}
	w.clouds = standin.Start(t, standin.Options{
		Azure:  standin.Application{Tenant: tenant, Client: appID, Resource: resource, Federation: federation},
		Google: standin.Provider{Name: pool + "cluster", Account: email, Universe: universe, Federation: federation},
		Roots:  roots,
	})
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account}, TrustedCAs: roots})
	w.aws.Must(w.aws.IAM(account).CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("boundary"), PolicyDocument: aws.String(document("s3:*", "*"))}))
	provider := w.aws.Provider(account, w.issuer, "sts.amazonaws.com", audience)
	w.aws.Role(account, "given", awstest.Trust(provider, subject, audience), "")
	w.aws.Role(account, "of-another", awstest.Trust(provider, "system:serviceaccount:team-b:app", audience), "")
	minter := w.aws.Role(account, "minter", awstest.Trust(provider, "system:serviceaccount:"+system+":tabard-credentials", "sts.amazonaws.com"), document("iam:*", "*"))
	w.operate(t, minter)
	w.ask()
	return w
}

// published are the API server's keys, and the world's own.
func (w *world) published(ctx context.Context) ([]byte, error) {
	text, err := w.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	set.Keys = append(set.Keys, w.key.Public())
	return json.Marshal(set)
}

func document(action, resource string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":[%q],"Resource":%q}]}`, action, resource)
}

// operate runs the operator, with a token for its role.
func (w *world) operate(t testing.TB, role string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte(w.Token(system, "tabard-credentials", time.Hour, "sts.amazonaws.com")), 0o600))
	testkit.StartTabard(t, []string{
		"AWS_ENDPOINT_URL=" + w.aws.PlainURL(), "AWS_REGION=" + awstest.Region, "AWS_ROLE_ARN=" + role, "AWS_WEB_IDENTITY_TOKEN_FILE=" + file,
	}, "operator", "--controllers=credentials", "--service-account=tabard-credentials", "--infrastructure-name="+infrastructure, "--region="+awstest.Region,
		"--kubeconfig="+w.Kubeconfig(w.Config), "--metrics-bind-address=0", "--health-probe-bind-address=0", "--log-level=error")
}

// ask makes what an administrator makes and what the team asks for, and waits for the
// Secrets.
func (w *world) ask() {
	w.Helper()
	w.Make(
		&v1alpha1.OIDCIssuer{
			ObjectMeta: metav1.ObjectMeta{Name: "cluster"},
			Spec: v1alpha1.OIDCIssuerSpec{
				URL: w.issuer, Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: "keys", Region: awstest.Region}},
				Providers: []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com"}}},
			},
		},
		&v1alpha1.CredentialsBoundary{
			ObjectMeta: metav1.ObjectMeta{Name: team},
			Spec: v1alpha1.CredentialsBoundarySpec{
				Namespaces: []string{team},
				AWS: &v1alpha1.AWSBoundary{
					PermissionsBoundary: boundary, Ceiling: document("s3:GetObject", "arn:aws:s3:::team/*"), RoleARNPatterns: []string{givenRole},
				},
			},
		},
		w.request("given", "AWSProviderSpec", `"stsIAMRoleARN":"`+givenRole+`"`),
		w.request("minted", "AWSProviderSpec", `"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::team/a/*"}]`),
		w.request("azure", "AzureProviderSpec", `"azureClientID":"`+appID+`","azureTenantID":"`+tenant+`","azureRegion":"westeurope","azureSubscriptionID":"6ba7b812-9dad-11d1-80b4-00c04fd430c8"`),
		w.request("google", "GCPProviderSpec", `"serviceAccountEmail":"`+email+`","audience":"`+pool+`cluster"`),
	)
	for _, name := range []string{"given", "minted", "azure", "google"} {
		w.Await(func() error {
			var request cloudv1.CredentialsRequest
			if err := w.Get(w.Context(), client.ObjectKey{Namespace: team, Name: name}, &request); err != nil {
				return err
			}
			if request.Status.Provisioned {
				return nil
			}
			var grants v1alpha1.CredentialsGrantList
			if err := w.List(w.Context(), &grants); err != nil {
				return err
			}
			for _, grant := range grants.Items {
				if grant.Spec.Request.Name == name {
					return fmt.Errorf("the request %s is not fulfilled: %v", name, grant.Status.Conditions)
				}
			}
			return fmt.Errorf("the request %s has no grant", name)
		})
	}
}

// request is one for a Secret of its own name.
func (w *world) request(name, kind, fields string) *cloudv1.CredentialsRequest {
	return &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name},
		Spec: cloudv1.CredentialsRequestSpec{
			SecretRef: &cloudv1.ObjectReference{Namespace: team, Name: name}, ServiceAccountNames: []string{"app"}, CloudTokenPath: w.token,
			ProviderSpec: &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"apiVersion":"cloudcredential.openshift.io/v1","kind":%q,%s}`, kind, fields)},
		},
	}
}

// mount is a Secret as the kubelet gives it to a pod: a file for each key.
func (w *world) mount(name string) (folder string) {
	w.Helper()
	var secret corev1.Secret
	must.Do(w, w.Get(w.Context(), client.ObjectKey{Namespace: team, Name: name}, &secret))
	folder = w.TempDir()
	for key, value := range secret.Data {
		must.Do(w, os.WriteFile(filepath.Join(folder, key), value, 0o600))
	}
	return folder
}

// project puts a token where the Secrets say that it is.
func (w *world) project(token string) {
	w.Helper()
	must.Do(w, os.WriteFile(w.token, []byte(token), 0o600))
}

// claims are those of a token that all clouds take, but for what is given.
func (w *world) claims(but map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{"iss": w.issuer, "sub": subject, "aud": []string{audience}, "iat": now, "nbf": now, "exp": now + 600}
	maps.Copy(claims, but)
	return claims
}
