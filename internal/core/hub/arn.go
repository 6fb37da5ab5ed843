package hub

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// ARN is the ARN of an EKS cluster in its parts. The zero value is none.
type ARN struct {
	// Partition is such as aws or aws-us-gov.
	Partition string
	// Region is such as eu-west-1.
	Region string
	// Account is the ID of the account, 12 digits.
	Account string
	// Name is the cluster's name in EKS.
	Name string
}

// eksARN is a superset of the pattern of Open Cluster Management's CRDs, which know
// the partition aws and names without an underscore only (EKS API: CreateCluster).
var eksARN = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^arn:(aws(?:-[a-z]+)*):eks:([a-zA-Z0-9-]+):([0-9]{12}):cluster/([0-9A-Za-z][A-Za-z0-9_-]{0,99})$`)
})

// ParseARN takes the ARN of an EKS cluster apart. The error says what was seen and what
// is expected.
func ParseARN(text string) (ARN, error) {
	m := eksARN().FindStringSubmatch(text)
	if m == nil {
		return ARN{}, fmt.Errorf("%s is not the ARN of an EKS cluster; it must be arn:PARTITION:eks:REGION:ACCOUNT:cluster/NAME, such as arn:aws:eks:us-west-2:111111111111:cluster/eks-hub", quoted(text))
	}
	return ARN{Partition: m[1], Region: m[2], Account: m[3], Name: m[4]}, nil
}

// IsZero says that it is none.
func (a ARN) IsZero() bool { return a == ARN{} }

// String is the ARN as it is written; empty for none.
func (a ARN) String() string {
	if a.IsZero() {
		return ""
	}
	return identity.ARN{Partition: a.Partition, Service: "eks", Region: a.Region, Account: a.Account, Resource: "cluster/" + a.Name}.String()
}

// RoleARN is the ARN of an IAM role without a path in the cluster's account.
func (a ARN) RoleARN(role string) string { return iamRole(a.Partition, a.Account, role) }

func iamRole(partition, account, role string) string {
	return identity.ARN{Partition: partition, Service: "iam", Account: account, Resource: "role/" + role}.String()
}

// longest is how much of a text of others a message repeats.
const longest = 200

// quoted is a text of others in quotes, cut where it is too long for a message.
func quoted(text string) string {
	if len(text) > longest {
		return fmt.Sprintf("%q and %d more bytes", text[:longest], len(text)-longest)
	}
	return fmt.Sprintf("%q", text)
}
