package operators

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// row is a package with the version that a new install takes.
type row struct {
	Source      place  `json:"source"`
	Package     string `json:"package"`
	DisplayName string `json:"displayName,omitempty"`
	Provider    string `json:"provider,omitempty"`
	// Channel is the default one. Version and CSV are those of its head.
	Channel string `json:"channel,omitempty"`
	Version string `json:"version,omitempty"`
	CSV     string `json:"csv,omitempty"`
	// Tokens says for each cloud yes, no, notStated, claimed or unknown.
	Tokens   map[string]string `json:"tokens"`
	Features []string          `json:"features"`
	// Why says why nothing is known of features and permissions.
	Why         string `json:"why,omitempty"`
	Permissions asked  `json:"permissions"`
	// Deprecated is what the catalogue says against the package, its channel or its version.
	Deprecated string `json:"deprecated,omitempty"`
	// Installed are its Subscriptions, if --installed asks for them.
	Installed []install `json:"installed,omitempty"`
}

// The states of what is asked for.
const (
	stateDeclared = "declared"
	stateUnknown  = "unknown"
)

// asked is what an operator asks the cloud for.
type asked struct {
	State string `json:"state"`
	// Count counts what is asked for, and Sensitive what of that is.
	Count      int  `json:"count"`
	Sensitive  int  `json:"sensitive"`
	Incomplete bool `json:"incomplete,omitempty"`
	// Why says why it is unknown.
	Why string `json:"why,omitempty"`

	// nothing says that it is declared that nothing is asked for.
	nothing bool
}

func supportOf(b *catalogue.Bundle, c catalogue.Cloud) catalogue.Support {
	if b == nil {
		return catalogue.Unknown
	}
	return b.Features.Tokens[c]
}

// written is a support for programs.
func written(s catalogue.Support) string {
	if s == catalogue.NotStated {
		return "notStated"
	}
	return s.String()
}

func (f *listFlags) row(r catalogue.Row) row {
	out := row{Source: f.placeOf(r.Package), Package: r.Package.Name, Tokens: map[string]string{}, Features: []string{}, Deprecated: r.Package.Deprecation}
	for _, c := range clouds {
		out.Tokens[c.String()] = written(supportOf(r.Bundle, c))
	}
	if r.Channel != nil {
		out.Channel, out.Deprecated = r.Channel.Name, cmp.Or(out.Deprecated, r.Channel.Deprecation)
	}
	switch {
	case r.Channel == nil:
		out.Why = "the package has no default channel"
	case r.Channel.Invalid:
		out.Why = "the default channel has no single head"
	case r.Bundle == nil:
		out.Why = "the catalogue does not have the head of the default channel"
	case r.Bundle.Metadata == nil:
		out.Why = "the catalogue has no metadata of this version that can be used"
	}
	if r.Bundle == nil {
		out.Permissions = asked{State: stateUnknown, Why: out.Why}
		return out
	}
	b := *r.Bundle
	out.Version, out.CSV, out.Deprecated = b.Version, b.Name, cmp.Or(out.Deprecated, b.Deprecation)
	if b.Metadata != nil {
		out.DisplayName, out.Provider = b.Metadata.DisplayName, b.Metadata.Provider
	}
	for i := catalogue.Disconnected; i <= catalogue.SingleNode; i++ {
		if b.Features.Others[i] == catalogue.Yes {
			out.Features = append(out.Features, i.String())
		}
	}
	out.Permissions = askedBy(r.Package, b)
	return out
}

// askedBy counts what a bundle asks for.
func askedBy(p *catalogue.Package, b catalogue.Bundle) asked {
	set := permission.OfBundle(p.Name, b, nil)
	if _, known := set.Requests(); !known {
		return asked{State: stateUnknown, Why: whyUnknown(set, b)}
	}
	out := asked{State: stateDeclared, Incomplete: set.Incomplete, nothing: set.AsksNothing()}
	for _, atom := range set.Atoms() {
		out.Count++
		if len(atom.Marks()) > 0 {
			out.Sensitive++
		}
	}
	return out
}

func (a asked) String() string {
	switch {
	case a.State == stateUnknown:
		return stateUnknown
	case a.nothing:
		return "declared: nothing"
	}
	text := fmt.Sprintf("declared: %d", a.Count)
	if a.Incomplete {
		text += " or more"
	}
	if a.Sensitive > 0 {
		text += fmt.Sprintf(", %d sensitive", a.Sensitive)
	}
	return text
}

// cells are a line of the table. With a cloud, its tokens are meant.
func (r row) cells(cloud *catalogue.Cloud) []string {
	state := "-"
	switch {
	case r.Deprecated != "":
		state = "deprecated"
	case r.CSV == "":
		state = "no head"
	}
	return []string{
		orDash(r.DisplayName), r.Package, orDash(r.Channel), orDash(r.Version), r.tokens(cloud), r.Permissions.String(), state,
		orDash(r.Provider), orDash(strings.Join(r.Features, ",")), r.Source.String(),
	}
}

// tokens are the clouds whose tokens are supported, or the answer for one cloud.
func (r row) tokens(cloud *catalogue.Cloud) string {
	if cloud != nil {
		return strings.ReplaceAll(r.Tokens[cloud.String()], "notStated", "not stated")
	}
	var supported []string
	rest := "-"
	for _, c := range clouds {
		switch said := r.Tokens[c.String()]; said {
		case "yes":
			supported = append(supported, c.String())
		case "unknown", "claimed":
			rest = said
		}
	}
	if len(supported) > 0 {
		return strings.Join(supported, ",")
	}
	return rest
}
