package catalogue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

const (
	manifestKind = "PackageManifest"
	listKind     = "List" // as kubectl writes it
)

// ErrTooLarge is an answer beyond all bounds: a part of it has to be asked for.
var ErrTooLarge = errors.New("the list of PackageManifests is too large")

// Wanted is which PackageManifests are asked for. An empty field is any.
type Wanted struct {
	Package, CatalogueNamespace, Catalogue string
}

// Manifests reads the PackageManifests that a cluster answers with.
type Manifests struct {
	// Wanted is what was asked for. The package server selects by labels, which an operator's
	// author can set; the status cannot be set so.
	Wanted Wanted
	// Most is how many bytes are read at most; 0 is a GiB.
	Most int64
}

// Read reads a list of PackageManifests in JSON, as an API server answers or kubectl writes it.
// What is wrong with one of them is a finding. An answer that is cut off is an error: what is
// missing would look as if it were not there. ErrTooLarge is an answer beyond all bounds.
//
// Only the heads of channels have metadata; all other bundles have a name and a version.
func (m Manifests) Read(ctx context.Context, in io.Reader) (model.Catalogue, error) {
	var a assembler
	list := newList(in, cmp.Or(m.Most, longestAnswer))
	err := list.each(func(item []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		where := model.Where{Document: list.number, Object: fmt.Sprintf("item %d", list.number)}
		r := reading{a: &a, where: where}
		switch {
		case item == nil:
			r.find(model.DocumentTooLarge, "the PackageManifest is larger than %d MiB without its icons; it was passed over", largest>>20)
		case !json.Valid(item):
			r.find(model.DocumentBroken, "the item is no JSON; it was passed over")
		default:
			r.manifest(item, m.Wanted)
		}
		if a.kept > largestKept {
			return fmt.Errorf("%w: it has more than 256 MiB of names and annotations, expected 20 MiB at most of a large vendor's", ErrTooLarge)
		}
		return nil
	})
	if errors.Is(err, errAnswer) {
		err = fmt.Errorf("%w: it has more than %d MiB, expected 100 MiB at most of a large vendor's", ErrTooLarge, cmp.Or(m.Most, longestAnswer)>>20)
	}
	if err == nil {
		err = list.check()
	}
	if err != nil {
		return model.Catalogue{}, fmt.Errorf("read the PackageManifests: %w", err)
	}
	return a.builder.Build(), nil
}

// check says whether it was the list, and all of it.
func (l *list) check() error {
	if l.kind != "" && l.kind != manifestKind+"List" && l.kind != listKind {
		return fmt.Errorf("the answer is of kind %s, expected %sList", model.Quoted(l.kind), manifestKind)
	}
	if !l.items {
		return errors.New("the answer has no items, expected a list")
	}
	if !json.Valid(l.metadata) && l.metadata != nil {
		return errors.New("the metadata of the list is no JSON")
	}
	rest := ""
	eachField(l.metadata, func(key, v []byte) {
		if string(key) == "continue" {
			rest, _ = text(v)
		}
	})
	if rest != "" {
		return errors.New("the answer is a part of the list, and the whole was asked for")
	}
	return nil
}

// named are the fields with these names of an object. Their names are in the case of the API.
func named(object []byte, names ...string) map[string][]byte {
	fields := make(map[string][]byte, len(names))
	eachField(object, func(key, v []byte) {
		if i := slices.Index(names, string(key)); i >= 0 && string(v) != "null" {
			fields[names[i]] = v
		}
	})
	return fields
}

// manifest takes one PackageManifest, which is valid JSON.
func (r *reading) manifest(item []byte, wanted Wanted) {
	object := named(item, "kind", "metadata", "status")
	if kind := r.text(object, "kind"); kind != "" && kind != manifestKind {
		r.find(model.NotAskedFor, "the item is of kind %s, expected %s; it was passed over", model.Quoted(kind), manifestKind)
		return
	}
	if status := object["status"]; len(status) == 0 || status[0] != '{' {
		r.find(model.DocumentIncomplete, "the PackageManifest has no status; it was passed over")
		return
	}
	metadata := named(object["metadata"], "name", "labels")
	status := named(object["status"], "packageName", "catalogSource", "catalogSourceNamespace", "catalogSourceDisplayName",
		"catalogSourcePublisher", "defaultChannel", "deprecation", "channels")
	name := cmp.Or(r.text(status, "packageName"), r.text(metadata, "name"))
	if name == "" {
		r.find(model.DocumentIncomplete, "the PackageManifest has no status.packageName; it was passed over")
		return
	}
	source := r.source(status)
	r.where.Source, r.where.Object = source, model.Object("package", name)
	r.a.builder.From(source)
	switch {
	case !wanted.has(name, source):
		r.find(model.NotAskedFor, "the cluster's answer has the package, and it was not asked for; its labels may say otherwise than its status. It was passed over")
		return
	case r.a.builder.Has(name):
		r.find(model.DefinedTwice, "it is there already; the first one counts")
		return
	}
	if source.Name == "" || source.Namespace == "" {
		r.find(model.DocumentIncomplete, "the PackageManifest does not say which CatalogSource it is from, expected status.catalogSource and status.catalogSourceNamespace")
	}
	r.offered(name, status, metadata)
}

func (w Wanted) has(name string, source model.Source) bool {
	return (w.Package == "" || w.Package == name) && (w.Catalogue == "" || w.Catalogue == source.Name) &&
		(w.CatalogueNamespace == "" || w.CatalogueNamespace == source.Namespace)
}

