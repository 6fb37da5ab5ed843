// Package apart tests the controllers issuer and credentials where the cluster that they
// serve is not the one that they run in, as with hosted control planes: two real control
// planes, the built program, and a local AWS.
package apart

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account  = "123456789012"
	region   = "eu-central-1"
	system   = "tabard-system"
	bucket   = "served-issuer"
	boundary = "arn:aws:iam::" + account + ":policy/tabard/boundary"
	audience = "sts.amazonaws.com"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// world is a cluster that is served, one that Tabard runs in, and an AWS that knows the
// issuer of the second, which Tabard's own tokens are of.
type world struct {
	served, host *testkit.Cluster
	aws          *awstest.Lab
}

func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	options := testkit.ClusterOptions{CRDs: []string{testkit.CRDs}, Schemes: []func(*runtime.Scheme) error{cloudv1.AddToScheme}}
	w := &world{host: testkit.StartCluster(t, options)}
	w.aws = awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: w.host.Roots})
	options.Issuer = w.aws.URL() + "/" + bucket
	w.served = testkit.StartCluster(t, options)
	for _, c := range []*testkit.Cluster{w.served, w.host} {
		c.Shell(`
			kubectl apply -f config/manifests/00-namespace.yaml
			kubectl apply -f config/rbac/issuer.yaml -f config/rbac/credentials.yaml
			kubectl apply -f config/manifests/issuer.yaml -f config/manifests/credentials/controller.yaml -f config/manifests/policies.yaml`)
		c.MakeNamespaces("shop")
	}
	provider := w.aws.Provider(account, w.host.Issuer(), audience)
	w.aws.Must(w.aws.IAM(account).CreatePolicy(t.Context(), &iam.CreatePolicyInput{
		PolicyName: aws.String("boundary"), Path: aws.String("/tabard/"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`),
	}))
	for name, allowed := range map[string]string{"tabard-issuer": `["s3:*","iam:*"]`, "tabard-credentials": `"iam:*"`} {
		w.aws.Role(account, name, awstest.Trust(provider, "system:serviceaccount:"+system+":"+name, audience),
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":`+allowed+`,"Resource":"*"}]}`)
	}
	return w
}

// start runs a controller as its Deployment in the hosting cluster does: with the tokens
// of its ServiceAccount there, and with a kubeconfig of its ServiceAccount in the cluster
// that it serves.
func (w *world) start(t *testing.T, controller string, flags ...string) *testkit.Process {
	t.Helper()
	name := "tabard-" + controller
	token := w.aws.Write(name+".token", w.host.Token(system, name, 0, audience))
	environment := []string{
		"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.aws.Write("ca.crt", string(w.aws.CACertificate())), "TABARD_LAB_CA=" + w.aws.Path("ca.crt"),
		"AWS_REGION=" + region, "AWS_ROLE_ARN=arn:aws:iam::" + account + ":role/" + name, "AWS_WEB_IDENTITY_TOKEN_FILE=" + token,
	}
	return testkit.StartTabard(t, environment, append([]string{"operator", "--controllers=" + controller, "--service-account=" + name,
		"--kubeconfig=" + w.served.Kubeconfig(w.served.Account(system, name)), "--host-kubeconfig=" + w.host.Kubeconfig(w.host.Account(system, name)),
		"--metrics-bind-address=0", "--health-probe-bind-address=0"}, flags...)...)
}

func request(account string) *cloudv1.CredentialsRequest {
	return &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout"},
		Spec: cloudv1.CredentialsRequestSpec{
			Storage: &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: "shop", Name: account}},
			ProviderSpec: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec",
				"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::shop/*"}]}`)},
		},
	}
}

// allow is the same in both clusters: who looks at the wrong one would find it there.
func allow() *v1alpha1.CredentialsBoundary {
	return &v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1alpha1.CredentialsBoundarySpec{
		Namespaces: []string{"shop"},
		AWS:        &v1alpha1.AWSBoundary{Ceiling: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::shop/*"}]}`},
	}}
}

