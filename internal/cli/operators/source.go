package operators

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// source are the flags by which a catalogue is found.
type source struct {
	path, namespace, catalogSource string
	authority                      string
	kubeconfig                     command.Kubeconfig
	verbose                        bool
}

func (s *source) add(f *pflag.FlagSet) {
	f.StringVar(&s.path, "catalogue", "", "cluster for the catalogues that the cluster serves; the `PATH` of a file-based catalogue: a file, a directory, or - for the standard input; or an image that has one: image:REF of a registry, oci:DIR of an OCI image layout, archive:FILE of a tar; or catalogd:URL for a catalogue of OLM v1")
	f.Lookup("catalogue").DefValue = string(Cluster)
	f.StringVar(&s.catalogSource, "source", "", "one of the cluster's catalogues: the `name` of its CatalogSource or ClusterCatalog, such as vendor or olm/vendor")
	f.StringVar(&s.authority, "certificate-authority", "", "the `file` with the certificate authorities of catalogd:URL, in PEM (default: those of the system)")
	f.StringVarP(&s.namespace, "namespace", "n", "", "catalogues for this `namespace`: its own, and those for all namespaces (default: the catalogues of all namespaces)")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "say what takes long, also where the standard error is no terminal")
	s.kubeconfig.AddFlags(f)
}

// Source are the same flags for another command that shows catalogues.
type Source struct{ source }

// AddFlags adds the flags.
func (s *Source) AddFlags(flags *pflag.FlagSet) { s.add(flags) }

// Check refuses flags that do not go together.
func (s *Source) Check() error { return s.check(true) }

// Origin is where the flags say that the catalogue is.
func (s *Source) Origin() (Origin, error) { return s.origin("") }

// Path is what --catalogue says.
func (s *Source) Path() string { return s.path }

// CatalogueFlags are how a command says the same catalogue, with a blank before; empty for the usual ones.
func (s *Source) CatalogueFlags() string { return s.flags() }

// ClusterFlags are how a command says the same cluster and person, with a blank before; empty for the
// usual ones.
func (s *Source) ClusterFlags() string { return s.kubeconfig.Flags() }

// Refuse says why the catalogue that the flags name cannot be read.
func (s *Source) Refuse(streams command.Streams, err error) error {
	return s.refuse(harmless(streams), originOf(s.path), err)
}

// read reads the catalogue. With the name of a package it may be without others.
func (s *source) read(ctx context.Context, streams command.Streams, world World, pkg string) (*catalogue.Catalogue, error) {
	at, err := s.origin(pkg)
	if err != nil {
		return nil, err
	}
	var slow func(string)
	if s.verbose || isTerminal(streams.Err) {
		slow = func(file string) {
			sayOn(streams.Err, "tabard: %s is YAML, which takes about ten times as long to read as JSON: opm render -o json PATH writes JSON", catalogue.Quoted(file))
		}
	}
	read, err := world.Read(ctx, at, streams.In, slow)
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err
	case err == nil && len(read.Packages) == 0 && pkg == "":
		tell(streams, read.Findings, "")
		err = errEmpty
	}
	if err != nil {
		return nil, s.refuse(streams, at, err)
	}
	return &read, nil
}

// refuse says why a catalogue cannot be read. A cluster that cannot be asked is no fault of the
// input.
func (s *source) refuse(streams command.Streams, at Origin, err error) error {
	switch {
	case at.Kind == File:
		return command.File{By: "--catalogue", Path: s.path, Expected: "a file-based catalogue in JSON or YAML, or a directory of such files"}.Refuse(err)
	case at.Kind != Cluster && errors.Is(err, errEmpty):
		return usage.Wrong(fmt.Errorf("--catalogue is %.200q: %w", s.path, err))
	case at.Kind == Layout || at.Kind == Archive:
		return usage.Wrong(fmt.Errorf("--catalogue is %.200q: %w", s.path, err))
	case !errors.Is(err, errEmpty):
		return streams.Refuse(command.Found, err)
	case s.catalogSource+s.namespace == "":
		return streams.Refuse(command.Found, errors.New("the cluster serves no package: kubectl get catalogsources,clustercatalogs --all-namespaces shows its catalogues"))
	}
	return streams.Refuse(command.Found, fmt.Errorf("the cluster serves no package by%s: kubectl get catalogsources,clustercatalogs --all-namespaces shows its catalogues", s.flags()))
}

