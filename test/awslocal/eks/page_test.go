package eks_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

func TestListsComeInPages(t *testing.T) {
	l, _ := furnished(t)
	ctx, client := t.Context(), l.eks()
	for _, name := range []string{"b", "c", "d"} {
		l.register(awslocal.Cluster{Account: ours, Name: name, Issuer: issuer + name, JWKS: keySet(t, l.key)})
		role := l.Role(ours, name, podTrust, "")
		l.Must(client.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role}))
		l.Must(client.CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{
			ClusterName: aws.String(cluster), Namespace: &name, ServiceAccount: aws.String("app"), RoleArn: &role,
		}))
		l.Must(client.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole),
			PolicyArn: aws.String(viewPolicy[:len(viewPolicy)-len("ViewPolicy")] + map[string]string{"b": "EditPolicy", "c": "AdminPolicy", "d": "ClusterAdminPolicy"}[name]), AccessScope: &types.AccessScope{Type: "cluster"}}))
	}
	three := aws.Int32(3)
	ofLab := aws.String(cluster)
	lists := map[string]func() ([][]string, error){
		"clusters": func() ([][]string, error) {
			p := eks.NewListClustersPaginator(client, &eks.ListClustersInput{MaxResults: three})
			return awstest.Pages(ctx, p, func(o *eks.ListClustersOutput) []string { return o.Clusters })
		},
		"entries": func() ([][]string, error) {
			p := eks.NewListAccessEntriesPaginator(client, &eks.ListAccessEntriesInput{ClusterName: ofLab, MaxResults: three})
			return awstest.Pages(ctx, p, func(o *eks.ListAccessEntriesOutput) []string { return o.AccessEntries })
		},
		"associations": func() ([][]string, error) {
			p := eks.NewListPodIdentityAssociationsPaginator(client, &eks.ListPodIdentityAssociationsInput{ClusterName: ofLab, MaxResults: three})
			return awstest.Pages(ctx, p, func(o *eks.ListPodIdentityAssociationsOutput) []string {
				return awstest.Each(o.Associations, func(a types.PodIdentityAssociationSummary) *string { return a.AssociationId })
			})
		},
		"associated policies": func() ([][]string, error) {
			p := eks.NewListAssociatedAccessPoliciesPaginator(client, &eks.ListAssociatedAccessPoliciesInput{
				ClusterName: ofLab, PrincipalArn: aws.String(appRole), MaxResults: three,
			})
			return awstest.Pages(ctx, p, func(o *eks.ListAssociatedAccessPoliciesOutput) []string {
				return awstest.Each(o.AssociatedAccessPolicies, func(a types.AssociatedAccessPolicy) *string { return a.PolicyArn })
			})
		},
	}
	for name, list := range lists {
		pages, err := list()
		all := slices.Concat(pages...)
		if err != nil || len(pages) != 2 || len(pages[0]) != 3 || len(pages[1]) != 1 || !slices.IsSorted(all) || len(slices.Compact(all)) != 4 {
			t.Errorf("%s come in pages %v: %v", name, pages, err)
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
		if got := awstest.Refusal(client.ListClusters(ctx, in)); got != want {
			t.Errorf("refused with %q, want %q", got, want)
		}
	}
}
