package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Remote reads an image of a registry, by tag or digest, with the credentials that docker and
// podman have for it. Registries on this machine are spoken to by HTTP if they do not speak TLS.
// Each layer is fetched once. Errors are as those of Layout.
func (r Reader) Remote(ctx context.Context, ref string) (model.Catalogue, error) {
	return r.read(ctx, "image", ref, func(w *reading) (picture, error) {
		parsed, err := name.ParseReference(ref)
		if err == nil && strings.HasPrefix(ref, "-") {
			// The parser takes it for a repository of Docker Hub.
			err = errors.New("it begins as a flag does")
		}
		if err != nil {
			return picture{}, fmt.Errorf("it is no reference of an image: %w; expected REGISTRY/NAME:TAG or REGISTRY/NAME@DIGEST", err)
		}
		puller, err := remote.NewPuller(remote.WithAuthFromKeychain(authn.DefaultKeychain),
			remote.WithTransport(bounded{remote.DefaultTransport, w.bounds.manifest}))
		if err != nil {
			return picture{}, err
		}
		named, err := puller.Get(ctx, parsed)
		if err != nil {
			return picture{}, err
		}
		return w.resolve(registry{ctx: ctx, puller: puller, in: parsed.Context(), named: named}, named.Descriptor)
	})
}

// registry is a repository of a registry.
type registry struct {
	ctx    context.Context
	puller *remote.Puller
	in     name.Repository
	// named is what was asked for.
	named *remote.Descriptor
}

func (r registry) manifest(of v1.Descriptor) (io.ReadCloser, error) {
	found := r.named
	if of.Digest != found.Digest {
		var err error
		if found, err = r.puller.Get(r.ctx, r.in.Digest(of.Digest.String())); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(bytes.NewReader(found.Manifest)), nil
}

func (r registry) blob(of v1.Descriptor) (io.ReadCloser, error) {
	found, err := r.puller.Layer(r.ctx, r.in.Digest(of.Digest.String()))
	if err != nil {
		return nil, err
	}
	return found.Compressed()
}

// bounded bounds all answers but blobs: the client holds them in memory.
type bounded struct {
	next http.RoundTripper
	most int64
}

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(request)
	// A registry may send us elsewhere for a blob.
	first := request
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	if err == nil && !strings.Contains(first.URL.Path, "/blobs/") {
		answer.Body = &short{ReadCloser: answer.Body, rest: b.most, most: b.most}
	}
	return answer, err
}

// short is the body of an answer that must be short.
type short struct {
	io.ReadCloser
	rest, most int64
}

func (s *short) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.rest -= int64(n); s.rest < 0 {
		return 0, fmt.Errorf("the registry's answer has more than %d bytes, expected a manifest of fewer", s.most)
	}
	return n, err
}
