package credentials

import (
	"cmp"
	"time"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

// AWSBound is what a CredentialsBoundary makes of a request's role.
type AWSBound struct {
	// Boundary is the name of the CredentialsBoundary.
	Boundary string
	// PermissionsBoundary is the ARN of the role's permissions boundary, empty for none.
	PermissionsBoundary string
	// Path is the role's path.
	Path string
	// MaxSession is the role's longest session.
	MaxSession time.Duration
}

// Bound says what the world's request may get, or why nothing.
func Bound(w World) (AWSBound, condition.Verdict) {
	return AWSBound{
		PermissionsBoundary: w.Settings.PermissionsBoundary, Path: cmp.Or(w.Settings.Path, DefaultPath), MaxSession: time.Hour,
	}, condition.Yes(ReasonAccepted, "the request is within its boundary")
}

// boundReasons explain the reasons of Bound.
var boundReasons []condition.Explanation