func isTerminal(to io.Writer) bool {
	if g, ok := command.Raw(to).(guard); ok {
		to = g.to
	}
	file, ok := to.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// find is the package with a name, exactly as it is written.
func (s *source) find(c *catalogue.Catalogue, name string) (*catalogue.Package, error) {
	first, ok := slices.BinarySearchFunc(c.Packages, name, func(p catalogue.Package, name string) int { return strings.Compare(p.Name, name) })
	if !ok {
		return nil, s.notFound(c, name)
	}
	var sources []string
	for i := first; i < len(c.Packages) && c.Packages[i].Name == name; i++ {
		sources = append(sources, catalogue.Quoted(s.placeOf(&c.Packages[i]).String()))
	}
	if len(sources) > 1 {
		return nil, usage.Wrong(fmt.Errorf("package %s is in %d catalogues of the cluster: choose one by --source, of %s", catalogue.Quoted(name), len(sources), listing.Few(sources)))
	}
	return &c.Packages[first], nil
}

func (s *source) notFound(c *catalogue.Catalogue, name string) error {
	if originOf(s.path).Kind == Cluster {
		return usage.Wrong(fmt.Errorf("the cluster serves no package %s; OLM leaves out a package of which it can read no version; tabard operators list --all%s names all",
			catalogue.Quoted(name), s.flags()))
	}
	text := fmt.Sprintf("there is no package %s in the catalogue", catalogue.Quoted(name))
	if like := similar(c, name); len(like) > 0 {
		text += ", which has " + strings.Join(like, ", ")
	}
	return usage.Wrong(fmt.Errorf("%s; tabard operators list --all%s names all %d", text, s.flags(), len(c.Packages)))
}

// similar are up to three packages in whose names this one is, or the reverse.
func similar(c *catalogue.Catalogue, name string) []string {
	const most = 3
	var like []string
	for _, p := range c.Packages {
		a, b := strings.ToLower(p.Name), strings.ToLower(name)
		if len(like) < most && b != "" && (strings.Contains(a, b) || strings.Contains(b, a)) {
			like = append(like, catalogue.Quoted(p.Name))
		}
	}
	return like
}

// mostTold bounds what a person is told of a catalogue's findings.
const mostTold = 10

// tell counts findings, and tells the first ones. more says where the others are.
func tell(streams command.Streams, findings []catalogue.Finding, more string) {
	if len(findings) == 0 {
		return
	}
	sayOn(streams.Err, "tabard: %s", line.Count(len(findings), "finding in the catalogue", "findings in the catalogue"))
	for i, f := range findings {
		if i == mostTold {
			sayOn(streams.Err, "  and %d more%s", len(findings)-mostTold, more)
			break
		}
		sayOn(streams.Err, "  %s", f)
	}
}

// isData says that the output is the whole document, in which findings are.
func isData(o command.Output) bool { return o.Format == "json" || o.Format == "yaml" }

// tellUnread says that parts of the catalogue could not be read, which may be of the package, and
// why the catalogue has no metadata of bundles.
func (s *source) tellUnread(streams command.Streams, c *catalogue.Catalogue, p *catalogue.Package, bundles ...catalogue.Bundle) {
	var why []catalogue.Finding
	for _, f := range c.Findings {
		if slices.ContainsFunc(bundles, func(b catalogue.Bundle) bool {
			return b.Metadata == nil && f.Where.Object == catalogue.Object("bundle", b.Name)
		}) {
			why = append(why, f)
		}
	}
	tell(streams, why, "")
	if _, unplaced := listing.About(c, p); len(unplaced) > 0 {
		sayOn(streams.Err, "tabard: %s, which may have more of package %s: tabard operators list%s tells them",
			line.Count(len(unplaced), "document or file could not be used", "documents or files could not be used"), catalogue.Quoted(p.Name), s.flags())
	}
}
