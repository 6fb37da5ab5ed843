package completion

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit"
)

func TestTheLastOfSeveralValuesIsCompleted(t *testing.T) {
	t.Parallel()
	complete := ListOf([]string{"aws", "azure", "gcp"})
	for typed, want := range map[string][]string{
		"":           {"aws", "azure", "gcp"},
		"a":          {"aws", "azure", "gcp"}, // the shell takes those that begin so
		"azure,":     {"azure,aws", "azure,gcp"},
		"azure,gc":   {"azure,aws", "azure,gcp"},
		"gcp,aws,az": {"gcp,aws,azure"},
	} {
		got, directive := complete(nil, nil, typed)
		if diff := cmp.Diff(want, got); diff != "" || directive&cobra.ShellCompDirectiveNoSpace == 0 {
			t.Errorf("%q with directive %d (-want +got):\n%s", typed, directive, diff)
		}
	}
}

// TestNamesThatWereReadInTimeAreOffered, where the next page does not come.
func TestNamesThatWereReadInTimeAreOffered(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") != "" {
			<-end
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"continue":"more"},"items":[{"metadata":{"name":"team-a"}},{"metadata":{"name":"shop"}}]}`)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) }) // before the server is closed
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	testkit.WriteKubeconfig(t, kubeconfig, &rest.Config{Host: server.URL})
	c := &cobra.Command{Use: "list"}
	var k command.Kubeconfig
	k.AddFlags(c.Flags())
	c.SetContext(t.Context())
	if err := c.ParseFlags([]string{"--kubeconfig", kubeconfig}); err != nil {
		t.Fatal(err)
	}
	got, _ := namesOf(namespaces)(c, nil, "t")
	if diff := cmp.Diff([]string{"team-a"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
