package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/evidence"
	"github.com/tabard-dev/tabard/internal/testkit"
)

// closed is an AWS that denies everything.
type closed struct{}

func (closed) Account(context.Context, string) (string, error) { return "", evidence.ErrDenied }
func (closed) Role(context.Context, string, string) (*chain.Role, error) {
	return nil, evidence.ErrDenied
}

func (closed) Provider(context.Context, string) (*chain.OIDCProvider, error) {
	return nil, evidence.ErrDenied
}

func (closed) InlineNames(context.Context, string, string) ([]string, error) {
	return nil, evidence.ErrDenied
}

func (closed) Attached(context.Context, string, string) ([]string, error) {
	return nil, evidence.ErrDenied
}

func (closed) InlinePolicy(context.Context, string, string, string) (string, error) {
	return "", evidence.ErrDenied
}

func (closed) ManagedPolicy(context.Context, string, string) (string, error) {
	return "", evidence.ErrDenied
}

// explainingBy reads a cluster, and nothing else.
func explainingBy(config *rest.Config) evidence.Sources {
	return evidence.Sources{Kube: kubernetes.NewForConfigOrDie(config), AWS: closed{}, Public: func(context.Context, string) (issuer.Public, error) {
		return issuer.Public{}, evidence.ErrDenied
	}}
}

// makeWorkload makes a ServiceAccount with a role, and a pod of it with another one. Their texts have words by
// which a test sees who is told of them.
func makeWorkload(c *testkit.Cluster, namespace string) {
	c.Make(
		objectOf(c, fmt.Sprintf(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"word-account-%[1]s","namespace":%[1]q,"annotations":{
"eks.amazonaws.com/role-arn":"arn:aws:iam::123456789012:role/word-named-%[1]s"}}}`, namespace)),
		objectOf(c, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"word-pod-%[1]s","namespace":%[1]q},"spec":{"serviceAccountName":"word-account-%[1]s","containers":[
{"name":"app","image":"app","env":[{"name":"AWS_ROLE_ARN","value":"arn:aws:iam::123456789012:role/word-has-%[1]s"},{"name":"AWS_SECRET_ACCESS_KEY","value":"word-secret"}]}]}}`, namespace)),
	)
}

// workloadsSeen counts what was told.
type workloadsSeen struct{ told, kept int }

// compare compares the lists and the explanations with what the API server says of a person's rights.
func (w *workloadsSeen) compare(u user, groups []string) {
	u.Helper()
	said := func(path string) string {
		return u.do(u.request(http.MethodGet, "/api/v1/workloads/"+path, "")).Body.String()
	}
	names := u.may("", "list", "", "namespaces")
	lists := func(namespace, resource string) bool {
		// Who may not list namespaces is asked about the one of the kubeconfig.
		return u.may("", "list", "", resource) || u.may(namespace, "list", "", resource) && (names || namespace == "team-a")
	}
	pods, accounts := said("pods"), said("serviceaccounts")
	for _, namespace := range []string{"team-a", "team-b"} {
		listsPods, listsAccounts := lists(namespace, "pods"), lists(namespace, "serviceaccounts")
		getsPods, getsAccounts := u.may(namespace, "get", "", "pods"), u.may(namespace, "get", "", "serviceaccounts")
		pod, account := said("pods/"+namespace+"/word-pod-"+namespace), said("serviceaccounts/"+namespace+"/word-account-"+namespace)
		for _, each := range []struct {
			where, text, word string
			may               bool
		}{
			{"the list of pods", pods, "word-pod-", listsPods},
			{"the list of pods", pods, "word-has-", listsPods},
			{"the list of pods", pods, "word-named-", listsPods && listsAccounts},
			{"the list of ServiceAccounts", accounts, "word-account-", listsAccounts},
			{"the list of ServiceAccounts", accounts, "word-named-", listsAccounts},
			{"the list of ServiceAccounts", accounts, "word-pod-", false},
			{"the pod", pod, "word-has-", getsPods},
			{"the pod", pod, "word-account-", getsPods},
			{"the pod", pod, "word-named-", getsPods && getsAccounts},
			{"the ServiceAccount", account, "word-named-", getsAccounts},
			{"the ServiceAccount", account, "word-pod-", getsAccounts && listsPods},
		} {
			if strings.Contains(each.text, each.word+namespace) != each.may {
				u.Fatalf("with the rights %q %s of %s has %s: %v, want %v: %s", groups, each.where, namespace, each.word, !each.may, each.may, each.text)
			}
			if each.may {
				w.told++
			} else {
				w.kept++
			}
		}
	}
	for _, text := range []string{pods, accounts} {
		if strings.Contains(text, "word-secret") {
			u.Fatalf("a value of a variable is told: %s", text)
		}
	}
}

// isEnough says that something was told and something was not.
func (w *workloadsSeen) isEnough(t *testing.T, sets int) {
	t.Helper()
	if w.told < sets || w.kept < sets {
		t.Errorf("of workloads %d things were told and %d were not: the test proves little", w.told, w.kept)
	}
}
