package conformance_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

var goIAM = map[string]attempt{
	"a role is written and read": func(t *testing.T, w *world) {
		client := iam.NewFromConfig(w.config(t, nil))
		made := must[*iam.CreateRoleOutput](t)(client.CreateRole(t.Context(), &iam.CreateRoleInput{
			RoleName: aws.String("written"), Path: aws.String("/go/"), AssumeRolePolicyDocument: aws.String(userTrust),
			Description: aws.String("für alle & <jeden>"), MaxSessionDuration: aws.Int32(7200),
			Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("a b+c")}},
		}))
		equal(t, *made.Role.Arn, role("go/written"))
		read := must[*iam.GetRoleOutput](t)(client.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("written")})).Role
		equal(t, must[string](t)(url.QueryUnescape(*read.AssumeRolePolicyDocument)), userTrust)
		equal(t, *read.Description, "für alle & <jeden>")
		equal(t, *read.MaxSessionDuration, 7200)
		equal(t, *read.Tags[0].Value, "a b+c")
		must[*iam.DeleteRoleOutput](t)(client.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("written")}))
	},
	"roles come in pages": func(t *testing.T, w *world) {
		pager := iam.NewListRolesPaginator(iam.NewFromConfig(w.config(t, nil)), &iam.ListRolesInput{PathPrefix: aws.String("/pages/"), MaxItems: aws.Int32(10)})
		var names []string
		pages := 0
		for ; pager.HasMorePages(); pages++ {
			for _, one := range must[*iam.ListRolesOutput](t)(pager.NextPage(t.Context())).Roles {
				names = append(names, *one.RoleName)
			}
		}
		demandPages(t, names, "page-", pages)
	},
	"policies come in pages": func(t *testing.T, w *world) {
		pager := iam.NewListPoliciesPaginator(iam.NewFromConfig(w.config(t, nil)), &iam.ListPoliciesInput{
			PathPrefix: aws.String("/pages/"), Scope: types.PolicyScopeTypeLocal, MaxItems: aws.Int32(10),
		})
		var names []string
		pages := 0
		for ; pager.HasMorePages(); pages++ {
			for _, one := range must[*iam.ListPoliciesOutput](t)(pager.NextPage(t.Context())).Policies {
				names = append(names, *one.PolicyName)
			}
		}
		demandPages(t, names, "page-", pages)
	},
	// The role is made once the waiter has asked for it in vain.
	"a role is waited for": func(t *testing.T, w *world) {
		client := iam.NewFromConfig(w.config(t, nil))
		w.awaiting(t, "GetRole", "NoSuchEntity", func() error {
			waiter := iam.NewRoleExistsWaiter(client, func(o *iam.RoleExistsWaiterOptions) { o.MinDelay, o.MaxDelay = time.Second, time.Second })
			return waiter.Wait(t.Context(), &iam.GetRoleInput{RoleName: aws.String("awaited")}, time.Minute)
		}, func() {
			must[*iam.CreateRoleOutput](t)(client.CreateRole(t.Context(), &iam.CreateRoleInput{
				RoleName: aws.String("awaited"), AssumeRolePolicyDocument: aws.String(userTrust),
			}))
		})
	},
	"a role that is missing is NoSuchEntity": func(t *testing.T, w *world) {
		_, err := iam.NewFromConfig(w.config(t, nil)).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("none")})
		var missing *types.NoSuchEntityException
		if !errors.As(err, &missing) {
			t.Fatalf("the error is %v", err)
		}
		equal(t, missing.ErrorMessage(), "The role with name none cannot be found.")
	},
	"a call without permission is AccessDenied": func(t *testing.T, w *world) {
		_, err := iam.NewFromConfig(w.config(t, nil, of(w.operator(t)))).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("pod")})
		equal(t, refused(t, err, "AccessDenied"), "User: "+session("operator", "go")+" is not authorized to perform: iam:GetRole on resource: "+
			role("pod")+" because no identity-based policy allows the iam:GetRole action")
	},
}

// demandPages demands the 25 names of a list that came in pages of ten.
func demandPages(t *testing.T, names []string, prefix string, pages int) {
	t.Helper()
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprintf("%s%02d", prefix, i))
	}
	if !slices.Equal(names, want) || pages != 3 {
		t.Errorf("%d pages: %s", pages, strings.Join(names, " "))
	}
}

var goEKS = map[string]attempt{
	"a cluster is waited for and described": func(t *testing.T, w *world) {
		client := eks.NewFromConfig(w.config(t, nil))
		input := &eks.DescribeClusterInput{Name: aws.String("cluster-a")}
		answer := must[*eks.DescribeClusterOutput](t)(eks.NewClusterActiveWaiter(client).WaitForOutput(t.Context(), input, time.Minute))
		equal(t, *answer.Cluster.Arn, clusterARN)
		if !strings.HasPrefix(*answer.Cluster.Identity.Oidc.Issuer, "https://") || answer.Cluster.CreatedAt.IsZero() {
			t.Errorf("the cluster is %+v", answer.Cluster)
		}
	},
	"a cluster that is missing is ResourceNotFound": func(t *testing.T, w *world) {
		_, err := eks.NewFromConfig(w.config(t, nil)).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("none")})
		equal(t, refused(t, err, "ResourceNotFoundException"), "No cluster found for name: none.")
	},
	"pod identity associations are listed": func(t *testing.T, w *world) {
		client := eks.NewFromConfig(w.config(t, nil))
		answer := must[*eks.ListPodIdentityAssociationsOutput](t)(client.ListPodIdentityAssociations(t.Context(), &eks.ListPodIdentityAssociationsInput{
			ClusterName: aws.String("cluster-a"),
		}))
		if len(answer.Associations) != 1 || *answer.Associations[0].ServiceAccount != "app" {
			t.Errorf("the associations are %+v", answer.Associations)
		}
	},
}

var goEC2 = map[string]attempt{
	"instance types come in pages": func(t *testing.T, w *world) {
		client := ec2.NewFromConfig(w.config(t, nil))
		pager := ec2.NewDescribeInstanceTypesPaginator(client, &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(100)})
		memory := map[string]int64{}
		pages := 0
		for ; pager.HasMorePages(); pages++ {
			for _, one := range must[*ec2.DescribeInstanceTypesOutput](t)(pager.NextPage(t.Context())).InstanceTypes {
				memory[string(one.InstanceType)] = *one.MemoryInfo.SizeInMiB
			}
		}
		if len(memory) < 600 || pages != (len(memory)+99)/100 || memory["p4d.24xlarge"] != 1179648 {
			t.Errorf("%d pages with %d types; p4d.24xlarge has %d MiB", pages, len(memory), memory["p4d.24xlarge"])
		}
		_, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m5.tiny"}})
		refused(t, err, "InvalidInstanceType")
	},
	"regions are listed": func(t *testing.T, w *world) {
		answer := must[*ec2.DescribeRegionsOutput](t)(ec2.NewFromConfig(w.config(t, nil)).DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{RegionNames: []string{"eu-west-1"}}))
		if len(answer.Regions) != 1 || *answer.Regions[0].Endpoint != "ec2.eu-west-1.amazonaws.com" {
			t.Errorf("the regions are %v", answer.Regions)
		}
	},
}
