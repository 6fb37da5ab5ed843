package testkit

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// RunManager runs a manager until the test ends or what it returns is called, which
// waits for the manager's end.
func RunManager(t *testing.T, mgr manager.Manager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// Create makes objects in a cluster.
func Create(t testing.TB, cluster client.Client, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := cluster.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// Patience is how long a test waits for what must happen.
const Patience = onlab.Patience

// polls are the pauses of Await: they grow from the first to the last, since whoever waits
// for long takes from others what each look costs, and many tests wait at once.
var polls = wait.Backoff{Duration: 20 * time.Millisecond, Factor: 1.3, Cap: 250 * time.Millisecond, Steps: 100}

// Await waits until what it is asked about holds; nil says so. Out of Patience, the
// test fails with what it said last.
func Await(t testing.TB, what func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var last error
	err := polls.DelayFunc().Until(ctx, true, true, func(context.Context) (bool, error) {
		last = what()
		return last == nil, nil
	})
	if err != nil {
		t.Fatal(last)
	}
}
