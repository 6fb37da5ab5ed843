package identity

import "strings"

// Bounds of a role's path and name, in characters, and of an ARN that STS takes (IAM
// API Reference: CreateRole; STS API Reference: AssumeRole).
const (
	maxRolePath = 512
	maxRoleName = 64
	maxRoleARN  = 2048
)

// accountLength is the number of digits of an AWS account.
const accountLength = 12

// RoleARN is the ARN of an IAM role in its parts.
type RoleARN struct {
	// Partition is such as aws or aws-us-gov.
	Partition string
	// Account is the twelve digits of the role's account.
	Account string
	// Path begins and ends with a slash; it is "/" for a role without one.
	Path string
	// Name is the role's own.
	Name string
}

// ParseRoleARN takes the ARN of an IAM role apart. False is any other text, be it
// the ARN of something else. The grammar is IAM's own: a path of any printable ASCII
// characters without blanks, a name of letters, digits and _+=,.@-. A name may be
// longer than IAM's 64 characters: such an ARN stands for a role that nobody can
// make. IsRoleARN leaves it out.
func ParseRoleARN(text string) (RoleARN, bool) {
	arn, _ := ParseARN(text)
	if len(text) > maxRoleARN || arn.Service != "iam" || arn.Region != "" || !strings.HasPrefix(arn.Resource, "role/") {
		return RoleARN{}, false
	}
	path := arn.Resource[len("role"):]
	last := strings.LastIndexByte(path, '/')
	path, name := path[:last+1], path[last+1:]
	fine := strings.HasPrefix(arn.Partition, "aws") && consistsOf(arn.Partition, isPartitionByte) &&
		IsAccountID(arn.Account) &&
		len(path) <= maxRolePath && path != "//" && consistsOf(path, isPathByte) &&
		name != "" && consistsOf(name, isNameByte)
	if !fine {
		return RoleARN{}, false
	}
	return RoleARN{arn.Partition, arn.Account, path, name}, true
}

// IsRoleARN says whether a text is the ARN of an IAM role.
func IsRoleARN(text string) bool {
	role, ok := ParseRoleARN(text)
	return ok && len(role.Name) <= maxRoleName
}

// IsAccountID says whether a text may be the ID of an AWS account.
func IsAccountID(text string) bool { return len(text) == accountLength && consistsOf(text, isDigit) }

func consistsOf(text string, allowed func(byte) bool) bool {
	for i := range len(text) {
		if !allowed(text[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isPartitionByte(c byte) bool { return c == '-' || 'a' <= c && c <= 'z' || isDigit(c) }

func isPathByte(c byte) bool { return '!' <= c && c <= '~' }

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || strings.IndexByte("_+=,.@-", c) >= 0
}
