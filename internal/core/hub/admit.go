package hub

import "fmt"

// AutoAcceptedAnnotation is on a ManagedCluster that was accepted by a program, with the
// time. Such a cluster is not accepted by a program again.
const AutoAcceptedAnnotation = "open-cluster-management.io/automatically-accepted-on"

// Holder says who has a role or an access entry.
type Holder string

const (
	// NotLooked is that it was not looked at, or could not be.
	NotLooked Holder = ""
	// Free is that there is none.
	Free Holder = "Free"
	// Taken is that there is one.
	Taken Holder = "Taken"
)

// Candidate is a ManagedCluster that waits for its acceptance, and what else counts.
type Candidate struct {
	// Name and Annotations are the ManagedCluster's.
	Name        string
	Annotations map[string]string
	// Accepted is its spec.hubAcceptsClient, Deleting that it is being deleted.
	Accepted, Deleting bool
	// Hub is the hub; the zero value if it is not known.
	Hub ARN
	// Patterns are those that an administrator gave; none is that no cluster is accepted.
	Patterns Patterns
	// OCMApproves says that Open Cluster Management's gate ManagedClusterAutoApproval is
	// on: its driver csr accepts everyone then, and a pattern would look like a guard.
	OCMApproves bool
	// CSRsApproved says that certificates which the bootstrap identity asks for are
	// approved by a program: acceptance alone would give whoever has the bootstrap token
	// the rights of an agent.
	CSRsApproved bool
	// Others are all other ManagedClusters with annotations, and all records.
	Others []Other
	// Role and Entry say who has the role of the suffix and its access entry.
	Role, Entry Holder
}

// Other is another ManagedCluster, or what is remembered of one.
type Other struct {
	Name string
	// Suffix and Spoke are what it claims, or has.
	Suffix string
	Spoke  ARN
}

// Admit says whether a cluster is accepted because its ARN matches a pattern, and why or
// why not. The ARN is what the holder of a bootstrap token says, so it proves nothing: the
// trust of the role is what keeps all but the spoke itself out. Whatever is unclear is
// left to an administrator.
func Admit(c Candidate) (accept bool, why string) {
	claim := Classify(c.Annotations)
	switch {
	case c.Patterns.IsEmpty():
		return false, "there are no patterns for ARNs"
	case c.Accepted:
		return false, "it is accepted already"
	case c.Deleting:
		return false, "it is being deleted"
	case c.Annotations[AutoAcceptedAnnotation] != "":
		return false, "it was accepted by a program before, so an administrator has denied it since"
	case c.OCMApproves:
		return false, "the feature gate ManagedClusterAutoApproval is on, which accepts every cluster; switch it off"
	case c.CSRsApproved:
		return false, "certificates for the bootstrap identity are approved automatically; take its user off autoApproveUsers"
	case claim.Class == Foreign:
		return false, "it has no annotations of AWS identity"
	case claim.Class == External:
		return false, "it has no ARN, so no pattern can match it; an administrator accepts it"
	case claim.Class == Malformed:
		return false, claim.Problem
	case !c.Patterns.Match(claim.Spoke):
		return false, "no pattern matches the whole ARN " + claim.Spoke.String()
	}
	if err := claim.Verify(c.Hub, c.Name); err != nil {
		return false, err.Error()
	}
	return isAlone(c, claim)
}

// isAlone refuses a cluster whose suffix, role or access entry another one claims or has.
func isAlone(c Candidate, claim Claim) (alone bool, why string) {
	for _, other := range c.Others {
		if other.Name != c.Name && (other.Spoke == claim.Spoke || other.Suffix == claim.Suffix) {
			return false, fmt.Sprintf("the ManagedCluster %s says or has the same; an administrator decides", other.Name)
		}
	}
	if c.Role != Free || c.Entry != Free {
		return false, fmt.Sprintf("the role %s or its access entry is there already, or could not be looked at; an administrator decides", RoleName(claim.Suffix))
	}
	return true, "its ARN " + claim.Spoke.String() + " matches a pattern"
}
