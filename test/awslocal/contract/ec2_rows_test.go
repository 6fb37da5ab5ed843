package contract_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var ec2Rows = []row{{
	// Pages have at least five items.
	operation: "DescribeInstanceTypes",
	call: func(w *world) error {
		return errorOf(w.ec2.DescribeInstanceTypes(w.ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{types.InstanceType(w.instanceType)}}))
	},
	lose:  func(w *world) error { w.instanceType = "x0.none"; return nil },
	lost:  "InvalidInstanceType",
	shows: []string{"t4g.nano", "t4g.micro", "t4g.small", "t4g.medium", "t4g.large", "t4g.xlarge", "t4g.2xlarge"},
	pages: func(w *world) ([]string, error) {
		in := &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(5), Filters: []types.Filter{{Name: aws.String("instance-type"), Values: []string{"t4g.*"}}}}
		return shown(w, ec2.NewDescribeInstanceTypesPaginator(w.ec2, in), func(p *ec2.DescribeInstanceTypesOutput) []string {
			return texts(p.InstanceTypes, func(i types.InstanceTypeInfo) *string { return (*string)(&i.InstanceType) })
		})
	},
}, {
	operation: "DescribeRegions",
	call: func(w *world) error {
		return errorOf(w.ec2.DescribeRegions(w.ctx, &ec2.DescribeRegionsInput{RegionNames: []string{w.wantedRegion}}))
	},
	lose: func(w *world) error { w.wantedRegion = "eu-nowhere-1"; return nil },
	lost: "InvalidParameterValue",
}}

// TestRowsOfEC2NeedAnEnabledRegion has the caller's account disable a region, and
// enable it again.
func TestRowsOfEC2NeedAnEnabledRegion(t *testing.T) {
	s := newSuite(t)
	for _, r := range ec2Rows {
		r.service = "ec2"
		t.Run(r.operation, func(t *testing.T) {
			const optIn = "af-south-1"
			w := s.ready(t, r)
			caller := w.caller
			w.ec2 = ec2.New(w.ec2.Options(), func(o *ec2.Options) { o.Region = optIn })
			w.wantedRegion = optIn
			w.expect(r, r.call(w), "")
			must.Do(t, w.server.Admin().DisableRegion(account, optIn))
			// Whose key it is that the region does not know is not known either.
			w.caller = "anonymous"
			w.expect(r, r.call(w), "AuthFailure")
			must.Do(t, w.server.Admin().EnableRegion(account, optIn))
			w.caller = caller
			w.expect(r, r.call(w), "")
		})
	}
}
