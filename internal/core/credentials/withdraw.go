package credentials

import (
	"fmt"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// withdraw takes the inline policy from the role of a request that gets nothing new, if the
// policy reaches what is protected and the role's permissions boundary does not deny that in
// AWS, or no longer does. The verdict is True where the role has lost its policy so. A boundary
// that cannot be read decides nothing: workloads use the role.
func withdraw(w World) found {
	role := grantedRole(w)
	if role == nil || role.AccountID != w.Account {
		return found{}
	}
	arn := boundOf(w, role)
	boundary, v := boundaryInAWS(w, arn)
	if !v.IsTrue() {
		return found{}
	}
	protected := w.Protected.all(partition(w))
	if name, _ := protected.reached(anything(), boundary); name == "" || w.Role.Fault != nil {
		return found{}
	}
	if !w.Role.Live {
		return found{live: true}
	}
	if !ownsRole(w) {
		return found{}
	}
	document, has := w.Role.Role.Policies[role.PolicyName]
	lost := found{verdict: condition.Yes(ReasonReachesProtected, "the role %s has no policy any more, because the permissions boundary %s does not keep it from what no request may reach", role.ARN, arn)}
	if !has {
		return lost
	}
	policy, err := iampolicy.Parse([]byte(document))
	if err != nil {
		return found{} // what is no policy allows nothing
	}
	name, why := protected.reached(policy, boundary)
	if name == "" {
		return found{}
	}
	lost.steps = []Step{RemovePolicy{role.Name, Owner(w.Grant.Spec.Request), role.PolicyName}}
	lost.events = []Event{{Warning: true, Reason: "PolicyWithdrawn", Text: fmt.Sprintf("the policy of the role %s is taken away: by it %s can be reached (%s), which the permissions boundary %s does not deny in AWS", role.ARN, name, why, arn)}}
	return lost
}
