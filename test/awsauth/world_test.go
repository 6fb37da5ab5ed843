// Package awsauth tests the module awsauth at the local AWS, which is no requirement of
// that module.
package awsauth

import (
	"context"
	"encoding/pem"
	"io/fs"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

const tokenFile = "/var/run/secrets/token"

var web = identity.Identity{Base: identity.WebIdentity}

// foreignCA is a certificate that signed nothing of the local AWS.
func foreignCA(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// world is a process around an Auth: environment, files and clock.
type world struct {
	env map[string]string

	mu    sync.Mutex
	files map[string]string
	time  time.Time
}

func newWorld(env map[string]string) *world {
	return &world{
		env:   env,
		files: map[string]string{tokenFile: "token-1\n"},
		time:  time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
	}
}

func (w *world) options() awsauth.Options {
	return awsauth.Options{
		Getenv: func(name string) string { return w.env[name] },
		ReadFile: func(name string) ([]byte, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			content, ok := w.files[name]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return []byte(content), nil
		},
		Now: w.now,
	}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

func (w *world) write(name, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[name] = content
}

// memory is a Source whose content the test changes.
type memory struct {
	mu      sync.Mutex
	secrets map[identity.SecretRef]awsauth.SecretContent
	bundles map[identity.BundleRef][]byte
	reads   int
	broken  error
}

func (m *memory) Secret(_ context.Context, ref identity.SecretRef) (awsauth.SecretContent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	content, ok := m.secrets[ref]
	switch {
	case m.broken != nil:
		return content, m.broken
	case !ok:
		return content, awsauth.ErrNotFound
	}
	return content, nil
}

func (m *memory) Bundle(_ context.Context, ref identity.BundleRef) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.bundles[ref]
	switch {
	case m.broken != nil:
		return nil, m.broken
	case !ok:
		return nil, awsauth.ErrNotFound
	}
	return content, nil
}

func (m *memory) put(ref identity.SecretRef, version string, data map[string]string) {
	content := awsauth.SecretContent{Version: version, Data: map[string][]byte{}}
	for key, value := range data {
		content.Data[key] = []byte(value)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.secrets[ref] = content
}

func (m *memory) forget(ref identity.SecretRef) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.secrets, ref)
}

func (m *memory) trust(ref identity.BundleRef, content string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bundles[ref] = []byte(content)
}

func newMemory() *memory {
	return &memory{secrets: map[identity.SecretRef]awsauth.SecretContent{}, bundles: map[identity.BundleRef][]byte{}}
}
