package awslocaleks_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/tabard-dev/tabard/awslocal"
)

func TestListsComeInPages(t *testing.T) {
	l, _ := furnished(t)
	ctx, client := t.Context(), l.eks()
	for _, name := range []string{"b", "c", "d"} {
		l.register(awslocal.Cluster{Account: ours, Name: name, Issuer: issuer + name, JWKS: keySet(t, l.key)})
		role := l.role(ours, name, podTrust, "")
		_, err := client.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role})
		_, other := client.CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{ClusterName: aws.String(cluster), Namespace: &name, ServiceAccount: aws.String("app"), RoleArn: &role})
		_, third := client.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole),
			PolicyArn: aws.String(viewPolicy[:len(viewPolicy)-len("ViewPolicy")] + map[string]string{"b": "EditPolicy", "c": "AdminPolicy", "d": "ClusterAdminPolicy"}[name]), AccessScope: &types.AccessScope{Type: "cluster"}})
		if err := errors.Join(err, other, third); err != nil {
			t.Fatal(err)
		}
	}
	three := aws.Int32(3)
	pages := map[string]func() ([]int, []string, error){
		"clusters": func() (sizes []int, all []string, err error) {
			for p := eks.NewListClustersPaginator(client, &eks.ListClustersInput{MaxResults: three}); p.HasMorePages() && err == nil; {
				var out *eks.ListClustersOutput
				if out, err = p.NextPage(ctx); err == nil {
					sizes, all = append(sizes, len(out.Clusters)), append(all, out.Clusters...)
				}
			}
			return sizes, all, err
		},
		"entries": func() (sizes []int, all []string, err error) {
			for p := eks.NewListAccessEntriesPaginator(client, &eks.ListAccessEntriesInput{ClusterName: aws.String(cluster), MaxResults: three}); p.HasMorePages() && err == nil; {
				var out *eks.ListAccessEntriesOutput
				if out, err = p.NextPage(ctx); err == nil {
					sizes, all = append(sizes, len(out.AccessEntries)), append(all, out.AccessEntries...)
				}
			}
			return sizes, all, err
		},
		"associations": func() (sizes []int, all []string, err error) {
			for p := eks.NewListPodIdentityAssociationsPaginator(client, &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(cluster), MaxResults: three}); p.HasMorePages() && err == nil; {
				var out *eks.ListPodIdentityAssociationsOutput
				if out, err = p.NextPage(ctx); err == nil {
					sizes = append(sizes, len(out.Associations))
					for _, one := range out.Associations {
						all = append(all, *one.AssociationId)
					}
				}
			}
			return sizes, all, err
		},
		"associated policies": func() (sizes []int, all []string, err error) {
			for p := eks.NewListAssociatedAccessPoliciesPaginator(client, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole), MaxResults: three}); p.HasMorePages() && err == nil; {
				var out *eks.ListAssociatedAccessPoliciesOutput
				if out, err = p.NextPage(ctx); err == nil {
					sizes = append(sizes, len(out.AssociatedAccessPolicies))
					for _, one := range out.AssociatedAccessPolicies {
						all = append(all, *one.PolicyArn)
					}
				}
			}
			return sizes, all, err
		},
	}
	for name, list := range pages {
		sizes, all, err := list()
		if err != nil || !slices.Equal(sizes, []int{3, 1}) || !slices.IsSorted(all) || len(slices.Compact(all)) != 4 {
			t.Errorf("%s come in pages of %v: %v, %v", name, sizes, all, err)
		}
	}
	out, err := client.ListAccessPolicies(ctx, &eks.ListAccessPoliciesInput{MaxResults: aws.Int32(2)})
	if err != nil || len(out.AccessPolicies) != 2 || out.NextToken == nil {
		t.Errorf("access policies: %+v, %v", out, err)
	}
	for want, in := range map[string]*eks.ListClustersInput{
		`InvalidParameterException: The value "101" of maxResults is not a number from 1 to 100.`:        {MaxResults: aws.Int32(101)},
		"InvalidParameterException: The value of nextToken is not one that a list has answered.":         {NextToken: aws.String("~")},
		`InvalidParameterException: The only value of the parameter include is "all", it is "external".`: {Include: []string{"external"}},
	} {
		if got := refusal(second(client.ListClusters(ctx, in))); got != want {
			t.Errorf("refused with %q, want %q", got, want)
		}
	}
}
