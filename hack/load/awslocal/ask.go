package awslocal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tabard-dev/tabard/hack/load/measure"
)

// result is what one operation took.
type result struct {
	measure.Load
	// cpu is the server's processor time of a request.
	cpu time.Duration
}

// ask sends a request again and again from several clients at once.
func ask(ctx context.Context, s *server, r request, span time.Duration, clients int) (result, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	if err := send(ctx, client, r); err != nil { // the keys of the issuer are fetched once
		return result{}, err
	}
	before, err := s.program.Usage()
	if err != nil {
		return result{}, err
	}
	load, err := measure.Ask(ctx, clients, span, func(ctx context.Context) error { return send(ctx, client, r) })
	if err != nil {
		return result{}, err
	}
	after, err := s.program.Usage()
	if err != nil {
		return result{}, err
	}
	return result{load, ((after.CPU - before.CPU) / time.Duration(load.Answered)).Round(time.Microsecond)}, nil
}

// journalEntries are enough to fill the journal of the local AWS.
const journalEntries = 10_000

// fillJournal asks until the journal is full, as it is on a server that has run for
// a while.
func fillJournal(ctx context.Context, r request, clients int) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	group, ctx := errgroup.WithContext(ctx)
	for range clients {
		group.Go(func() error {
			for range journalEntries/clients + 1 {
				if err := send(ctx, client, r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
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
