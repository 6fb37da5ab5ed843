package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// result is what one number of clients saw.
type result struct {
	rate        float64
	cpu         time.Duration
	allocations float64
	p50, p99    time.Duration
	failed      int
	answer      int
}

// ask sends a review again and again from several clients at once.
func ask(ctx context.Context, s *server, question []byte, span time.Duration, clients int) (result, error) {
	client := s.client(clients)
	defer client.CloseIdleConnections()
	answer, err := s.mutate(ctx, client, question)
	if err != nil {
		return result{}, err
	}
	got := result{answer: len(answer)}
	before, err := s.usage()
	if err != nil {
		return result{}, err
	}
	var mu sync.Mutex
	var all []time.Duration
	var group sync.WaitGroup
	begin := time.Now()
	for range clients {
		group.Go(func() {
			times, failed := repeat(ctx, s, client, question, begin.Add(span))
			mu.Lock()
			defer mu.Unlock()
			all, got.failed = append(all, times...), got.failed+failed
		})
	}
	group.Wait()
	took := time.Since(begin)
	after, err := s.usage()
	if err != nil {
		return result{}, err
	}
	if len(all) == 0 {
		return result{}, fmt.Errorf("no review was answered in %v", took)
	}
	slices.Sort(all)
	got.rate = float64(len(all)) / took.Seconds()
	got.cpu = ((after.cpu - before.cpu) / time.Duration(len(all))).Round(time.Microsecond)
	got.allocations = (after.allocations - before.allocations) / float64(len(all))
	got.p50, got.p99 = all[len(all)/2].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond)
	return got, nil
}

func repeat(ctx context.Context, s *server, client *http.Client, question []byte, until time.Time) (times []time.Duration, failed int) {
	for time.Now().Before(until) && ctx.Err() == nil {
		begin := time.Now()
		if answer, err := s.mutate(ctx, client, question); err != nil || !bytes.Contains(answer, []byte(`"patch"`)) {
			failed++
			continue
		}
		times = append(times, time.Since(begin))
	}
	return times, failed
}

// mutate asks once.
func (s *server) mutate(ctx context.Context, client *http.Client, question []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/mutate", bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it is read to its end
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("answer %s: %s", response.Status, answer)
	}
	return answer, err
}
