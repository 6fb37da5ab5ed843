package operators

import (
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// cells are a line of the table. With a cloud, its tokens are meant.
func cells(r listing.Row, cloud *catalogue.Cloud) []string {
	state := "-"
	switch {
	case r.Deprecated != "":
		state = "deprecated"
	case r.CSV == "":
		state = "no head"
	}
	return []string{
		orDash(r.DisplayName), r.Package, orDash(r.Channel), orDash(r.Version), r.Takes(cloud), r.Permissions.String(), state,
		orDash(r.Provider), orDash(strings.Join(r.Features, ",")), r.Source.String(),
	}
}
