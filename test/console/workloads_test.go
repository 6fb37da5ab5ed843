package console

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	roleAnnotation = "eks.amazonaws.com/role-arn"
	checkoutRole   = "arn:aws:iam::" + account + ":role/checkout"
)

// types types the commands that a scenario sends it, as a person does at a terminal, and is its address.
func types(c *testkit.Cluster) string {
	c.Helper()
	folder := c.TempDir()
	must.Do(c, os.Symlink(must.Get(filepath.Abs(os.Getenv("TABARD_LOCALKUBE")))(c), filepath.Join(folder, "kubectl")))
	environment := append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "KUBECONFIG="+c.Kubeconfig(c.Config))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		command, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		shell := exec.CommandContext(r.Context(), "bash", "-euo", "pipefail", "-c", string(command))
		shell.Env = environment
		out, err := shell.CombinedOutput()
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write(out)
	}))
	c.Cleanup(server.Close)
	return server.URL
}

// serviceAccount is one that names a role, or none where the role is empty.
func serviceAccount(namespace, name, role string) *corev1.ServiceAccount {
	out := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if role != "" {
		out.Annotations = map[string]string{roleAnnotation: role}
	}
	return out
}

// pod is one of a ServiceAccount, to which no webhook gave anything.
func pod(namespace, name, account string, variables ...corev1.EnvVar) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{
		ServiceAccountName: account, Containers: []corev1.Container{{Name: "app", Image: "app", Env: variables}},
	}}
}

// withToken is a pod that is written with a role and a token.
func withToken(namespace, name, account, role string) *corev1.Pod {
	out := pod(namespace, name, account, corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: role}, corev1.EnvVar{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/identity/token"})
	out.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "identity", MountPath: "/identity"}}
	out.Spec.Volumes = []corev1.Volume{{Name: "identity", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "sts.amazonaws.com", Path: "token"}}},
	}}}}
	return out
}

// shop makes a namespace with a workload of each standing.
func shop(c *testkit.Cluster, namespace string) {
	c.Helper()
	c.MakeNamespaces(namespace)
	c.Make(
		serviceAccount(namespace, "checkout", checkoutRole), serviceAccount(namespace, "plain", ""),
		withToken(namespace, "has", "checkout", checkoutRole), pod(namespace, "lacks", "checkout"), pod(namespace, "takes-none", "plain"),
		pod(namespace, "by-file", "plain", corev1.EnvVar{Name: "AWS_CONFIG_FILE", Value: "/aws"}),
	)
}

func TestBrowserListsWorkloads(t *testing.T) {
	c := shared(t)
	shop(c, "shop-list")
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("workloads", map[string]string{"namespace": "shop-list", "terminal": types(c)})
}

// Thousands of pods come page by page.
func TestBrowserListsManyPods(t *testing.T) {
	c := testkit.StartCluster(t, testkit.ClusterOptions{})
	crowd(c, 5000)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("workloads-many", nil)
}

// crowd makes so many pods in the namespace crowd, of which each tenth has a role.
func crowd(c *testkit.Cluster, many int) {
	c.Helper()
	const abreast = 16
	c.MakeNamespaces("crowd")
	c.Make(serviceAccount("crowd", "plain", ""), serviceAccount("crowd", "checkout", checkoutRole))
	var together sync.WaitGroup
	failed := make([]error, abreast)
	for worker := range abreast {
		together.Go(func() {
			for n := worker; n < many && failed[worker] == nil; n += abreast {
				account := "plain"
				if n%10 == 0 {
					account = "checkout"
				}
				failed[worker] = c.Create(c.Context(), pod("crowd", fmt.Sprintf("pod-%04d", n), account))
			}
		})
	}
	together.Wait()
	for _, err := range failed {
		must.Do(c, err)
	}
}

// The page of a ServiceAccount has its pods, answers about a call, and says that it is gone.
func TestBrowserExplainsAServiceAccount(t *testing.T) {
	c := shared(t)
	shop(c, "shop-account")
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("workload-account", map[string]string{"namespace": "shop-account", "terminal": types(c)})
}

// What strangers write into objects of the cluster is text.
func TestBrowserShowsTextsOfStrangersInWorkloads(t *testing.T) {
	const namespace, turn = "shop-strange", "\u202e"
	c := shared(t)
	c.MakeNamespaces(namespace)
	strange := `<script>window.ran=true</script><img src=x onerror=alert(1)>` + turn + "\x1b[2Jx\n" + `; rm -rf / #`
	hostile := serviceAccount(namespace, "strange", strange)
	hostile.Annotations["eks.amazonaws.com/audience"] = strange
	labelled := pod(namespace, "labelled", "strange", corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: strange})
	labelled.Labels = map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": ""}
	labelled.Annotations = map[string]string{"note": strange}
	c.Make(hostile, labelled)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("workloads-strange", map[string]string{"namespace": namespace, "turn": turn})
}

// A person who may read the pods of one namespace sees those, and that there may be more. One who may read
// nothing learns which right is missing.
func TestBrowserListsWorkloadsOfOneNamespace(t *testing.T) {
	const namespace = "shop-mine"
	c := shared(t)
	shop(c, namespace)
	c.Make(serviceAccount(namespace, "reader", ""), serviceAccount(namespace, "nobody", ""))
	c.GrantIn(namespace, "system:serviceaccount:"+namespace+":reader", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"pods", "serviceaccounts"}, Verbs: []string{"get", "list"},
	})
	for _, each := range []struct{ user, scenario string }{{"reader", "workloads-mine"}, {"nobody", "workloads-none"}} {
		t.Run(each.user, func(t *testing.T) {
			file := c.Kubeconfig(c.Account(namespace, each.user))
			config := must.Get(clientcmd.LoadFromFile(file))(t)
			config.Contexts[config.CurrentContext].Namespace = namespace
			must.Do(t, clientcmd.WriteToFile(*config, file))
			start(t, "--kubeconfig", file).plays(each.scenario, map[string]string{"namespace": namespace})
		})
	}
}
