package hub

// The annotations of a ManagedCluster by which its agent says who it is. Whoever may
// create a ManagedCluster writes them, so they prove nothing.
const (
	// ARNAnnotation is the ARN of the spoke in EKS.
	ARNAnnotation = "agent.open-cluster-management.io/managed-cluster-arn"
	// SuffixAnnotation is the suffix of the spoke's roles.
	SuffixAnnotation = "agent.open-cluster-management.io/managed-cluster-iam-role-suffix"
)

// Class is the kind of a ManagedCluster, by its annotations.
type Class string

const (
	// Foreign is a cluster that does not join with AWS identity.
	Foreign Class = "Foreign"
	// Managed is a spoke in EKS, which gets a role and an access entry.
	Managed Class = "Managed"
	// External is a spoke that is not in EKS: people make its role.
	External Class = "External"
	// Malformed is a cluster whose annotations cannot be understood.
	Malformed Class = "Malformed"
)

// Claim is what a ManagedCluster says of itself.
type Claim struct {
	// Class is its kind.
	Class Class
	// Suffix is the one that it says it has; of a Managed and an External one.
	Suffix string
	// Spoke is the ARN that it says it has; of a Managed one.
	Spoke ARN
	// Problem says why it is Malformed.
	Problem string
}

// Classify reads the annotations of a ManagedCluster. An empty value is none: agents
// of some versions write empty ones. Making and removing have to go by the same class.
func Classify(annotations map[string]string) Claim {
	arn, suffix := annotations[ARNAnnotation], annotations[SuffixAnnotation]
	malformed := func(problem string) Claim { return Claim{Class: Malformed, Problem: problem} }
	switch {
	case arn == "" && suffix == "":
		return Claim{Class: Foreign}
	case suffix == "":
		return malformed("there is the annotation " + ARNAnnotation + " without " + SuffixAnnotation)
	case !IsSuffix(suffix):
		return malformed("the annotation " + SuffixAnnotation + " is " + quoted(suffix) + ", and must be 32 of the characters 0-9 and a-f")
	case arn == "":
		return Claim{Class: External, Suffix: suffix}
	}
	spoke, err := ParseARN(arn)
	if err != nil {
		return malformed("the annotation " + ARNAnnotation + ": " + err.Error())
	}
	return Claim{Class: Managed, Suffix: suffix, Spoke: spoke}
}

// Verify says whether a claim is one that an agent makes that joined this hub under
// the name; nil if so. It has to be Managed or External.
func (c Claim) Verify(hub ARN, cluster string) error {
	want, err := Suffix(hub, c.Spoke, cluster)
	switch {
	case err != nil:
		return err
	case !c.Spoke.IsZero() && c.Spoke.Partition != hub.Partition:
		return &MismatchError{text: "the hub is in the AWS partition " + hub.Partition + ", and the spoke says that it is in " + c.Spoke.Partition + "; roles of one partition cannot become roles of another"}
	case want != c.Suffix:
		return &MismatchError{text: "the annotation " + SuffixAnnotation + " is " + c.Suffix + ", and must be " + want + " for a spoke of the hub " + hub.String() +
			"; the agent was joined with another ARN of the hub or of itself"}
	}
	return nil
}

// MismatchError is a claim that does not belong to the hub.
type MismatchError struct{ text string }

// Error says what was seen and what is expected.
func (e *MismatchError) Error() string { return e.text }
