package testkit_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

var shared = testkit.SharedCluster(testkit.ClusterOptions{
	CRDs: []string{testkit.CRDs}, ControllerManager: true,
	Foreign: []testkit.ForeignKinds{testkit.MachineAPI, testkit.OpenShiftConfig, testkit.OpenShiftCredentials, testkit.ClusterAPI, testkit.ClusterAPIAWS, testkit.OCMHub, testkit.OCMSpoke},
}, func(c *testkit.Cluster) { c.MakeFiles("config/manifests/00-namespace.yaml") })

// TestAClusterKnowsItsUsers asks the API server who each is that a cluster gives.
func TestAClusterKnowsItsUsers(t *testing.T) {
	c := shared(t)
	namespace := c.NewNamespace()
	user := "system:serviceaccount:" + namespace + ":app"
	c.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app"}})
	byFile := must.Get(clientcmd.BuildConfigFromFlags("", c.Kubeconfig(c.Account(namespace, "app"))))(t)
	for want, config := range map[string]*rest.Config{user: c.Account(namespace, "app"), user + " ": byFile, user + "  ": c.As(user), "somebody": c.As("somebody"), "administrator": c.Config} {
		who := &authenticationv1.SelfSubjectReview{}
		if err := c.ClientFor(config).Create(t.Context(), who); err != nil || who.Status.UserInfo.Username != strings.TrimSpace(want) {
			t.Errorf("%v, it is %q, want %q", err, who.Status.UserInfo.Username, want)
		}
		if isAccount := strings.HasPrefix(want, user); isAccount != slices.Contains(who.Status.UserInfo.Groups, "system:serviceaccounts:"+namespace) {
			t.Errorf("%s is of the groups %q", want, who.Status.UserInfo.Groups)
		}
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{
		Token: c.Token(namespace, "app", 20*time.Minute, "elsewhere"), Audiences: []string{"elsewhere"},
	}}
	if err := c.Create(t.Context(), review); err != nil || review.Status.User.Username != user {
		t.Errorf("a token for elsewhere: %v %+v", err, review.Status)
	}
}

// TestAGrantIsWaitedFor uses a right in the moment in which Grant says that it is there.
func TestAGrantIsWaitedFor(t *testing.T) {
	c := shared(t)
	c.Grant("reader", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"identity.tabard.dev"}, Resources: []string{"iamrolechoices"}, Verbs: []string{"list"}},
	}})
	if err := c.ClientFor(c.As("reader")).List(t.Context(), &v1alpha1.IAMRoleChoiceList{}); err != nil {
		t.Error(err)
	}
}

// TestASharedClusterIsEachTestsOwn: it fails the test that uses it, and its namespaces are
// of one test. Its controller manager runs.
func TestASharedClusterIsEachTestsOwn(t *testing.T) {
	var names []string
	for range 2 {
		t.Run("", func(t *testing.T) {
			c := shared(t)
			if c.TB != t {
				t.Error("the cluster fails another test")
			}
			names = append(names, c.NewNamespace())
		})
	}
	if names[0] == names[1] {
		t.Errorf("two tests have the namespace %s", names[0])
	}
	c := shared(t)
	account := &corev1.ServiceAccount{}
	c.Await(func() error {
		return c.Get(t.Context(), client.ObjectKey{Namespace: names[1], Name: "default"}, account)
	})
	c.Merge(account, `{"metadata":{"labels":{"a":"b"}}}`)
	if account.Labels["a"] != "b" {
		t.Errorf("the account's labels are %v", account.Labels)
	}
	c.Remove(account)
}
