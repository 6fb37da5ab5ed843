package webhook

import (
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheFakeAnswersAsAnAPIServerDoes: else a client that reads in pages would be
// measured with a list in one piece.
func TestTheFakeAnswersAsAnAPIServerDoes(t *testing.T) {
	const count = 1234
	kubeconfig, closed, err := openFake(t.Context(), settings{accounts: count}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer closed()
	config := must.Get(clientcmd.BuildConfigFromFlags("", kubeconfig))(t)
	clients, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client := clients.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"})

	for name, test := range map[string]struct {
		options metav1.ListOptions
		want    []int // items of each page
	}{
		"in one piece":     {metav1.ListOptions{}, []int{count}},
		"in pages":         {metav1.ListOptions{Limit: 500}, []int{500, 500, 234}},
		"from the cache":   {metav1.ListOptions{Limit: 500, ResourceVersion: "0"}, []int{count}},
		"of a full page":   {metav1.ListOptions{Limit: count}, []int{count}},
		"of one more page": {metav1.ListOptions{Limit: count - 1}, []int{count - 1, 1}},
	} {
		seen := map[string]bool{}
		var got []int
		for more := true; more; {
			page, err := client.List(t.Context(), test.options)
			if err != nil || page.ResourceVersion != fmt.Sprint(count) {
				t.Fatalf("%s: version %q, error %v", name, page.GetResourceVersion(), err)
			}
			for i := range page.Items {
				seen[page.Items[i].Namespace+"/"+page.Items[i].Name] = true
			}
			got = append(got, len(page.Items))
			test.options.ResourceVersion, test.options.Continue = "", page.Continue
			more = page.Continue != ""
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) || len(seen) != count {
			t.Errorf("%s: pages of %v with %d different ones, want %v", name, got, len(seen), test.want)
		}
	}

	yes := true
	for name, test := range map[string]struct {
		options metav1.ListOptions
		events  int
		last    watch.EventType
	}{
		"from the last version":      {metav1.ListOptions{ResourceVersion: fmt.Sprint(count)}, 0, ""},
		"from an older one":          {metav1.ListOptions{ResourceVersion: fmt.Sprint(count - 3)}, 3, watch.Added},
		"from nothing":               {metav1.ListOptions{}, count, watch.Added},
		"with all of them, as asked": {metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true}, count + 1, watch.Bookmark},
	} {
		second := int64(1)
		test.options.TimeoutSeconds = &second
		events, err := client.Watch(t.Context(), test.options)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, last := 0, watch.EventType("")
		for event := range events.ResultChan() {
			got, last = got+1, event.Type
		}
		if got != test.events || last != test.last {
			t.Errorf("a watch %s: %d events, the last %q, want %d and %q", name, got, last, test.events, test.last)
		}
	}

	for name, test := range map[string]struct {
		options metav1.ListOptions
		watch   bool
		code    int32
	}{
		"a version to come":           {metav1.ListOptions{ResourceVersion: fmt.Sprint(count + 1)}, false, http.StatusGatewayTimeout},
		"a watch of one":              {metav1.ListOptions{ResourceVersion: fmt.Sprint(count + 1)}, true, http.StatusGatewayTimeout},
		"a page with a version":       {metav1.ListOptions{ResourceVersion: "1", Continue: token(500)}, false, http.StatusBadRequest},
		"a page that nobody offered":  {metav1.ListOptions{Continue: "?"}, false, http.StatusBadRequest},
		"a page behind the end":       {metav1.ListOptions{Continue: token(count)}, false, http.StatusBadRequest},
		"a match without a version":   {metav1.ListOptions{ResourceVersionMatch: metav1.ResourceVersionMatchExact}, false, http.StatusUnprocessableEntity},
		"initial events, no match":    {metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true}, true, http.StatusUnprocessableEntity},
		"initial events, no bookmark": {metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, true, http.StatusUnprocessableEntity},
	} {
		var err error
		if test.watch {
			_, err = client.Watch(t.Context(), test.options)
		} else {
			_, err = client.List(t.Context(), test.options)
		}
		if status, is := err.(apierrors.APIStatus); !is || status.Status().Code != test.code {
			t.Errorf("%s: error %v, want code %d", name, err, test.code)
		}
	}
}