func (r *reading) source(status map[string][]byte) model.Source {
	return model.Source{
		Kind: model.CatalogSource, Namespace: r.text(status, "catalogSourceNamespace"), Name: r.text(status, "catalogSource"),
		DisplayName: r.text(status, "catalogSourceDisplayName"), Publisher: r.text(status, "catalogSourcePublisher"),
	}
}

// offered adds the package with its channels and bundles.
func (r *reading) offered(name string, status, metadata map[string][]byte) {
	p := packageOf{reading: r, name: name, place: r.where, bundles: map[string]*model.Bundle{}, against: map[model.Reference]string{}}
	channel := r.text(status, "defaultChannel")
	r.a.builder.Package(model.Package{Name: name, DefaultChannel: channel}, p.place)
	p.deprecate(model.Reference{Schema: "olm.package"}, status["deprecation"])
	if list := status["channels"]; len(list) == 0 || list[0] != '[' {
		r.find(model.DocumentIncomplete, "the channels of the PackageManifest are no list; they are unknown")
	}
	heads := map[string]string{}
	eachItem(status["channels"], func(item []byte) { p.channel(item, heads) })
	if head := p.bundles[heads[channel]]; head != nil && head.Metadata != nil {
		r.where = p.place
		// The labels are those of the default channel's head.
		if labels := metadata["labels"]; labels != nil {
			head.Metadata.Platforms = r.platformsOf(labels)
		}
	}
	p.add()
}

// packageOf is the work on the channels of one PackageManifest.
type packageOf struct {
	*reading
	name    string
	place   model.Where
	bundles map[string]*model.Bundle
	against map[model.Reference]string
}

// add adds the bundles, each of which may be in several channels.
func (p *packageOf) add() {
	for _, name := range slices.Sorted(maps.Keys(p.bundles)) {
		p.a.builder.Bundle(p.name, *p.bundles[name], p.place)
	}
	for what, message := range p.against {
		p.a.builder.Deprecate(p.name, what, message, p.place)
	}
	p.a.kept += 512
}

func (p *packageOf) deprecate(what model.Reference, deprecation []byte) {
	if len(deprecation) == 0 {
		return
	}
	message, _ := text(named(deprecation, "message")["message"])
	// A deprecation without a message is one nevertheless.
	message = cmp.Or(message, "deprecated")
	p.against[what] = message
	p.a.kept += len(message) + 96
}

func (p *packageOf) channel(item []byte, heads map[string]string) {
	p.reading.where = p.place
	fields := named(item, "name", "currentCSV", "currentCSVDesc", "entries", "deprecation")
	c := model.Channel{Name: p.text(fields, "name"), Head: p.text(fields, "currentCSV")}
	if c.Name == "" {
		p.find(model.DocumentIncomplete, "a channel has no name; it was passed over")
		return
	}
	p.reading.where.Object = model.Object("channel", c.Name)
	if _, ok := heads[c.Name]; ok {
		p.find(model.DefinedTwice, "it is there already; the first one counts")
		return
	}
	heads[c.Name] = c.Head
	p.deprecate(model.Reference{Schema: "olm.channel", Name: c.Name}, fields["deprecation"])
	c.Entries = p.listed(fields["entries"])
	if c.Head == "" {
		p.find(model.DocumentIncomplete, "the channel has no currentCSV; its head is unknown")
	} else {
		p.head(&c, fields["currentCSVDesc"])
	}
	p.a.kept += 128
	p.a.builder.Channel(p.name, c, p.place)
}

// listed are the entries of a channel: all that is known of their bundles is name and version.
func (p *packageOf) listed(list []byte) []model.Entry {
	var entries []model.Entry
	eachItem(list, func(item []byte) {
		fields := named(item, "name", "version", "deprecation")
		name := p.text(fields, "name")
		if name == "" {
			p.find(model.DocumentIncomplete, "an entry of the channel has no name; it was passed over")
			return
		}
		p.a.kept += 96
		entries = append(entries, model.Entry{Name: name})
		p.version(p.bundle(name), p.text(fields, "version"))
		p.deprecate(model.Reference{Schema: "olm.bundle", Name: name}, fields["deprecation"])
	})
	return entries
}

func (p *packageOf) bundle(name string) *model.Bundle {
	if p.bundles[name] == nil {
		p.bundles[name] = &model.Bundle{Name: name}
		p.a.kept += 256
	}
	return p.bundles[name]
}

func (p *packageOf) version(b *model.Bundle, version string) {
	if b.Version != "" && version != "" && b.Version != version {
		p.find(model.DefinedTwice, "the version of bundle %s is %s and %s; the first one counts",
			model.Quoted(b.Name), model.Quoted(b.Version), model.Quoted(version))
	}
	b.Version = cmp.Or(b.Version, version)
}

// head takes what is said of the head of a channel.
func (p *packageOf) head(c *model.Channel, description []byte) {
	if !slices.ContainsFunc(c.Entries, func(e model.Entry) bool { return e.Name == c.Head }) {
		p.find(model.DocumentIncomplete, "the channel's entries do not have its head %s; what else it has may be unknown", model.Quoted(c.Head))
		c.Entries = append(c.Entries, model.Entry{Name: c.Head})
	}
	b := p.bundle(c.Head)
	p.reading.where.Object = model.Object("bundle", c.Head)
	p.version(b, p.text(named(description, "version"), "version"))
	if b.Metadata == nil {
		b.Metadata = p.metadata(description, description)
	}
}
