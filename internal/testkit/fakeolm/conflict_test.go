package fakeolm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAPlanIsMadeOnceWhoeverElseWrites at the moment at which the fake has made it: a controller that
// judges plans writes to each as soon as it is there.
func TestAPlanIsMadeOnceWhoeverElseWrites(t *testing.T) {
	for resource, named := range map[string]func(plan string) string{
		"installplans":  func(plan string) string { return plan },
		"subscriptions": func(string) string { return "p" },
	} {
		t.Run(resource, func(t *testing.T) {
			w := &world{Cluster: cluster(t)}
			var writes atomic.Int64
			config := rest.CopyConfig(w.Config)
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return afterPlan{next: next, do: func(plan string) {
					writes.Add(1)
					w.patch(resource, named(plan), fmt.Sprintf(`{"metadata":{"annotations":{"seen":"%d"}}}`, writes.Load()))
				}}
			})
			w.begin(t, must.Get(dynamic.NewForConfig(config))(t), nil)
			w.subscribe("p", map[string]any{"startingCSV": "p.v1.0.0"})
			for _, csv := range []string{"p.v1.0.0", "p.v1.1.0"} {
				plan := w.plan("p", csv)
				w.await("installplans", plan, "status.phase", "RequiresApproval")
				w.approve(plan)
				w.await("subscriptions", "p", "status.installedCSV", csv)
			}
			if all := must.Get(w.of("installplans").List(w.Context(), metav1.ListOptions{}))(t); len(all.Items) != 2 || writes.Load() != 2 {
				t.Errorf("two versions have %d plans, and %d were written to as they were made", len(all.Items), writes.Load())
			}
		})
	}
}

// afterPlan does something with the name of each InstallPlan that was made, before who made it knows.
type afterPlan struct {
	next http.RoundTripper
	do   func(plan string)
}

func (a afterPlan) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(request)
	if err != nil || request.Method != http.MethodPost || !strings.HasSuffix(request.URL.Path, "/installplans") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	var made metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &made); err != nil {
		return nil, err
	}
	a.do(made.Name)
	return response, nil
}
