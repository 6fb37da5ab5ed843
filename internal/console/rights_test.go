package console

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// secrets is a cluster in which each object has a word of its own, by which a test sees who is told
// of it.
var secrets = testkit.SharedCluster(testkit.ClusterOptions{
	Foreign: []testkit.ForeignKinds{testkit.OLM, testkit.OpenShiftConfig, testkit.OpenShiftCredentials},
}, func(c *testkit.Cluster) {
	for _, text := range []string{
		`{"apiVersion":"operator.openshift.io/v1","kind":"CloudCredential","metadata":{"name":"cluster"},"spec":{"credentialsMode":"Manual","managementState":"Managed"}}`,
		`{"apiVersion":"config.openshift.io/v1","kind":"Authentication","metadata":{"name":"cluster"},"spec":{"serviceAccountIssuer":"https://word-issuer.example.com"}}`,
		`{"apiVersion":"config.openshift.io/v1","kind":"Infrastructure","metadata":{"name":"cluster"},"spec":{"platformSpec":{"type":"AWS"}}}`,
	} {
		c.Make(objectOf(c, text))
	}
	c.MakeNamespaces("team-a", "team-b")
	for _, namespace := range []string{"team-a", "team-b"} {
		c.Make(objectOf(c, fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"word-%[1]s","namespace":%[1]q},
"spec":{"name":"p","source":"vendor","sourceNamespace":"olm","channel":"stable","config":{"env":[{"name":"ROLEARN","value":"arn:aws:iam::123456789012:role/word-role-%[1]s"}]}}}`, namespace)))
		makeWorkload(c, namespace)
	}
	for i, one := range rights() {
		one.grant(c, fmt.Sprintf("right-%d", i))
	}
})

func objectOf(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	must.Do(t, json.Unmarshal([]byte(text), &out.Object))
	return out
}

// right is one that a group of its own has.
type right struct{ namespace, verb, group, resource string }

// rights are those that the console's answers depend on, and some more.
func rights() []right {
	out := []right{
		{"", "list", "", "namespaces"},
		{"", "get", "config.openshift.io", "authentications"},
		{"", "get", "config.openshift.io", "infrastructures"},
		{"", "get", "operator.openshift.io", "cloudcredentials"},
	}
	for _, namespace := range []string{"", "team-a", "team-b"} {
		for _, resource := range []string{"subscriptions", "installplans", "clusterserviceversions"} {
			out = append(out, right{namespace, "list", "operators.coreos.com", resource}, right{namespace, "get", "operators.coreos.com", resource})
		}
		for _, resource := range []string{"pods", "serviceaccounts"} {
			out = append(out, right{namespace, "list", "", resource}, right{namespace, "get", "", resource})
		}
	}
	return out
}

// grant gives the right to a group.
func (r right) grant(c *testkit.Cluster, name string) {
	rules := []rbacv1.PolicyRule{{Verbs: []string{r.verb}, APIGroups: []string{r.group}, Resources: []string{r.resource}}}
	subjects := []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: name}}
	meta := metav1.ObjectMeta{Name: name, Namespace: r.namespace}
	if r.namespace == "" {
		c.Make(&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules},
			&rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}})
		return
	}
	c.Make(&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}})
}

// user is somebody with some of the rights, and a console of theirs.
type user struct {
	*browser
	kube kubernetes.Interface
}

func as(t *testing.T, c *testkit.Cluster, groups []string) user {
	t.Helper()
	config := rest.CopyConfig(c.Config)
	config.QPS = -1
	config.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: append([]string{"system:authenticated"}, groups...)}
	client := olm.Client{Objects: dynamic.NewForConfigOrDie(config), Metadata: metadata.NewForConfigOrDie(config)}
	world := World{Cluster: "lab", Namespace: "team-a", OLM: client, Explain: explainingBy(config), Read: func(context.Context) (model.Catalogue, error) { return model.Catalogue{}, nil }}
	return user{open(t, server(t, Options{World: world})), kubernetes.NewForConfigOrDie(config)}
}

// allRightsHold waits until the API server has seen all roles.
func allRightsHold(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	for i, one := range rights() {
		u := as(t, c, []string{fmt.Sprintf("right-%d", i)})
		c.Await(func() error {
			if !u.may(one.namespace, one.verb, one.group, one.resource) {
				return fmt.Errorf("%v does not hold yet", one)
			}
			return nil
		})
	}
}

// may asks the API server itself.
func (u user) may(namespace, verb, group, resource string) bool {
	u.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource},
	}}
	return must.Get(u.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(u.Context(), review, metav1.CreateOptions{}))(u).Status.Allowed
}

// A person is told of what they may read, and of nothing else: the console has no rights of its own.
func TestNobodyIsToldMoreThanTheAPIServerTells(t *testing.T) { comparesRights(t, 40) }

func TestLongNobodyIsToldMoreThanTheAPIServerTells(t *testing.T) { comparesRights(t, 1000) }

// comparesRights compares what the console tells with what the API server says of random sets of rights.
func comparesRights(t *testing.T, sets int) {
	c := secrets(t)
	allRightsHold(t, c)
	random := rand.New(rand.NewPCG(1, 2))
	told, kept := 0, 0
	var seen workloadsSeen
	for range sets {
		var groups []string
		for i := range rights() {
			if random.IntN(3) == 0 {
				groups = append(groups, fmt.Sprintf("right-%d", i))
			}
		}
		u := as(t, c, groups)
		everywhere := u.may("", "list", "operators.coreos.com", "subscriptions")
		sees := map[string]bool{"word-issuer": u.may("", "get", "config.openshift.io", "authentications")}
		for _, namespace := range []string{"team-a", "team-b"} {
			sees["word-"+namespace] = everywhere || u.may(namespace, "list", "operators.coreos.com", "subscriptions")
			sees["word-role-"+namespace] = sees["word-"+namespace]
		}
		seen.compare(u, groups)
		said := map[string]string{}
		for _, path := range []string{"cluster", "installs", "operators", "installs/team-a/word-team-a", "installs/team-b/word-team-b"} {
			said[path] = u.do(u.request(http.MethodGet, "/api/v1/"+path, "")).Body.String()
		}
		for word, may := range sees {
			for path, text := range said {
				// A refusal has the name that was asked for in it.
				if strings.Contains(strings.ReplaceAll(text, path[strings.LastIndex(path, "/")+1:], ""), word) && !may && !strings.HasSuffix(path, word) {
					t.Fatalf("with the rights %q %s tells of %s: %s", groups, path, word, text)
				}
			}
		}
		list := said["installs"]
		for _, namespace := range []string{"team-a", "team-b"} {
			// Who may not list namespaces is asked about the one of the kubeconfig.
			finds := everywhere || sees["word-"+namespace] && (namespace == "team-a" || u.may("", "list", "", "namespaces"))
			if strings.Contains(list, `"subscription":"word-`+namespace) != finds {
				t.Fatalf("with the rights %q the list of installs has %s: %v, want %v: %s", groups, namespace, !finds, finds, list)
			}
			if one := said["installs/"+namespace+"/word-"+namespace]; strings.Contains(one, "word-role-") != sees["word-"+namespace] {
				t.Fatalf("with the rights %q the install of %s is %s", groups, namespace, one)
			}
			if finds {
				told++
			} else {
				kept++
			}
		}
		if strings.Contains(said["cluster"], "word-issuer") != sees["word-issuer"] {
			t.Fatalf("with the rights %q the cluster is %s", groups, said["cluster"])
		}
	}
	seen.isEnough(t, sets)
	if told < sets/10 || kept < sets/10 {
		t.Errorf("installs were told %d times and kept %d times: the test proves little", told, kept)
	}
}
