package instancetype

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// client is what of EC2 is called.
type client interface {
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error)
	DescribeRegions(context.Context, *ec2.DescribeRegionsInput, ...func(*ec2.Options)) (*ec2.DescribeRegionsOutput, error)
}

var _ client = (*ec2.Client)(nil)
