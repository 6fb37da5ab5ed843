package lab_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tabard-dev/tabard/internal/lab/process"
)

func (bench *bench) kill(name string) {
	bench.t.Helper()
	for _, process := range bench.status().Processes {
		if process.Name == name {
			if err := syscall.Kill(process.PID, syscall.SIGKILL); err != nil {
				bench.t.Fatal(err)
			}
			bench.awaitEnd(process.PID)
			return
		}
	}
	bench.t.Fatalf("no process %s", name)
}

// awaitEnd waits until a process that was killed has ended: on a busy machine that
// takes a while.
func (bench *bench) awaitEnd(pid int) {
	bench.t.Helper()
	ctx, cancel := context.WithTimeout(bench.t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := process.Identify(pid); err != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			bench.t.Fatalf("the process %d was killed and does not end", pid)
		}
	}
}

// aws asks the admin API of the lab's local AWS.
func (bench *bench) aws(method, path, body string) string {
	bench.t.Helper()
	authority, err := os.ReadFile(filepath.Join(bench.dir, "aws", "ca.crt"))
	if err != nil {
		bench.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	url := fmt.Sprintf("https://127.0.0.1:%d/_awslocal/%s", bench.status().Ports["aws"], path)
	request, err := http.NewRequestWithContext(bench.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		bench.t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(bench.dir, "aws", "admin-token"))
	if err != nil {
		bench.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := client.Do(request)
	if err != nil {
		bench.t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK {
		bench.t.Fatalf("%s %s: %s, %v\n%s", method, path, response.Status, err, answer)
	}
	return string(answer)
}
