package installing

import (
	"slices"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// What a person accepts: AcceptMissing with a digest is a role that is not enough for what has this
// digest, and AcceptUnknown one of which it is unknown. A digest binds the acceptance to what was shown.
const (
	AcceptMissing = "missing="
	AcceptUnknown = "unknown"
)

// Gate lets a verdict about what has a digest pass if it may, or if a person accepts it. What passes is
// written on the plan: it is Overridden where a person accepted the risk. What does not is a *Refusal,
// of RoleNotEnough or RoleUnknown.
func Gate(verdict operator.Verdict, digest string, accepted []string) (operator.Verdict, error) {
	switch {
	case verdict.MayPass():
		return verdict, nil
	case verdict == operator.VerdictUnknown && slices.Contains(accepted, AcceptUnknown),
		verdict == operator.VerdictMissing && digest != "" && slices.Contains(accepted, AcceptMissing+digest):
		return operator.VerdictOverridden, nil
	case verdict == operator.VerdictUnknown:
		return verdict, refuse(RoleUnknown, "it is unknown whether the role is enough")
	}
	return verdict, refuse(RoleNotEnough, "the role is not enough")
}
