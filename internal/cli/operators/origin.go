package operators

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// Kind is of what a catalogue is read.
type Kind string

// The kinds of catalogues that there are.
const (
	// File is a file-based catalogue: a file, a directory, or "-" for the standard input.
	File Kind = "file"
	// Cluster are the catalogues that a cluster serves.
	Cluster Kind = "cluster"
	// Image is an image of a registry.
	Image Kind = "image"
	// Layout is the directory of an OCI image layout.
	Layout Kind = "oci"
	// Archive is a file of an OCI image layout, or of "docker save".
	Archive Kind = "archive"
	// Catalogd is a catalogue of OLM v1, by its URL.
	Catalogd Kind = "catalogd"
)

// Origin is where a catalogue is.
type Origin struct {
	Kind Kind
	// Path is that of a file or directory, the reference of an image, or a URL. It is empty for a
	// cluster.
	Path string
	// CertificateAuthority is the file with those that a URL is trusted by; empty for the system's.
	CertificateAuthority string
	// Kubeconfig says which cluster.
	Kubeconfig *command.Kubeconfig
	// Namespace is where an operator is to be installed: its own catalogues of the cluster are
	// read and those for all namespaces. Empty are the catalogues of all namespaces.
	Namespace string
	// Package is the one that is wanted; empty for all. A reader may read others, too.
	Package string
	// CatalogueNamespace and Catalogue are of the CatalogSource that is wanted, of a cluster; empty
	// for any. Without a namespace Catalogue may be a ClusterCatalog, too.
	CatalogueNamespace, Catalogue string
}

// originOf reads what --catalogue says. A file whose name begins with a kind and a colon is
// written with its directory, as in ./oci:x.
func originOf(text string) Origin {
	if text == "" || text == string(Cluster) {
		return Origin{Kind: Cluster}
	}
	for _, kind := range []Kind{Image, Layout, Archive, Catalogd} {
		if path, ok := strings.CutPrefix(text, string(kind)+":"); ok {
			return Origin{Kind: kind, Path: path}
		}
	}
	return Origin{Kind: File, Path: text}
}

// chosenSource reads what --source says: the name of a CatalogSource, with its namespace or without.
func chosenSource(text string) (namespace, name string, err error) {
	parts := strings.Split(text, "/")
	switch {
	case text == "":
		return "", "", nil
	case len(parts) == 1:
		return "", parts[0], nil
	case len(parts) == 2 && parts[0] != "" && parts[1] != "":
		return parts[0], parts[1], nil
	}
	return "", "", fmt.Errorf("--source is %s, expected the name of a CatalogSource, such as olm/vendor, or of a CatalogSource or ClusterCatalog, such as vendor", catalogue.Quoted(text))
}

// origin is where the flags say that the catalogue is.
func (s *source) origin(pkg string) (Origin, error) {
	at := originOf(s.path)
	at.Kubeconfig, at.Namespace, at.Package, at.CertificateAuthority = &s.kubeconfig, s.namespace, pkg, s.authority
	var err error
	at.CatalogueNamespace, at.Catalogue, err = chosenSource(s.catalogSource)
	return at, err
}

// isChosen says that a flag chooses a catalogue. Without one the cluster's are meant.
func (s *source) isChosen() bool { return s.path+s.namespace+s.catalogSource != "" }

// check refuses flags that say nothing of the catalogue that another chooses. asksCluster says
// that the cluster is asked for something else.
func (s *source) check(asksCluster bool) error {
	at, err := s.origin("")
	switch {
	case err != nil:
		return err
	case s.authority != "" && at.Kind != Catalogd:
		return fmt.Errorf("--certificate-authority is for a catalogue at a URL, and --catalogue is %.80q: leave it out", s.path)
	case at.Kind == Cluster:
		return nil
	case at.Path == "":
		return fmt.Errorf("--catalogue is %.80q, expected the name of the %s behind the colon, as in %s", s.path, nouns[at.Kind], examples[at.Kind])
	case s.namespace+s.catalogSource != "":
		return fmt.Errorf("--source and --namespace choose among the catalogues of a cluster, and --catalogue is %.80q: leave them out", s.path)
	case !asksCluster && s.kubeconfig.IsSet():
		return fmt.Errorf("a flag names a cluster, and --catalogue is %.80q, so that none is asked: leave one out", s.path)
	}
	return nil
}

// flags are how a command says the same catalogue, with a blank before; nothing for that of the
// usual cluster.
func (s *source) flags() string {
	out := ""
	for _, one := range [][2]string{{"--catalogue", s.path}, {"--namespace", s.namespace}, {"--source", s.catalogSource}, {"--certificate-authority", s.authority}} {
		if one[1] != "" {
			out += " " + one[0] + " " + line.Word(one[1])
		}
	}
	return out
}

// nouns and examples are of kinds that stand before a colon.
var (
	nouns    = map[Kind]string{Image: "image", Layout: "directory", Archive: "file", Catalogd: "URL"}
	examples = map[Kind]string{Image: "image:registry.example.com/catalogue:v1", Layout: "oci:catalogue/", Archive: "archive:catalogue.tar", Catalogd: "catalogd:https://127.0.0.1:8443/catalogs/vendor"}
)

// errEmpty is a catalogue without any package.
var errEmpty = errors.New("there is no package in it")

// placeOf is where a package was read: the catalogue of the cluster, or what --catalogue says.
func (s *source) placeOf(p *catalogue.Package) listing.Place {
	if p.Source.Kind != "" {
		return listing.Place{Kind: string(p.Source.Kind), Namespace: p.Source.Namespace, Name: p.Source.Name}
	}
	return listing.Place{Kind: string(originOf(s.path).Kind), Name: s.path}
}
