package roleselector

import (
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// maxARN is the longest ARN that STS takes (AWS STS API Reference: AssumeRole,
// RoleArn).
const maxARN = 2048

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
// it the ARN of something else.
func ParseRoleARN(text string) (RoleARN, bool) {
	if len(text) > maxARN || !identity.IsRoleARN(text) {
		return RoleARN{}, false
	}
	parts := strings.SplitN(text, ":", 6)
	return RoleARN{Partition: parts[1], Account: parts[4], Role: strings.TrimPrefix(parts[5], "role/")}, true
}
