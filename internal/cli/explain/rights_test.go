package explain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/explain"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// TestTheRightsOfANamespacesUserAreEnough: of one who may edit it. Who may only view it is told what is
// missing. The cluster has nothing of Tabard.
func TestTheRightsOfANamespacesUserAreEnough(t *testing.T) {
	c := testkit.StartCluster(t, testkit.ClusterOptions{})
	c.MakeNamespaces("shop")
	c.Make(
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout", Annotations: map[string]string{"eks.amazonaws.com/role-arn": roleARN}}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout"}, Spec: corev1.PodSpec{ServiceAccountName: "checkout", Containers: []corev1.Container{{Name: "app", Image: "app"}}}},
	)
	// The roles view and edit are put together of these by a controller.
	for user, roles := range map[string][]string{"viewer": {"system:aggregate-to-view"}, "editor": {"system:aggregate-to-view", "system:aggregate-to-edit"}} {
		for _, role := range roles {
			c.Make(&rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: user + "-" + strings.ReplaceAll(role, ":", "-")},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
			})
		}
	}
	for user, want := range map[string]struct {
		verdict chain.Verdict
		issuer  chain.State
	}{"viewer": {chain.Unhealthy, chain.Unseen}, "editor": {chain.Unhealthy, chain.Sound}} {
		var out, said bytes.Buffer
		parent := &cobra.Command{Use: "explain", SilenceUsage: true, SilenceErrors: true}
		_, aws := world("checkout")
		explain.AddTo(parent, explain.World{Streams: command.Streams{Out: &out, Err: &said}, AWS: aws, Cluster: func(*command.Kubeconfig) (explain.Cluster, error) {
			kube, err := kubernetes.NewForConfig(c.As(user))
			return explain.Cluster{Kube: kube, Namespace: "shop"}, err
		}})
		parent.SetArgs([]string{"pod", "checkout", "-o", "json"})
		_ = parent.ExecuteContext(t.Context()) // its exit code is that of the verdict
		var r chain.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v: %s%s", user, err, &out, &said)
		}
		if r.Verdict != want.verdict || r.Links[0].State != want.issuer || r.First.Code != chain.CodeIssuerURL && r.First.Code != chain.CodeTooEarly && r.First.Code != chain.CodeNotInjected {
			t.Errorf("%s sees %s, and the first finding %+v", user, fmt.Sprint(r.Links[0]), r.First)
		}
		if strings.Contains(out.String(), "eyJ") {
			t.Errorf("%s sees a token", user)
		}
	}
	if _, err := must.Get(kubernetes.NewForConfig(c.As("nobody")))(t).CoreV1().Pods("shop").Get(t.Context(), "checkout", metav1.GetOptions{}); err == nil {
		t.Error("a user without rights may read the pod: the test shows nothing")
	}
}
