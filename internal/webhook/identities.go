package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// identitiesInterval is how often the identities file is looked at. Looking at
// the content sees every way in which a file can change: written in place,
// replaced by another, or exchanged by the kubelet through a link, as the file of
// a ConfigMap volume is.
const identitiesInterval = time.Second

// maxIdentities bounds the identities file in bytes: some hundred thousand
// ServiceAccounts.
const maxIdentities = 16 << 20

// identitiesFile is the file of --watch-container-credentials-config. It is for
// one goroutine at a time.
type identitiesFile struct {
	path     string
	document document[inject.Identities]
	// emptied is since when the file lists nobody, after it did.
	emptied time.Time
}

// followFile looks at the identities file now, and answers what has to be run to
// go on looking.
func (c *configuration) followFile(path string, counted *metrics, log logr.Logger) func(context.Context) {
	file := &identitiesFile{path: path, document: document[inject.Identities]{
		name: "identities", parse: inject.ParseIdentities, length: (*inject.Identities).Len,
		into: &c.identities, metrics: counted, log: log.WithValues("path", path),
	}}
	file.look()
	looks := newLatest(func(context.Context) error { file.look(); return nil })
	c.identities.latest = looks
	return func(ctx context.Context) {
		every(ctx, identitiesInterval, func() { _ = looks.now(ctx) }) // it fails only when ctx ends
	}
}

// look reads the file. One that is not there lists nobody.
func (f *identitiesFile) look() {
	text, err := readFile(f.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		f.document.fail(err)
	case len(bytes.TrimSpace(text)) == 0 && f.justEmptied():
	default:
		f.emptied = time.Time{}
		f.document.take(text)
	}
}

// justEmptied says that the file has become empty just now. Who writes in place
// empties a file before: only one that stays empty lists nobody.
func (f *identitiesFile) justEmptied() bool {
	if f.document.into.current.Load().Len() == 0 {
		return false
	}
	if f.emptied.IsZero() {
		f.emptied = time.Now()
	}
	return time.Since(f.emptied) < identitiesInterval
}

// readFile reads a file of bounded size.
func readFile(path string) (text []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // to open a pipe would wait for its other end
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	text, err = io.ReadAll(io.LimitReader(file, maxIdentities+1))
	if err == nil && len(text) > maxIdentities {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxIdentities)
	}
	return text, err
}
