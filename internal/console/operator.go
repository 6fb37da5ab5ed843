package console

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// found is the package of a request, in the catalogue that has it.
func (s *Server) found(r *http.Request) (*readCatalogue, *catalogue.Package, error) {
	read, _, err := s.catalogue.get(r.Context())
	if err != nil {
		return nil, nil, err
	}
	p, ok := read.find(r.PathValue("id"))
	if !ok {
		return nil, nil, s.noOperator(r.PathValue("id"))
	}
	return read, p, nil
}

func (s *Server) noOperator(id string) *Problem {
	return &Problem{Status: http.StatusNotFound, Code: "operator", Title: "There is no such operator",
		Detail: fmt.Sprintf("no catalogue that was read has %.200q; a catalogue may have been removed", id), Next: []string{s.ofCatalogue("operators list --all")}}
}

// bundle is the version that a person means, or without one the head of the default channel. It is nil
// where there is no such head.
func bundle(p *catalogue.Package, version string) (*catalogue.Bundle, error) {
	if version == "" {
		one := catalogue.Catalogue{Packages: []catalogue.Package{*p}}
		return one.List(catalogue.Filter{All: true}).Rows[0].Bundle, nil
	}
	switch all := listing.Version(p, version); len(all) {
	case 1:
		return &all[0], nil
	case 0:
		return nil, &Problem{Status: http.StatusNotFound, Code: "version", Title: "There is no such version", Detail: fmt.Sprintf("the catalogue has no %.200q of this operator", version)}
	default:
		return nil, &Problem{Status: http.StatusBadRequest, Code: "version", Title: "Several bundles have this version", Detail: fmt.Sprintf("%d bundles are %.200q: name the ClusterServiceVersion", len(all), version)}
	}
}

// operator is one package.
func (s *Server) operator(r *http.Request) (any, error) {
	q := queryOf(r, "version")
	version := q.text("version")
	if err := q.err(); err != nil {
		return nil, err
	}
	read, p, err := s.found(r)
	if err != nil {
		return nil, err
	}
	b, err := bundle(p, version)
	if err != nil {
		return nil, err
	}
	place := s.World.placeOf(p)
	d := listing.DetailOf(p, place)
	own, unplaced := listing.About(&read.Catalogue, p)
	out := api.Operator{
		ID: id(place, p.Name), Source: place, Package: p.Name, DefaultChannel: d.DefaultChannel, Deprecated: d.Deprecated,
		Channels: channels(p, d), Versions: d.Versions, Findings: listing.FindingsOf(append(own, unplaced...)),
		Installed: s.whatIsInstalled(r.Context()).of(place, p.Name), CannotInstall: s.cannotInstall(p),
		Command: s.ofCatalogue(about("operators show", p.Name, flag("version", version)+s.sourceFlag(p))),
	}
	if b != nil {
		d.Choose(p, *b)
		out.Chosen = chosen(*d.Chosen, p, *b)
		out.SuggestedNamespace = b.SuggestedNamespace()
	}
	return out, nil
}

// channels are those of a package, each with its drawing.
func channels(p *catalogue.Package, d listing.Detail) []api.Channel {
	out := []api.Channel{}
	for i, c := range p.Channels {
		out = append(out, api.Channel{ChannelDetail: d.Channels[i], Graph: listing.GraphOf(p, c)})
	}
	return out
}

// flag is a flag of a command, with a blank before; nothing without a value.
func flag(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + line.Word(value)
}

// sourceFlag names the catalogue of a package, which may be in several.
func (s *Server) sourceFlag(p *catalogue.Package) string {
	if s.World.Files != "" || strings.Contains(s.World.CatalogueFlags, " --source ") {
		return ""
	}
	return flag("source", s.World.placeOf(p).String())
}

// cannotInstall says why the console does not install a package; empty if it may.
func (s *Server) cannotInstall(p *catalogue.Package) string {
	switch {
	case s.ReadOnly:
		return "The console was started with --read-only."
	case !s.World.HasCluster():
		return "There is no cluster to install in."
	case p.Source.Kind != catalogue.CatalogSource:
		return "OLM installs from a CatalogSource of the cluster, and this package is of none."
	}
	return ""
}

