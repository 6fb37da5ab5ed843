package worked_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// cloud is one in memory, in which calls can be denied.
type cloud struct {
	queues map[string]bool
	denied bool
}

func (c *cloud) Exists(_ context.Context, name string) (bool, error) { return c.queues[name], nil }

func (c *cloud) Make(_ context.Context, name string) error {
	if c.denied {
		return fault.Fault{Class: fault.Denied, Service: "SQS", Operation: "CreateQueue", Code: "AccessDenied"}
	}
	c.queues[name] = true
	return nil
}

func (c *cloud) Remove(_ context.Context, name string) error {
	delete(c.queues, name)
	return nil
}

// TestTheWorkedExampleRuns tells the life of one object.
func TestTheWorkedExampleRuns(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(schema.GroupVersion{Group: "worked.example", Version: "v1"}, &Queue{})
	stored := &Queue{ObjectMeta: metav1.ObjectMeta{Name: "mail"}}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).WithStatusSubresource(stored).Build()
	recorder, aws, registry := events.NewFakeRecorder(10), &cloud{queues: map[string]bool{}, denied: true}, prometheus.NewRegistry()
	c := &Controller{Queues: aws, Now: time.Now, Kit: controller.Kit{
		Client: server, Live: server, Events: recorder, Finalizer: Finalizer, Owner: "tabard.queue", Metrics: controller.NewMetrics(registry, "queue"),
	}}
	pass := func(again time.Duration) {
		t.Helper()
		result, err := controller.Typed(c.Kit, c).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(stored)})
		if err != nil || result.RequeueAfter != again {
			t.Errorf("the pass ended with %+v, %v, want to look again in %s", result, err, again)
		}
	}
	says := func(want string) {
		t.Helper()
		if err := server.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
			t.Fatal(err)
		}
		v, _ := condition.Read(stored.Status.Conditions, "Ready")
		if got := string(v.Status) + " " + string(v.Reason) + ": " + v.Message; got != want {
			t.Errorf("Ready is %q, want %q", got, want)
		}
	}
	pass(lookAgain)
	says("False Refused: SQS CreateQueue: AccessDenied")
	aws.denied = false
	pass(time.Second)
	pass(lookAgain)
	says("True Made: queue tabard-mail exists")
	if len(stored.Finalizers) != 1 || len(recorder.Events) < 2 {
		t.Errorf("finalizers %q, %d events", stored.Finalizers, len(recorder.Events))
	}
	if err := server.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	pass(0)
	pass(0)
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); client.IgnoreNotFound(err) != nil || err == nil || len(aws.queues) > 0 {
		t.Errorf("the object is there (%v), or the queue %v", err, aws.queues)
	}
	if families, err := registry.Gather(); err != nil || len(families) != 2 { // steps and seconds: no object is left to tell of
		t.Errorf("the metrics are %v, %v", families, err)
	}
}

// TestTheReferenceIsComplete is what a kind's package in internal/core has by declared.Reasons.
func TestTheReferenceIsComplete(t *testing.T) {
	if err := Reference.Check([]condition.Reason{ReasonMade, ReasonMaking, ReasonRefused, ReasonGoing}); err != nil {
		t.Error(err)
	}
}

// TestTheWorkedExampleIsSmall holds shell and fuzz to what docs/development.md promises.
func TestTheWorkedExampleIsSmall(t *testing.T) {
	lines := 0
	for _, path := range []string{"controller_test.go", "crash_test.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
	}
	if lines > 150 {
		t.Errorf("the controller takes %d lines beside its decisions and its kind, want at most 150", lines)
	}
}
