package installing

import (
	"context"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/olm"
)

// Code says why something is refused, for who adds how a person goes on.
type Code string

// The codes.
const (
	// NotTokenMode is a role for a cluster that gives no tokens, or of which that is unknown. Force goes on.
	NotTokenMode Code = "NotTokenMode"
	// OtherCloud is a role of another cloud than the cluster's. Force goes on.
	OtherCloud Code = "OtherCloud"
	// NotSupported is a role for an operator that does not say that it takes tokens of the cloud. Force
	// goes on.
	NotSupported Code = "NotSupported"
	// NoMetadata is a role for an operator of which the catalogue does not tell. Force goes on.
	NoMetadata Code = "NoMetadata"
	// RoleMissing is an operator that takes a role by tokens, and gets none. WithoutRole goes on.
	RoleMissing Code = "RoleMissing"
	// NotOfCatalogSource is a package that OLM v0 cannot install from where it was read.
	NotOfCatalogSource Code = "NotOfCatalogSource"
	// NoNamespace is an install of which nobody says where it shall be.
	NoNamespace Code = "NoNamespace"
	// NoChannel is a version in several channels, or in none of those that were asked for.
	NoChannel Code = "NoChannel"
	// RoleNotEnough is a role that lacks what the operator asks for. Acceptance of its digest goes on.
	RoleNotEnough Code = "RoleNotEnough"
	// RoleUnknown is a role of which it is unknown whether it is enough. Acceptance goes on.
	RoleUnknown Code = "RoleUnknown"
	// NoSubscription is a name of which there is neither a Subscription nor an InstallPlan.
	NoSubscription Code = "NoSubscription"
	// NothingWaits is a Subscription for which no InstallPlan waits for an approval.
	NothingWaits Code = "NothingWaits"
)

// Refusal is something that is not done. Its text does not say how a person goes on: that differs
// between a command line and a browser.
type Refusal struct {
	Code Code
	Text string
}

// Error is the text.
func (r *Refusal) Error() string { return r.Text }

func refuse(code Code, format string, args ...any) error {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// Unpermitted is something that is not done since the person may not do it.
type Unpermitted struct{ Rights []olm.Right }

// Error names the rights, each with the command that makes a role with it.
func (u *Unpermitted) Error() string {
	var text strings.Builder
	text.WriteString("nothing was written, because you may not:")
	for _, right := range u.Rights {
		fmt.Fprintf(&text, "\n  %s; a role with it: %s", right, right.Grant())
	}
	return text.String()
}

// permitted refuses if a right is missing, before anything is written: an install that fails halfway
// leaves objects behind.
func permitted(ctx context.Context, client olm.Client, rights ...olm.Right) error {
	missing, err := client.Lacks(ctx, rights...)
	if err == nil && len(missing) > 0 {
		err = &Unpermitted{missing}
	}
	return err
}
