package evidence_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/evidence"
	"github.com/tabard-dev/tabard/internal/platform/together"
)

// account is what the API server has: a ServiceAccount with a role, and its own issuer.
var account = map[string]string{
	"/api/v1/namespaces/shop/serviceaccounts/checkout": `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"shop","name":"checkout","annotations":{"eks.amazonaws.com/role-arn":"arn:aws:iam::123456789012:role/shop"}}}`,
	"/.well-known/openid-configuration":                `{"issuer":"https://oidc.example.com"}`,
}

// broken is an AWS of which one method panics.
type broken struct{ method string }

func (b broken) breaks(method string) {
	if b.method == method {
		panic("AWS breaks at " + method)
	}
}

func (b broken) Account(context.Context, string) (string, error) { return "123456789012", nil }

func (b broken) Role(context.Context, string, string) (*chain.Role, error) {
	b.breaks("Role")
	return &chain.Role{}, nil
}

func (b broken) Provider(context.Context, string) (*chain.OIDCProvider, error) {
	b.breaks("Provider")
	return nil, nil
}

func (b broken) InlineNames(context.Context, string, string) ([]string, error) {
	b.breaks("InlineNames")
	return []string{"orders"}, nil
}

func (b broken) Attached(context.Context, string, string) ([]string, error) { return nil, nil }

func (b broken) InlinePolicy(context.Context, string, string, string) (string, error) {
	b.breaks("InlinePolicy")
	return "{}", nil
}

func (b broken) ManagedPolicy(context.Context, string, string) (string, error) { return "{}", nil }

// A panic in one of the goroutines that read reaches who asked, who can recover it.
func TestAPanicWhileEvidenceIsReadReachesTheCaller(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, has := account[r.URL.Path]
		if !has {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	for _, at := range []string{"", "Role", "Provider", "InlineNames", "InlinePolicy", "Public"} {
		sources := evidence.Sources{
			Kube: kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1}), AWS: broken{at},
			Public: func(context.Context, string) (issuer.Public, error) {
				if at == "Public" {
					panic("the fetch breaks at Public")
				}
				return issuer.Public{}, evidence.ErrDenied
			},
		}
		subject := chain.Subject{Namespace: "shop", Account: "checkout", Actions: []string{"s3:GetObject"}}
		got := func() (value any) {
			defer func() { value = recover() }()
			if _, err := sources.Read(t.Context(), subject); err != nil {
				t.Errorf("%q: %v", at, err)
			}
			return nil
		}()
		if at == "" {
			if got != nil {
				t.Errorf("without a fault: %v", got)
			}
			continue
		}
		broken, is := got.(*together.Panic)
		if !is || !strings.HasSuffix(broken.Value.(string), " breaks at "+at) || !strings.Contains(broken.Error(), "read_test.go") {
			t.Errorf("%s: the panic is %v", at, got)
		}
	}
}
