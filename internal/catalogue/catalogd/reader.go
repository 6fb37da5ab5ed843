// Package catalogd reads the catalogues that OLM v1 serves with catalogd: by the URL of one, or
// all of a cluster through the service proxy of its API server. What the server answers is
// material of strangers: an answer that is not whole is an error, since what is missing would
// look as if the catalogue did not have it. Its functions may be used by several goroutines at
// once.
package catalogd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// The two paths of catalogd's API below the URL of a catalogue. The second one answers with a
// part, and is there only if catalogd was started with the gate APIV1MetasHandler.
const (
	allPath   = "/api/v1/all"
	metasPath = "/api/v1/metas"
)

// ErrUnknown is a catalogue that the server does not have.
var ErrUnknown = errors.New("the server does not know the catalogue, or does not serve it; look at the catalogues and at what they say of Serving: kubectl get clustercatalogs")

// Reader reads one catalogue. It keeps what it has read, one whole catalogue and sixteen
// packages, and asks the server only for what has changed since.
type Reader struct {
	base   *url.URL
	client *http.Client
	source model.Source
	// called is what findings name in place of base.
	called string
	bounds bounds
	kept   kept
}

// New reads the catalogue at status.urls.base of a ClusterCatalog, as in
// https://catalogd-service.olmv1-system.svc/catalogs/NAME, by a client as NewClient makes it.
func New(base string, client *http.Client) (*Reader, error) {
	at, err := parse(base)
	if err != nil {
		return nil, err
	}
	return newReader(at, client, sameServer), nil
}

func newReader(at *url.URL, client *http.Client, redirect func(*http.Request, []*http.Request) error) *Reader {
	own := *client
	// A time-out of the client would be of the whole body.
	own.CheckRedirect, own.Timeout = redirect, 0
	return &Reader{base: at, client: &own, called: at.String(), bounds: usual, kept: newKept()}
}

func parse(base string) (*url.URL, error) {
	const want = "expected https://HOST/catalogs/NAME, which is status.urls.base of a ClusterCatalog"
	at, err := url.Parse(base)
	switch {
	case err != nil:
		// The error has the text, and that may have a password.
		return nil, errors.New("the URL of the catalogue cannot be read, " + want)
	case at.User != nil:
		return nil, errors.New("the URL of the catalogue has a user name or a password: leave it out, catalogd asks for none")
	case at.Scheme != "https" && at.Scheme != "http", at.Hostname() == "":
		return nil, fmt.Errorf("%s is no URL of a catalogue, %s", model.Quoted(base), want)
	case at.RawQuery != "", at.ForceQuery, at.Fragment != "":
		return nil, fmt.Errorf(`the URL %s has a "?" or "#", %s`, model.Quoted(base), want)
	}
	at.Path = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(at.Path, "/"), allPath), "/")
	at.RawPath = ""
	if at.Path != "" && at.Path != path.Clean(at.Path) {
		return nil, fmt.Errorf("the path of the URL %s has empty parts or dots, %s", model.Quoted(base), want)
	}
	return at, nil
}

// Read reads the package with this name, or all if it is empty. What is wrong in the catalogue
// is a finding; where the server has no part of it to give, findings are those of the whole. A
// package that the catalogue does not have is no error.
//
// The error is ErrUnknown, or what failed on the way. What is in the packages is shared with
// later reads, and must not be changed.
func (r *Reader) Read(ctx context.Context, pkg string) (model.Catalogue, error) {
	if pkg != "" {
		read, err := r.fetch(ctx, metasPath, url.Values{"package": {pkg}})
		if err == nil && defines(read, pkg) {
			return r.asked(read, pkg), nil
		}
		if err != nil && !isCode(err, http.StatusNotFound) {
			return model.Catalogue{}, err
		}
	}
	read, err := r.fetch(ctx, allPath, nil)
	switch {
	case isCode(err, http.StatusNotFound):
		return model.Catalogue{}, fmt.Errorf("%w (%w)", ErrUnknown, err)
	case err != nil:
		return model.Catalogue{}, err
	}
	packages := slices.Clone(read.Packages)
	if pkg != "" {
		packages = slices.DeleteFunc(packages, func(p model.Package) bool { return p.Name != pkg })
	}
	return model.Catalogue{Packages: packages, Findings: slices.Clone(read.Findings)}, nil
}

// defines says whether the package's own document was there: not every server counts it among
// those of the package, since its field package is empty. A document without a default channel
// counts as none, and the whole catalogue is looked at.
func defines(c model.Catalogue, pkg string) bool {
	return slices.ContainsFunc(c.Packages, func(p model.Package) bool { return p.Name == pkg && p.DefaultChannel != "" })
}

// asked leaves out what a server has answered with beyond the package.
func (r *Reader) asked(read model.Catalogue, pkg string) model.Catalogue {
	only := model.Catalogue{Findings: slices.Clone(read.Findings)}
	for _, p := range read.Packages {
		if p.Name == pkg {
			only.Packages = append(only.Packages, p)
		}
	}
	if more := len(read.Packages) - len(only.Packages); more > 0 {
		only.Findings = append(only.Findings, model.Finding{
			Code: model.NotAskedFor, Where: model.Where{File: r.called + metasPath, Source: r.source},
			Message: fmt.Sprintf("the answer has %d packages besides %s, which alone was asked for; they were passed over", more, model.Quoted(pkg)),
		})
	}
	return only
}
