package carm

import (
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// blockedRole is the name of a role that cannot exist: IAM's names have at most
// 64 characters (IAM API Reference: CreateRole), so that nobody can make it and
// have it assumed.
const blockedRole = "carm-gave-no-role-here-so-that-this-one-stands-for-none-and-cannot-exist"

// BlockerARN is a role that can never be assumed. A selector with it keeps an ACK
// controller from falling back to the identity that it runs as.
func BlockerARN(partition, account string) string {
	return identity.ARN{Partition: partition, Service: "iam", Account: account, Resource: "role/" + blockedRole}.String()
}

// IsBlocker says whether an ARN is one of BlockerARN's.
func IsBlocker(arn string) bool { return strings.HasSuffix(arn, ":role/"+blockedRole) }

// accountOf is the account in an ARN; empty if it has none.
func accountOf(arn string) string {
	found, _ := identity.ParseARN(arn)
	return found.Account
}
