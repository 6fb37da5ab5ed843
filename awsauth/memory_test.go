package awsauth_test

import (
	"context"
	"sync"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

var keys = identity.SecretRef{Namespace: "openshift-machine-api", Name: "aws-cloud-credentials"}

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

func (m *memory) trust(ref identity.BundleRef, content string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bundles[ref] = []byte(content)
}

func newMemory() *memory {
	return &memory{secrets: map[identity.SecretRef]awsauth.SecretContent{}, bundles: map[identity.BundleRef][]byte{}}
}

func keyPair(id, secret string) map[string]string {
	return map[string]string{"aws_access_key_id": id + "\n", "aws_secret_access_key": " " + secret}
}