// chosen is one version, with what it asks for in sentences.
func chosen(c listing.Chosen, p *catalogue.Package, b catalogue.Bundle) *api.Chosen {
	return &api.Chosen{
		Version: c.Version, CSV: c.CSV, DisplayName: c.DisplayName, Provider: c.Provider, Description: c.Description, Capabilities: c.Capabilities,
		Categories: c.Categories, InstallModes: c.InstallModes, Repository: c.Repository, MetadataKnown: c.MetadataKnown,
		Features: c.Features, Values: c.Values, Permissions: permissions(c.Permissions, b),
	}
}

// permissions are what a version asks for.
func permissions(set permission.Set, b catalogue.Bundle) api.Permissions {
	requests, known := set.Requests()
	out := api.Permissions{
		Known: known, Why: listing.WhyUnknown(set, b), Source: set.Source.String(), Certainty: string(set.Certainty), AsksNothing: set.AsksNothing(),
		Incomplete: set.Incomplete, Digest: set.Source.Digest, Requests: []api.PermissionRequest{}, Findings: []listing.CatalogueFinding{}, Instructions: []string{},
	}
	if !known {
		out.Instructions = append(out.Instructions, listing.Instructions(b).Lines...)
	}
	if made := set.Policy().Documents; len(made) > 0 {
		out.Policy = strings.Join(made, "\n\n")
	}
	for _, f := range set.Findings {
		out.Findings = append(out.Findings, listing.CatalogueFinding{Code: catalogue.Code(f.Code), Object: f.Path, Message: f.Message})
	}
	sentences := set.Sentences()
	for _, request := range requests {
		one := api.PermissionRequest{Name: request.Name, Audiences: append([]string{}, request.Audiences...), ServiceAccounts: []string{}, Sentences: []api.Sentence{}}
		if request.Secret.Name != "" {
			one.Secret = request.Secret.Namespace + "/" + request.Secret.Name
		}
		for _, account := range request.ServiceAccounts {
			one.ServiceAccounts = append(one.ServiceAccounts, account.Namespace+"/"+account.Name)
		}
		for _, sentence := range sentences {
			if sentence.Request == request.Name {
				one.Sentences = append(one.Sentences, api.Sentence{Text: sentence.Text, Marks: append([]string{}, sentence.Marks...)})
			}
		}
		out.Requests = append(out.Requests, one)
	}
	return out
}

// difference is what one version asks for that another does not.
func (s *Server) difference(r *http.Request) (any, error) {
	q := queryOf(r, "from", "to")
	versions := [2]string{q.text("from"), q.text("to")}
	if versions[0] == "" || versions[1] == "" {
		q.refuse("the parameters from and to name two versions, and one is missing")
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	_, p, err := s.found(r)
	if err != nil {
		return nil, err
	}
	var bundles [2]catalogue.Bundle
	for i, version := range versions {
		b, err := bundle(p, version)
		if err != nil {
			return nil, err
		}
		bundles[i] = *b
	}
	cloud := permission.OneCloud(permission.OfBundle(p.Name, bundles[0], nil), permission.OfBundle(p.Name, bundles[1], nil))
	var sets [2]permission.Set
	var whys []string
	for i, version := range versions {
		b := &bundles[i]
		sets[i] = permission.OfBundle(p.Name, *b, cloud)
		if why := listing.WhyUnknown(sets[i], *b); why != "" {
			whys = append(whys, version+": "+why)
		}
	}
	d := permission.Diff(sets[0], sets[1])
	return api.Difference{
		From: versions[0], To: versions[1], Known: d.Verdict != permission.VerdictUnknown, Why: strings.Join(whys, "; "),
		Rows: differences(d), TrustMustChange: d.TrustMustChange,
		Command: s.ofCatalogue(about("operators upgrade-diff", p.Name, flag("from", versions[0])+flag("to", versions[1])+s.sourceFlag(p))),
	}, nil
}

// differences are the changes of a difference, in its order.
func differences(d permission.Difference) []api.DifferenceRow {
	out := []api.DifferenceRow{}
	for _, change := range d.Changes {
		out = append(out, api.DifferenceRow{
			Class: string(change.Class), Sensitive: len(change.Marks) > 0, Marks: append([]string{}, change.Marks...),
			Text: strings.TrimPrefix(change.Text, string(change.Class)+": "),
		})
	}
	return out
}
