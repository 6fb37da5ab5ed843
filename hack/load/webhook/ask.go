package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tabard-dev/tabard/hack/load/measure"
)

// result is what one number of clients saw.
type result struct {
	measure.Load
	// cpu and allocations are the server's, of one request; answer is in bytes.
	cpu         time.Duration
	allocations float64
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
	before, err := s.usage(ctx)
	if err != nil {
		return result{}, err
	}
	load, err := measure.Ask(ctx, clients, span, func(ctx context.Context) error {
		answer, err := s.mutate(ctx, client, question)
		if err == nil && !bytes.Contains(answer, []byte(`"patch"`)) {
			err = errors.New("the pod is not injected")
		}
		return err
	})
	if err != nil {
		return result{}, err
	}
	after, err := s.usage(ctx)
	if err != nil {
		return result{}, err
	}
	return result{
		Load: load, answer: len(answer),
		cpu:         ((after.CPU - before.CPU) / time.Duration(load.Answered)).Round(time.Microsecond),
		allocations: (after.allocations - before.allocations) / float64(load.Answered),
	}, nil
}

// usage is what the process has taken so far.
type usage struct {
	measure.Process
	allocations float64
}

func (s *server) usage(ctx context.Context) (usage, error) {
	process, err := s.program.Usage()
	if err != nil {
		return usage{}, err
	}
	allocations, err := s.program.Sum(ctx, "go_memstats_mallocs_total ")
	return usage{process, allocations}, err
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
