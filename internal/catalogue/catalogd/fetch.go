package catalogd

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// told is an error in whose text others have a part: it is one harmless line.
type told struct {
	before string
	err    error
}

func (t told) Error() string { return t.before + line.Of(t.err.Error()) }

func (t told) Unwrap() error { return t.err }

// fetch gets one path of the catalogue, or takes what is kept of it if the server says that it
// has not changed.
func (r *Reader) fetch(ctx context.Context, path string, query url.Values) (model.Catalogue, error) {
	at := *r.base
	at.Path += path
	at.RawQuery = query.Encode()
	watch := newWatch(ctx, r.bounds.stall)
	defer watch.end()
	read, err := r.get(watch, at.String(), r.called+path, query == nil)
	switch stranger := (x509.UnknownAuthorityError{}); {
	case err == nil:
		return read, nil
	case ctx.Err() != nil:
		return model.Catalogue{}, fmt.Errorf("catalogd's answer did not end in time: %w", context.Cause(ctx))
	case errors.Is(context.Cause(watch.ctx), errStalled):
		return model.Catalogue{}, fmt.Errorf("%w for %s; look at catalogd, or at what is between", errStalled, r.bounds.stall)
	case errors.As(err, &stranger):
		err = fmt.Errorf("%w; catalogd has a CA of its own: give its certificate with --certificate-authority FILE", err)
	}
	return model.Catalogue{}, told{"catalogd: ", err}
}

func (r *Reader) get(watch *watch, at, called string, whole bool) (model.Catalogue, error) {
	request, err := http.NewRequestWithContext(watch.ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return model.Catalogue{}, err
	}
	request.Header.Set("Accept", "application/jsonl, application/json;q=0.9, */*;q=0.1")
	// The body is unpacked here, within bounds.
	request.Header.Set("Accept-Encoding", "gzip")
	before := r.kept.get(at, whole)
	before.ask(request.Header)
	response, err := r.client.Do(request)
	if err != nil {
		return model.Catalogue{}, err
	}
	defer func() { _ = response.Body.Close() }() // It was only read.
	switch {
	case response.StatusCode == http.StatusNotModified && before != nil:
		return before.read, nil
	case response.StatusCode == http.StatusNotModified:
		return model.Catalogue{}, errors.New("the server answers 304 Not Modified, and it was not asked whether anything has changed; look at what is between here and catalogd, such as a cache")
	case response.StatusCode != http.StatusOK:
		return model.Catalogue{}, r.refused(response, watch)
	}
	in, err := r.lines(response, watch)
	if err != nil {
		return model.Catalogue{}, err
	}
	read, err := catalogue.Reader{Source: r.source}.Stream(watch.ctx, called, in)
	if err != nil {
		return model.Catalogue{}, cut(err)
	}
	r.kept.put(entryOf(at, response.Header, read), at, whole)
	return read, nil
}

// cut names an answer that ended too early.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the answer ended in its middle; try again (%w)", err)
	}
	return err
}
