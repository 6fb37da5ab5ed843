package testkit

import (
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	identity "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// CRDs is the folder of Tabard's kinds, for ClusterOptions.
const CRDs = "config/crd"

// ClusterOptions say what a cluster has beside an API server.
type ClusterOptions struct {
	// Issuer is what the cluster's tokens name. Without it that is a server which
	// publishes the issuer's documents, and for which Roots vouch.
	Issuer string
	// Flags are more of the API server's.
	Flags []string
	// CRDs are files and folders of kinds, from the repository's root.
	CRDs []string
	// Foreign are kinds of other projects.
	Foreign []ForeignKinds
	// Schemes add kinds to what the client knows, beside Kubernetes' own and Tabard's.
	Schemes []func(*runtime.Scheme) error
	// ControllerManager starts Kubernetes' own controllers.
	ControllerManager bool
}

// Cluster is an API server with an administrator's clients, for one test or, by
// Shared, for those of a package.
type Cluster struct {
	// TB is the test that uses the cluster, and fails by its methods.
	testing.TB
	*APIServer
	// WithWatch knows the kinds of Kubernetes, of Tabard and of Schemes.
	client.WithWatch
	// Kube and Dynamic are the same administrator's.
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	// Roots vouch for the issuer's server, unless Issuer is set.
	Roots *x509.CertPool
}

// StartCluster starts a cluster, and stops it at the end of the test.
func StartCluster(t testing.TB, options ClusterOptions) *Cluster {
	t.Helper()
	c := &Cluster{TB: t}
	if options.Issuer == "" {
		c.APIServer, c.Roots = StartIssuer(t, options.Flags...)
	} else {
		c.APIServer = StartAPIServer(t, options.Issuer, options.Flags...)
	}
	if options.ControllerManager {
		c.StartControllerManager(t)
	}
	var paths []string
	for _, path := range options.CRDs {
		paths = append(paths, filepath.Join(Root(), path))
	}
	for _, kinds := range options.Foreign {
		paths = append(paths, kinds.Files(t)...)
	}
	if len(paths) > 0 {
		c.InstallCRDsFrom(t, paths...)
	}
	scheme := runtime.NewScheme()
	for _, add := range append(options.Schemes, clientgoscheme.AddToScheme, identity.AddToScheme, services.AddToScheme) {
		c.must(add(scheme))
	}
	var err error
	c.WithWatch, err = client.NewWithWatch(c.Config, client.Options{Scheme: scheme})
	c.must(err)
	c.Kube, err = kubernetes.NewForConfig(c.Config)
	c.must(err)
	c.Dynamic, err = dynamic.NewForConfig(c.Config)
	c.must(err)
	return c
}

func (c *Cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// In is the cluster for another test.
func (c *Cluster) In(t testing.TB) *Cluster {
	inner := *c
	inner.TB = t
	return &inner
}

// Make creates objects.
func (c *Cluster) Make(objects ...client.Object) {
	c.Helper()
	Create(c, c, objects...)
}

// MakeFiles creates the objects of files, whose paths begin at the repository's root.
func (c *Cluster) MakeFiles(files ...string) {
	c.Helper()
	for _, file := range files {
		c.Make(Objects(c, file)...)
	}
}

// MakeNamespaces creates namespaces.
func (c *Cluster) MakeNamespaces(names ...string) {
	c.Helper()
	for _, name := range names {
		c.Make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
}

// NewNamespace creates a namespace whose name no other test has.
func (c *Cluster) NewNamespace() string {
	c.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	c.Make(made)
	return made.Name
}

// Remove deletes an object.
func (c *Cluster) Remove(object client.Object, options ...client.DeleteOption) {
	c.Helper()
	if err := c.Delete(c.Context(), object, options...); err != nil {
		c.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

// Merge changes an object as kubectl patch does, by a JSON merge patch, and reads what is
// stored then.
func (c *Cluster) Merge(object client.Object, patch string) {
	c.Helper()
	if err := c.Patch(c.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner("kubectl")); err != nil {
		c.Fatalf("change %T %s: %v", object, object.GetName(), err)
	}
}

// MergeStatus is Merge for the status.
func (c *Cluster) MergeStatus(object client.Object, patch string) {
	c.Helper()
	if err := c.Status().Patch(c.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		c.Fatalf("change the status of %T %s: %v", object, object.GetName(), err)
	}
}

// Token is one of a ServiceAccount, as its pods have it. Without a life it is valid for
// an hour, without an audience it is for the API server.
func (c *Cluster) Token(namespace, account string, life time.Duration, audiences ...string) string {
	c.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	if life > 0 {
		request.Spec.ExpirationSeconds = new(int64(life / time.Second))
	}
	self := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	c.must(c.SubResource("token").Create(c.Context(), self, request))
	return request.Status.Token
}

// Account is how a pod of a ServiceAccount reaches the cluster, by a token.
func (c *Cluster) Account(namespace, account string) *rest.Config {
	c.Helper()
	config := rest.AnonymousClientConfig(c.Config)
	config.QPS, config.BearerToken = -1, c.Token(namespace, account, 0)
	return config
}

// As is how a user reaches the cluster whom the administrator impersonates. A
// ServiceAccount's user is system:serviceaccount:NAMESPACE:NAME; it need not exist, and
// is of the groups of all ServiceAccounts.
func (c *Cluster) As(user string) *rest.Config {
	config := rest.CopyConfig(c.Config)
	config.Impersonate.UserName = user
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(account, ":")
		config.Impersonate.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
	}
	return config
}

// ClientFor is a client of the same kinds with another's rights.
func (c *Cluster) ClientFor(config *rest.Config) client.WithWatch {
	c.Helper()
	made, err := client.NewWithWatch(config, client.Options{Scheme: c.Scheme()})
	c.must(err)
	return made
}

// Kubeconfig is a file by which a process reaches the cluster so.
func (c *Cluster) Kubeconfig(config *rest.Config) (path string) {
	c.Helper()
	path = filepath.Join(c.TempDir(), "kubeconfig")
	WriteKubeconfig(c, path, config)
	return path
}

// Grant is the package's, in this cluster.
func (c *Cluster) Grant(user string, role *rbacv1.ClusterRole) {
	c.Helper()
	Grant(c, c.Config, user, role)
}

// GrantIn is the package's, in this cluster.
func (c *Cluster) GrantIn(namespace, user string, rules ...rbacv1.PolicyRule) {
	c.Helper()
	GrantIn(c, c.Config, namespace, user, rules...)
}

// Shell is the package's, for the administrator.
func (c *Cluster) Shell(script string) string {
	c.Helper()
	return Shell(c, c.Config, script)
}

// Await is the package's.
func (c *Cluster) Await(what func() error) {
	c.Helper()
	Await(c, what)
}
