package console

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// withAWS starts a cluster whose issuer a local AWS can read, and a person's session in that, for the console
// and for the commands that are typed.
func withAWS(t *testing.T) (*testkit.Cluster, *awstest.Lab) {
	t.Helper()
	awstest.Isolate(t)
	var c *testkit.Cluster
	issuer := testkit.ServeIssuer(t, func(ctx context.Context) ([]byte, error) { return c.Keys(ctx) })
	c = testkit.StartCluster(t, testkit.ClusterOptions{Issuer: issuer.URL, CRDs: []string{testkit.CRDs}})
	roots := x509.NewCertPool()
	roots.AddCert(issuer.Certificate())
	aws := awstest.Start(t, awslocal.Options{Accounts: []string{account}, TrustedCAs: roots})
	key := aws.Administrator(account)
	authority := aws.Write("issuer.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issuer.Certificate().Raw})))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": aws.PlainURL(), "AWS_REGION": awstest.Region, "AWS_DEFAULT_REGION": awstest.Region, "AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey,
		"TABARD_LAB_CA": authority,
	} {
		t.Setenv(name, value)
	}
	return c, aws
}

// A person finds the broken link of a pod, copies the command that mends it by keyboard alone, and types it:
// once for the cluster, and once for AWS.
func TestBrowserMendsAPod(t *testing.T) {
	const namespace = "shop-mend"
	c, aws := withAWS(t)
	provider := aws.Provider(account, c.Issuer(), "sts.amazonaws.com")
	aws.Role(account, "checkout", awstest.Trust(provider, "system:serviceaccount:"+namespace+":check-out", "sts.amazonaws.com"),
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::orders/*"}]}`)
	c.MakeNamespaces(namespace)
	c.Make(serviceAccount(namespace, "checkout", "checkout"), withToken(namespace, "checkout-6d9c", "checkout", checkoutRole))
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("workload-mend", map[string]string{
		"namespace": namespace, "arn": checkoutRole, "terminal": types(c),
	})
}
