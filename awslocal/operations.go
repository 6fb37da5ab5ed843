package awslocal

import (
	"github.com/tabard-dev/tabard/awslocal/internal/ec2"
	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/s3"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
)

// Operations are the names of all operations that a Server plays, sorted, by
// service. Services have their names in signature scopes, such as "sts". The
// names come from the tables by which calls are answered.
func Operations() map[string][]string {
	return map[string][]string{
		"ec2":      ec2.Operations(),
		"eks":      eks.Operations(),
		"eks-auth": eks.AuthOperations(),
		"iam":      iam.Operations(),
		"s3":       s3.Operations(),
		"sts":      sts.Operations(),
	}
}
