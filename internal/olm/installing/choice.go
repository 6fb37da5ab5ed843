package installing

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

// Choice is the install that a person chooses.
type Choice struct {
	// Package and Bundle are what is installed.
	Package *catalogue.Package
	Bundle  catalogue.Bundle
	// Asks is what the operator asks for, where a person said so; nil for what the bundle declares.
	Asks *permission.Set
	// SourceNamespace and Source are the CatalogSource that OLM installs from; empty for the one that
	// the package was read of.
	SourceNamespace, Source string
	// Channel is empty for the package's default channel, or the only one with the bundle.
	Channel string
	// Namespace is empty for the one that the author suggests.
	Namespace string
	// InstallMode, Watched, Approval and Variables are those of operator.Install.
	InstallMode, Watched, Approval string
	Variables                      map[string]string
	// Values are those of the role, as operator.ForAWS and its like make them; nil for none.
	Values map[string]string
	// WithoutRole says that an operator that takes roles by tokens shall not have one.
	WithoutRole bool
	// Force goes on where the cluster is not in token mode, or the operator does not say that it takes
	// tokens of its cloud.
	Force bool
}

// Cloud is that of the role. It refuses a role for a cluster that gives no tokens of its cloud, by
// NotTokenMode or OtherCloud. Without a role the cloud is the cluster's, in token mode; else there is
// none.
func (c Choice) Cloud(mode tokenfacts.Mode) (*catalogue.Cloud, error) {
	clusters, known := listing.CloudNamed(strings.ToLower(mode.Cloud))
	cloud := operator.CloudOf(c.Values)
	switch {
	case cloud == nil && mode.TokenMode == listing.Yes && known:
		return &clusters, nil
	case cloud == nil || c.Force:
	case mode.TokenMode != listing.Yes:
		return nil, refuse(NotTokenMode, "%s, so that the operator would not use its role", mode.Sentence())
	case !known || clusters != *cloud:
		return nil, refuse(OtherCloud, "the role is of %s, and the cluster is in token mode on %s", strings.ToUpper(cloud.String()), mode.Cloud)
	}
	return cloud, nil
}

// Install is what a choice comes to for a cluster, and the cloud of the role, which may be nil. What
// does not go together is a *Refusal.
func (c Choice) Install(mode tokenfacts.Mode) (operator.Install, *catalogue.Cloud, error) {
	out := operator.Install{InstallMode: c.InstallMode, Watched: c.Watched, Approval: c.Approval, Variables: c.Variables}
	cloud, err := c.Cloud(mode)
	if err == nil {
		err = c.supports(mode, cloud)
	}
	if err == nil {
		out.Wanted, err = c.locate()
	}
	out.WithoutRole = c.WithoutRole && cloud != nil && len(c.Values) == 0
	return out, cloud, err
}

// supports refuses a role for an operator that does not say that it takes tokens of the cloud, and an
// operator that does without a role, unless that is asked for.
func (c Choice) supports(mode tokenfacts.Mode, cloud *catalogue.Cloud) error {
	if cloud == nil {
		return nil
	}
	tokens := c.Bundle.Features.Tokens
	supports := tokens[*cloud]
	switch {
	case len(c.Values) == 0 && supports == catalogue.Yes && !c.WithoutRole:
		return refuse(RoleMissing, "%s takes a role by tokens, and %s", catalogue.Quoted(c.Bundle.Name), mode.Sentence())
	case len(c.Values) == 0, supports == catalogue.Yes, c.Force:
		return nil
	}
	var others []string
	for _, other := range listing.Clouds() {
		if tokens[other] == catalogue.Yes {
			others = append(others, strings.ToUpper(other.String()))
		}
	}
	code, said := NotSupported, "it says so of no cloud"
	switch {
	case len(others) > 0:
		said = "it says so of " + strings.Join(others, ", ")
	case supports == catalogue.Claimed:
		said = "it claims tokens, and does not say of which cloud"
	case c.Bundle.Metadata == nil:
		code, said = NoMetadata, "the catalogue has no metadata of it"
	}
	return refuse(code, "%s does not say that it takes tokens of %s: %s", catalogue.Quoted(c.Bundle.Name), strings.ToUpper(cloud.String()), said)
}

// locate is what is installed, from where, and in which namespace.
func (c Choice) locate() (operator.Wanted, error) {
	w := operator.Wanted{
		Subscription: c.Package.Name, Package: c.Package.Name, CSV: c.Bundle.Name, Namespace: c.Namespace,
		SourceNamespace: c.Package.Source.Namespace, Source: c.Package.Source.Name,
		Values: c.Values, Identity: operator.IdentityOf(c.Values),
	}
	switch {
	case c.Source != "":
		w.SourceNamespace, w.Source = c.SourceNamespace, c.Source
	case c.Package.Source.Kind != catalogue.CatalogSource:
		return w, refuse(NotOfCatalogSource, "package %s is of a ClusterCatalog of OLM v1", catalogue.Quoted(c.Package.Name))
	}
	if w.Namespace == "" {
		w.Namespace = c.Bundle.SuggestedNamespace()
	}
	if w.Namespace == "" || len(validation.IsDNS1123Label(w.Namespace)) > 0 {
		return w, refuse(NoNamespace, "it is not said in which namespace the operator is installed, and its author suggests none")
	}
	var err error
	w.Channel, err = c.channel()
	return w, err
}

// channel is that of the Subscription: the one that was asked for, or the one with the version.
func (c Choice) channel() (string, error) {
	var with []string
	for _, one := range c.Package.Channels {
		if slices.ContainsFunc(one.Entries, func(e catalogue.Entry) bool { return e.Name == c.Bundle.Name }) {
			with = append(with, one.Name)
		}
	}
	switch wanted := c.Channel; {
	case wanted != "" && slices.Contains(with, wanted):
		return wanted, nil
	case wanted == "" && slices.Contains(with, c.Package.DefaultChannel):
		return c.Package.DefaultChannel, nil
	case wanted == "" && len(with) == 1:
		return with[0], nil
	}
	return "", refuse(NoChannel, "%s is in the channels %s", catalogue.Quoted(c.Bundle.Name), listing.Few(with))
}
