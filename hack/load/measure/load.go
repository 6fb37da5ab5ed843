// Package measure asks a server from several clients at once, and reads what its
// process has taken, from /proc.
package measure

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Load is what the clients saw.
type Load struct {
	// Rate is in answers a second.
	Rate             float64
	P50, P99         time.Duration
	Answered, Failed int
}

// Ask calls from several clients again and again, each as soon as it has its
// answer. What fails is counted, and in no other figure.
func Ask(ctx context.Context, clients int, span time.Duration, call func(context.Context) error) (Load, error) {
	var mu sync.Mutex
	var all []time.Duration
	var got Load
	var group sync.WaitGroup
	begin := time.Now()
	for range clients {
		group.Go(func() {
			times, failed := repeat(ctx, begin.Add(span), call)
			mu.Lock()
			defer mu.Unlock()
			all, got.Failed = append(all, times...), got.Failed+failed
		})
	}
	group.Wait()
	took := time.Since(begin)
	if len(all) == 0 {
		return got, fmt.Errorf("nothing was answered in %v", took)
	}
	slices.Sort(all)
	got.Answered, got.Rate = len(all), float64(len(all))/took.Seconds()
	got.P50, got.P99 = all[len(all)/2].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond)
	return got, nil
}

func repeat(ctx context.Context, until time.Time, call func(context.Context) error) (times []time.Duration, failed int) {
	for time.Now().Before(until) && ctx.Err() == nil {
		begin := time.Now()
		if err := call(ctx); err != nil {
			failed++
			continue
		}
		times = append(times, time.Since(begin))
	}
	return times, failed
}