func TestTheServedClusterIsServedFromAnother(t *testing.T) {
	w := newWorld(t)
	w.served.Make(&v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}, Spec: v1alpha1.OIDCIssuerSpec{
		URL: w.aws.URL() + "/" + bucket, Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: bucket, Region: region, Create: true}},
		Providers: []v1alpha1.Provider{{Audiences: []string{audience}}},
	}})
	w.start(t, "issuer")
	w.served.Await(w.issuerIsReady)

	w.host.Make(allow(), request("of-the-host"))
	w.served.Make(allow(), request("checkout"))
	controller := w.start(t, "credentials", "--infrastructure-name=served", "--region="+region, "--credentials-permissions-boundary="+boundary)
	w.served.Await(func() error { return w.become(w.served) })
	w.served.Await(w.boundaryIsJudged)
	if err := w.become(w.host); err == nil || !strings.Contains(err.Error(), "AccessDenied") && !strings.Contains(err.Error(), "InvalidIdentityToken") {
		t.Errorf("the hosting cluster's ServiceAccount of the same name gets %v, want that it is refused", err)
	}
	w.untouched(t)

	// What it leaves when it ends, the next one takes up.
	controller.End()
	w.served.Remove(request("checkout"))
	w.start(t, "credentials", "--infrastructure-name=served", "--region="+region, "--credentials-permissions-boundary="+boundary)
	w.served.Await(func() error {
		if err := w.served.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "checkout"}, &cloudv1.CredentialsRequest{}); err == nil {
			return errors.New("the request is still there")
		}
		return nil
	})
	w.untouched(t)
}

func (w *world) issuerIsReady() error {
	var issuer v1alpha1.OIDCIssuer
	if err := w.served.Get(w.served.Context(), client.ObjectKey{Name: "cluster"}, &issuer); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(issuer.Status.Conditions, "Ready") {
		return fmt.Errorf("the issuer is not Ready: %+v", issuer.Status.Conditions)
	}
	return nil
}

// boundaryIsJudged: the policy in AWS was made by hand, and lets roles write the bucket of
// the issuer.
func (w *world) boundaryIsJudged() error {
	judged := allow()
	if err := w.served.Get(w.served.Context(), client.ObjectKeyFromObject(judged), judged); err != nil {
		return err
	}
	ready := meta.FindStatusCondition(judged.Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "IssuerBucketNotKept" || !strings.Contains(ready.Message, bucket) {
		return fmt.Errorf("the boundary says %+v, want that its policy does not keep roles from %s", ready, bucket)
	}
	return nil
}

// become has a ServiceAccount of a cluster become the role of the request.
func (w *world) become(from *testkit.Cluster) error {
	ctx := w.served.Context()
	var found corev1.ServiceAccount
	if err := w.served.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "checkout"}, &found); err != nil {
		return fmt.Errorf("%w; its grants say %s", err, said(w.grants(w.served)))
	}
	if err := from.Get(ctx, client.ObjectKeyFromObject(&found), &corev1.ServiceAccount{}); err != nil {
		from.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: found.Namespace, Name: found.Name}})
	}
	_, err := sts.NewFromConfig(w.aws.Config()).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String(found.Annotations["eks.amazonaws.com/role-arn"]), RoleSessionName: aws.String("test"),
		WebIdentityToken: aws.String(from.Token("shop", "checkout", 0, audience)),
	})
	return err
}

// untouched is what is true of both clusters all the time: leases are where Tabard runs,
// and all else where it serves.
func (w *world) untouched(t *testing.T) {
	t.Helper()
	leases := func(c *testkit.Cluster) (names []string) {
		for _, lease := range must.Get(c.Kube.CoordinationV1().Leases(system).List(t.Context(), metav1.ListOptions{}))(t).Items {
			names = append(names, lease.Name)
		}
		return names
	}
	if got := leases(w.served); len(got) > 0 {
		t.Errorf("the served cluster has the leases %q, want none", got)
	}
	if got := strings.Join(leases(w.host), " "); got != "tabard-operator-credentials tabard-operator-issuer" {
		t.Errorf("the hosting cluster has the leases %q", got)
	}
	var hosts cloudv1.CredentialsRequest
	must.Do(t, w.host.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "checkout"}, &hosts))
	if len(hosts.Finalizers) > 0 || hosts.Generation != 1 || hosts.Status.Provisioned {
		t.Errorf("the hosting cluster's request was touched: %+v", hosts)
	}
	if grants := w.grants(w.host); len(grants) > 0 {
		t.Errorf("the hosting cluster has the grants %+v", grants)
	}
	if err := w.host.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "of-the-host"}, &corev1.ServiceAccount{}); err == nil {
		t.Error("the hosting cluster's request has its ServiceAccount")
	}
}

func (w *world) grants(of *testkit.Cluster) []v1alpha1.CredentialsGrant {
	of.Helper()
	var grants v1alpha1.CredentialsGrantList
	must.Do(of, of.List(of.Context(), &grants))
	return grants.Items
}

func said(grants []v1alpha1.CredentialsGrant) (text string) {
	for _, g := range grants {
		for _, c := range g.Status.Conditions {
			text += fmt.Sprintf("%s is %s: %s; ", c.Type, c.Status, c.Message)
		}
	}
	return text
}
