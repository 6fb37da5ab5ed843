package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// BenchmarkServe is a review over HTTPS on a connection that stays, client
// included; the store holds 20,000 ServiceAccounts.
func BenchmarkServe(b *testing.B) {
	body := must.Get(os.ReadFile("testdata/review.json"))(b)
	known := newStore(newInterest("eks.amazonaws.com/role-arn"))
	relist(b, known, "100", account("shop", "app", "5", withRole))
	known.watching(true)
	s := testServer(b, newAccounts(known, broken, 0, newMetrics()), func(s *inject.Settings) { s.Region, s.RegionalSTS = "us-west-2", true })
	chain, key := pair(b, time.Now().Add(time.Hour))
	must.Do(b, s.serving.load(chain, key))
	ctx, cancel := context.WithCancel(b.Context())
	sockets := must.Get(listen(ctx, Options{BindAddress: "127.0.0.1", MetricsPort: -1}))(b)
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, sockets) }()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(chain)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	url := "https://" + sockets.secure.Addr().String() + "/mutate"
	b.SetParallelism(4)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(each *testing.PB) {
		for each.Next() {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			request.Header.Set("Content-Type", "application/json")
			response, err := client.Do(request)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body) // the benchmark's server does not cut
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				b.Errorf("answer %s", response.Status)
			}
		}
	})
	b.StopTimer()
	client.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
