package capacity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
)

// latency creates MachineSets one after the other and measures until each has its
// annotations.
func latency(ctx context.Context, s settings, on *stage.Stage) error {
	running, err := start(ctx, s, on)
	if err != nil {
		return err
	}
	defer running.Stop()
	cluster, err := client.NewWithWatch(on.Config, client.Options{})
	if err != nil {
		return err
	}
	// Its watches are there by then: what is measured is not its start.
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	cold, err := createOne(ctx, cluster, "cold")
	if err != nil {
		return err
	}
	asking := stage.PassesMetric + `{kind="MachineAPIMachineSet",outcome="asking"}`
	before, err := running.Sum(ctx, asking)
	if err != nil {
		return err
	}
	var warm []time.Duration
	for i := range s.warm {
		took, err := createOne(ctx, cluster, fmt.Sprintf("warm-%04d", i))
		if err != nil {
			return err
		}
		warm = append(warm, took)
	}
	after, err := running.Sum(ctx, asking)
	if err != nil {
		return err
	}
	slices.Sort(warm)
	fmt.Println("From creating a MachineSet to its annotations:")
	fmt.Printf("  the first of the region: %v\n", cold.Round(time.Millisecond))
	fmt.Printf("  %d more, one after the other: median %v, p99 %v, longest %v\n", len(warm), warm[len(warm)/2].Round(10*time.Microsecond),
		warm[len(warm)*99/100].Round(10*time.Microsecond), warm[len(warm)-1].Round(10*time.Microsecond))
	fmt.Printf("  %.0f passes ended without an answer and were woken for it\n", after-before)
	return tellCalls(ctx, on)
}

// createOne creates a MachineSet and waits until it is annotated.
func createOne(ctx context.Context, cluster client.WithWatch, name string) (time.Duration, error) {
	set, err := stage.MachineSet(name, "m5.large")
	if err != nil {
		return 0, err
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(set.GroupVersionKind())
	seen, err := cluster.Watch(ctx, list, client.InNamespace(stage.Namespace), client.MatchingFields{"metadata.name": name})
	if err != nil {
		return 0, err
	}
	defer seen.Stop()
	began := time.Now()
	if err := cluster.Create(ctx, set); err != nil {
		return 0, err
	}
	limit := time.After(time.Minute)
	for {
		select {
		case event, open := <-seen.ResultChan():
			if !open {
				return 0, errors.New("the watch has ended")
			}
			now, ok := event.Object.(*unstructured.Unstructured)
			if ok && event.Type != watch.Deleted && now.GetAnnotations()[stage.VCPU] != "" {
				return time.Since(began), nil
			}
		case <-limit:
			return 0, fmt.Errorf("%s is not annotated after a minute", name)
		}
	}
}

// calls counts the journal's calls by operation.
func calls(ctx context.Context, on *stage.Stage) (map[string]int, error) {
	entries, err := on.Journal(ctx)
	if err != nil {
		return nil, err
	}
	if len(entries) >= journalBound {
		return nil, fmt.Errorf("the journal holds the last %d calls only, so there were more", journalBound)
	}
	out := map[string]int{}
	for _, entry := range entries {
		if entry.Service == "sts" || entry.Service == "ec2" {
			out[entry.Operation]++
		}
	}
	return out, nil
}

// journalBound is how many calls the local AWS remembers.
const journalBound = 10_000

func tellCalls(ctx context.Context, on *stage.Stage) error {
	made, err := calls(ctx, on)
	if err != nil {
		return err
	}
	fmt.Printf("  calls of AWS: %d %s, %d %s, %d %s\n", made[exchange], exchange, made[regions], regions, made[types], types)
	return nil
}

// The operations that are counted.
const (
	exchange = "AssumeRoleWithWebIdentity"
	regions  = "DescribeRegions"
	types    = "DescribeInstanceTypes"
)
