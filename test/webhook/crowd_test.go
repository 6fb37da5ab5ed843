package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/hack/load/measure"
	"github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Bounds of TestLongACrowd. The manifest gives the webhook maxResident.
const (
	crowd       = 1000
	maxResident = 256 << 20
)

// TestLongACrowd asks a replica with a thousand large reviews at once, while as many
// connections send theirs a byte at a time: more connections than it has places for.
// Pods are injected all the same, and memory stays within what the manifest gives. The
// crowd has another address than the API server: who holds most gives way.
func TestLongACrowd(t *testing.T) {
	c := startCluster(t)
	c.putCertificate(time.Now())
	c.makeAccounts()
	r := c.replica("webhook", "--memory-limit=256Mi") // as the container's limit says it
	c.awaitReady(r)
	address := fmt.Sprintf("127.0.0.1:%d", r.port)
	settings := c.trust()

	slow := make([]io.Closer, 0, crowd)
	for range crowd {
		connection := must.Get((&tls.Dialer{NetDialer: elsewhere(), Config: settings}).DialContext(t.Context(), "tcp", address))(t)
		slow = append(slow, connection)
		if _, err := io.WriteString(connection, "POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
	}
	l := c.startLoad(withoutPause, kind{c.shop, "annotated", []string{roleAnnotated}}, kind{c.vault, "annotated", []string{roleAnnotated}})
	answers := c.askAtOnce("https://"+address+"/mutate", settings)
	l.end(t)
	for _, connection := range slow {
		_ = connection.Close() // most were cut
	}
	t.Logf("%d large reviews at once: answers %v", crowd, answers)
	if answers[http.StatusOK] == 0 || answers[http.StatusOK]+answers[http.StatusServiceUnavailable]+answers[0] != crowd {
		t.Errorf("answers by status %v, want %d of 200 or 503, or that others took their place", answers, crowd)
	}
	used := must.Get(measure.Of(r.PID()))(t)
	t.Logf("at its peak the webhook took %d MiB", used.Peak>>20)
	if used.Peak > maxResident {
		t.Errorf("at its peak the webhook took %d MiB, more than the %d MiB that the manifest gives", used.Peak>>20, maxResident>>20)
	}
}

// elsewhere connects from another address than the API server's.
func elsewhere() *net.Dialer { return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}} }

// serves is the certificate that a replica serves; nil if it does not answer.
func (r *replica) serves(ctx context.Context) []byte {
	dialer := &tls.Dialer{Config: r.cluster.trust()}
	connection, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", r.port))
	if err != nil {
		return nil
	}
	defer connection.Close() //nolint:errcheck // it was only to be opened
	secured, is := connection.(*tls.Conn)
	if !is {
		return nil
	}
	return secured.ConnectionState().PeerCertificates[0].Raw
}

// trust is how the API server connects.
func (c *cluster) trust() *tls.Config {
	c.t.Helper()
	var secret corev1.Secret
	c.get(c.system, "tabard-webhook-cert", &secret)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data[certificate.AuthoritiesKey])
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// askAtOnce sends a crowd of reviews of a megabyte, and counts the answers by their
// status.
func (c *cluster) askAtOnce(url string, settings *tls.Config) map[int]int {
	body := []byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1","namespace":"` + c.shop + `","object":{"kind":"Pod",` +
		`"metadata":{"annotations":{"x":"` + strings.Repeat("x", 1<<20) + `"}},"spec":{"serviceAccountName":"annotated","containers":[{"name":"app"}]}}}}`)
	asker := &http.Client{Transport: &http.Transport{DialContext: elsewhere().DialContext, TLSClientConfig: settings, DisableKeepAlives: true}}
	var mu sync.Mutex
	var group sync.WaitGroup
	answers := map[int]int{}
	for range crowd {
		group.Go(func() {
			request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, url, bytes.NewReader(body))
			status := 0
			if err == nil {
				request.Header.Set("Content-Type", "application/json")
				var response *http.Response
				if response, err = asker.Do(request); err == nil {
					_, _ = io.Copy(io.Discard, response.Body) // its status is all that counts
					_ = response.Body.Close()
					status = response.StatusCode
				}
			}
			mu.Lock()
			defer mu.Unlock()
			answers[status]++
			if err != nil && answers[0] <= 3 {
				c.t.Logf("a large review: %v", err)
			}
		})
	}
	group.Wait()
	return answers
}
