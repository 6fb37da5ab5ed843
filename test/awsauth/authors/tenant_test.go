package authors

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// deputy is the controller's user.
const deputy = "system:serviceaccount:example:controller"

// The page quotes what follows.

// becoming is an Auth that requests tokens of ServiceAccounts.
func becoming(client dynamic.Interface, getenv func(string) string) (*awsauth.Auth, error) {
	return awsauth.New(awsauth.Options{Tokens: kube.Tokens{Client: client}, Getenv: getenv})
}

// identityFor is who to be for an object of a tenant.
func identityFor(object metav1.Object, serviceAccount, role string) identity.Identity {
	return identity.Identity{Base: identity.ServiceAccount, ServiceAccount: identity.ServiceAccountRef{
		Namespace: object.GetNamespace(), // never one that its spec names
		Name:      serviceAccount, RoleARN: role,
	}}
}

// clientOf is a client that may live as long as the process.
func clientOf(ctx context.Context, auth *awsauth.Auth, id identity.Identity) (*sts.Client, error) {
	config, err := auth.Follow(ctx, id)
	if err != nil {
		return nil, err
	}
	return sts.NewFromConfig(config), nil
}

// TestAControllerActsAsATenantsServiceAccount by what the page says: with the one right that the
// tenant gives, in AWS as the tenant's role lets the ServiceAccount in, and as no other.
func TestAControllerActsAsATenantsServiceAccount(t *testing.T) {
	w := newWorld(t)
	w.register()
	for _, namespace := range []string{"team-a", "team-b"} {
		w.tenant(namespace)
	}
	role := w.grant(t)
	config := rest.CopyConfig(w.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: deputy}
	client := must.Get(dynamic.NewForConfig(config))(t)
	environment := map[string]string{"AWS_REGION": region, "AWS_ENDPOINT_URL": w.aws.URL(), "AWS_CA_BUNDLE": w.dir + "/ca.pem", "HOSTNAME": "pod"}
	auth := must.Get(becoming(client, func(name string) string { return environment[name] }))(t)
	who := func(namespace, serviceAccount string) (string, error) {
		client, err := clientOf(t.Context(), auth, identityFor(&metav1.ObjectMeta{Namespace: namespace}, serviceAccount, role))
		if err != nil {
			return "", err
		}
		out, err := client.GetCallerIdentity(t.Context(), nil)
		if err != nil {
			return "", err
		}
		return aws.ToString(out.Arn), nil
	}
	// The rights take a moment to be known to the API server.
	w.await("the caller is the tenant's role", func() (string, bool) {
		got, err := who("team-a", "secrets")
		return fmt.Sprint(got, err), strings.HasSuffix(got, ":assumed-role/tenant/tabard-pod")
	})
	for _, c := range []struct{ namespace, account, why string }{
		{"team-b", "secrets", "grant this process the verb create on serviceaccounts/token there"},
		{"team-a", "default", "grant this process the verb create on serviceaccounts/token there"},
		{"", "secrets", "say its name, and as its namespace that of the object which asks"},
	} {
		_, err := who(c.namespace, c.account)
		if err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "eyJ") {
			t.Errorf("%s/%s: want %q, got %v", c.namespace, c.account, c.why, err)
		}
	}
	w.bind(t, "team-b")
	w.await("the other tenant's ServiceAccount is refused by the role", func() (string, bool) {
		_, err := who("team-b", "secrets")
		return fmt.Sprint(err), fault.Of("", "", err).Class == fault.CredentialsRejected
	})
}

// tenant makes a namespace with a ServiceAccount.
func (w *world) tenant(namespace string) {
	w.Helper()
	if _, err := w.Kube.CoreV1().Namespaces().Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	for _, name := range []string{"secrets", "default"} {
		if _, err := w.Kube.CoreV1().ServiceAccounts(namespace).Create(w.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
	}
}

// grant gives the controller the page's right in the namespace team-a, and makes a role that
// trusts the ServiceAccount of that.
func (w *world) grant(t *testing.T) (role string) {
	t.Helper()
	w.bind(t, "team-a")
	trust := strings.ReplaceAll(*w.trust("sts.amazonaws.com"), name+":"+name, "team-a:secrets")
	tenant := "tenant"
	made := must.Get(w.administrator().CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &tenant, AssumeRolePolicyDocument: &trust}))(t)
	return *made.Role.Arn
}

func (w *world) bind(t *testing.T, namespace string) {
	t.Helper()
	right := &rbacv1.Role{}
	for _, block := range testkit.Blocks(readAll(t, page), "yaml") {
		if strings.Contains(block, "kind: Role\n") {
			must.Do(t, yaml.UnmarshalStrict([]byte(block), right))
		}
	}
	right.Namespace = namespace
	must.Get(w.Kube.RbacV1().Roles(namespace).Create(t.Context(), right, metav1.CreateOptions{}))(t)
	must.Get(w.Kube.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: right.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: right.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: deputy}},
	}, metav1.CreateOptions{}))(t)
}
