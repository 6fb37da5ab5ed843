package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/credentials"
)

// requestsFor are the requests of namespaces, in which a person may list some; with the empty name, all. Nobody
// may list anything else.
type requestsFor struct {
	client.Reader
	has map[string][]string
	may []string
}

func (r requestsFor) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	requests, is := into.(*cloudv1.CredentialsRequestList)
	if !is || !slices.Contains(r.may, asked.Namespace) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "requests"}, "", nil)
	}
	for namespace, names := range r.has {
		for _, name := range names {
			if asked.Namespace == "" || asked.Namespace == namespace {
				one := cloudv1.CredentialsRequest{}
				one.Namespace, one.Name = namespace, name
				requests.Items = append(requests.Items, one)
			}
		}
	}
	return nil
}

// The requests are those of the namespaces that a person may read, and the command lists the same ones.
func TestRequestsAreThoseThatAPersonMayRead(t *testing.T) {
	has := map[string][]string{"shop": {"b", "a"}, "bank": {"c"}, "news": {"d"}}
	const (
		one     = "tabard credentials list --namespace "
		several = `for namespace in bank shop; do tabard credentials list --namespace "$namespace" --context lab; done`
	)
	for name, test := range map[string]struct {
		may   []string
		names bool // the person may list the namespaces
		want  string
		known bool
		why   string
		by    string
	}{
		"all":                       {[]string{""}, false, "bank/c news/d shop/a shop/b", true, "", "tabard credentials list --all-namespaces --context lab"},
		"the kubeconfig's alone":    {[]string{"shop", "bank"}, false, "shop/a shop/b", false, "in others than shop", one + "shop --context lab"},
		"two of three":              {[]string{"shop", "bank"}, true, "bank/c shop/a shop/b", false, "news: ", several},
		"another than kubeconfig's": {[]string{"news"}, true, "news/d", false, "shop: ", one + "news --context lab"},
		"one after the other":       {[]string{"shop", "bank", "news", "idle"}, true, "bank/c news/d shop/a shop/b", true, "", strings.Replace(several, "bank shop", "bank news shop", 1)},
		"one that has none":         {[]string{"idle"}, true, "", false, "shop: ", one + "idle --context lab"},
		"none":                      {nil, true, "", false, "", ""},
	} {
		host, _ := apiServer(t, func(path, _ string) (int, string) {
			if path == "/api/v1/namespaces" && test.names {
				return listOf("NamespaceList", "", "", "bank", "idle", "news", "shop")
			}
			return statusOf(http.StatusForbidden, "Forbidden")
		})
		world := worldAt(host)
		world.Credentials = credentials.Cluster{Reader: requestsFor{has: has, may: test.may}, Now: time.Now, Facts: func(context.Context) (platform.Facts, error) {
			return platform.Facts{}, nil
		}}
		s := server(t, Options{World: world})
		read := s.readRequests(t.Context())
		var got []string
		for _, row := range read.waiting {
			got = append(got, row.Namespace+"/"+row.Name)
		}
		if strings.Join(got, " ") != test.want || read.Total != len(got) {
			t.Errorf("%s: read %q of %d", name, got, read.Total)
		}
		if len(test.may) == 0 {
			if read.none == "" || read.Unknown != read.none {
				t.Errorf("%s: %+v", name, read)
			}
			continue
		}
		partly := strings.Join(read.partly, "\n")
		if read.none != "" || strings.Contains(read.Unknown+partly, "all namespaces. ") == test.known || !strings.Contains(partly, test.why) || !strings.Contains(partly, "CredentialsGrants") {
			t.Errorf("%s: not known is %q, %q", name, read.Unknown, read.partly)
		}
		if by := s.requestsCommand(read.namespaces); by != test.by {
			t.Errorf("%s: they are listed by %q", name, by)
		}
	}
}

// What is not known of pods stands beside them, and what is not of requests beside those.
func TestWhatIsNotKnownStandsAtItsPlace(t *testing.T) {
	for may, want := range map[string][2]int{"": {1, 1}, "shop": {1, 3}} { // the grants nobody may list
		host, _ := apiServer(t, func(string, string) (int, string) { return statusOf(http.StatusForbidden, "Forbidden") })
		world := worldAt(host)
		world.Credentials = credentials.Cluster{Reader: requestsFor{has: map[string][]string{"shop": {"a"}}, may: []string{may}}, Now: time.Now, Facts: func(context.Context) (platform.Facts, error) {
			return platform.Facts{}, nil
		}}
		s := server(t, Options{World: world})
		s.workloads.read = func(context.Context) (*workloads, error) { return fourPods(), nil }
		var o api.Overview
		open(t, s).get("/api/v1/overview", &o)
		if got := [2]int{len(o.PartlyPods), len(o.PartlyRequests)}; got != want || o.PartlyPods[0] != "team-b: forbidden" || strings.Contains(strings.Join(o.PartlyRequests, ""), "team-b") {
			t.Errorf("with the right in %q it is not known: %q, %q", may, o.PartlyPods, o.PartlyRequests)
		}
	}
}
