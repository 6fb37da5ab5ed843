package roleselector

import (
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// RoleARN is the ARN of an IAM role in its parts.
type RoleARN struct {
	// Partition is such as aws or aws-us-gov.
	Partition string
	// Account is the twelve digits of the role's account.
	Account string
	// Role is the role's path and name, without the first slash.
	Role string
}

// ParseRoleARN takes the ARN of an IAM role apart. False is any other text, be
// it the ARN of something else. A role whose name is too long for IAM is one: nobody
// can make it, and a selector names it to keep everybody from any other.
func ParseRoleARN(text string) (RoleARN, bool) {
	role, ok := identity.ParseRoleARN(text)
	if !ok {
		return RoleARN{}, false
	}
	return RoleARN{Partition: role.Partition, Account: role.Account, Role: strings.TrimPrefix(role.Path, "/") + role.Name}, true
}
