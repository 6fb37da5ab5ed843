package webhook_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// eventually waits for what others do.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%v: %v", err, last)
	}
}

// load is how pods are created through each API server, and what is to come of it.
type load struct {
	// burst is how many pods are created at the same time. It is more than the
	// connections that an API server keeps, so that every burst opens new ones, on
	// which the certificate of the moment is judged.
	burst int
	// pause is the time between bursts, for the other work of the API servers.
	pause time.Duration
	// pods and connections are how many there must be at least, the connections with
	// the new certificate.
	pods        int64
	connections int
}

// createPods creates pods through both API servers until it is told to stop,
// which returns how many. Every one must have its identity.
func (r *rotation) createPods(load load) (stop func() int64) {
	r.t.Helper()
	var created atomic.Int64
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(r.t.Context())
	for i, server := range r.servers {
		served := must.Get(client.New(server.Config, client.Options{}))(r.t)
		group.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				var pods sync.WaitGroup
				for number := range load.burst {
					pod := podOf("app")
					pod.Namespace, pod.Name = []string{"default", "strict"}[number%2], fmt.Sprintf("pod-%d-%d-%d", i, round, number)
					pods.Go(func() {
						if r.createPod(ctx, served, pod) {
							created.Add(1)
						}
					})
				}
				pods.Wait()
				<-time.After(load.pause)
			}
		})
	}
	return func() int64 {
		cancel()
		group.Wait()
		return created.Load()
	}
}

// createPod says whether a pod was admitted. None may be refused either.
func (r *rotation) createPod(ctx context.Context, served client.Client, pod *corev1.Pod) bool {
	if err := served.Create(ctx, pod); err != nil {
		if ctx.Err() == nil {
			r.t.Errorf("pod %s/%s: %v", pod.Namespace, pod.Name, err)
		}
		return false
	}
	if !isInjected(pod) {
		r.t.Errorf("pod %s/%s was admitted without its identity", pod.Namespace, pod.Name)
	}
	return true
}

func isInjected(pod *corev1.Pod) bool {
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == "AWS_ROLE_ARN" && variable.Value == aRole {
			return true
		}
	}
	return false
}
