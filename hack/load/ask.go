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

// result is what one operation took.
type result struct {
	rate     float64
	cpu      time.Duration
	p50, p99 time.Duration
	failed   int
}

// ask sends a request again and again from several clients at once.
func ask(ctx context.Context, s *server, r request, span time.Duration, clients int) (result, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	if err := send(ctx, client, r); err != nil { // the keys of the issuer are fetched once
		return result{}, err
	}
	before, err := s.cpu()
	if err != nil {
		return result{}, err
	}
	var mu sync.Mutex
	var all []time.Duration
	var got result
	var group sync.WaitGroup
	begin := time.Now()
	for range clients {
		group.Go(func() {
			times, failed := repeat(ctx, client, r, begin.Add(span))
			mu.Lock()
			defer mu.Unlock()
			all, got.failed = append(all, times...), got.failed+failed
		})
	}
	group.Wait()
	took := time.Since(begin)
	after, err := s.cpu()
	if err != nil {
		return result{}, err
	}
	if len(all) == 0 {
		return result{}, fmt.Errorf("no request was answered in %v", took)
	}
	slices.Sort(all)
	got.rate = float64(len(all)) / took.Seconds()
	got.cpu = ((after - before) / time.Duration(len(all))).Round(time.Microsecond)
	got.p50, got.p99 = all[len(all)/2].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond)
	return got, nil
}

func repeat(ctx context.Context, client *http.Client, r request, until time.Time) (times []time.Duration, failed int) {
	for time.Now().Before(until) && ctx.Err() == nil {
		begin := time.Now()
		if err := send(ctx, client, r); err != nil {
			failed++
			continue
		}
		times = append(times, time.Since(begin))
	}
	return times, failed
}

func send(ctx context.Context, client *http.Client, r request) error {
	made, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	made.Header = r.header
	response, err := client.Do(made)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read to its end
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answer %s", response.Status)
	}
	return nil
}
