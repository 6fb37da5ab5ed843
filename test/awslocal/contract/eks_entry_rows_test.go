package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// entryRows are about access entries of users; the cluster has its maker's too.
var entryRows = []row{{
	operation: "CreateAccessEntry",
	needs:     []string{"CreateCluster", "iam/CreateUser"},
	call: func(w *world) error {
		return errorOf(w.eks.CreateAccessEntry(w.ctx, &eks.CreateAccessEntryInput{ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user))}))
	},
	absent: "ResourceNotFoundException",
	except: map[string]string{"iam/CreateUser": "InvalidParameterException"},
	again:  "ResourceInUseException",
}, {
	operation: "DescribeAccessEntry",
	needs:     []string{"CreateAccessEntry"},
	call: func(w *world) error {
		return errorOf(w.eks.DescribeAccessEntry(w.ctx, &eks.DescribeAccessEntryInput{ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user))}))
	},
	absent: "ResourceNotFoundException",
}, {
	operation: "UpdateAccessEntry",
	needs:     []string{"CreateAccessEntry"},
	call: func(w *world) error {
		return errorOf(w.eks.UpdateAccessEntry(w.ctx, &eks.UpdateAccessEntryInput{
			ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user)), KubernetesGroups: []string{"viewers"},
		}))
	},
	absent: "ResourceNotFoundException",
}, {
	operation: "ListAccessEntries",
	needs:     []string{"CreateCluster"},
	call: func(w *world) error {
		return errorOf(w.eks.ListAccessEntries(w.ctx, &eks.ListAccessEntriesInput{ClusterName: &w.cluster}))
	},
	absent: "ResourceNotFoundException",
	fill: func(w *world, name string) error {
		w.user = name
		w.made = append(w.made, userARN(name))
		return w.run("iam/CreateUser", "eks/CreateAccessEntry")
	},
	pages: func(w *world) ([]string, error) {
		in := &eks.ListAccessEntriesInput{ClusterName: &w.cluster, MaxResults: pageOf}
		return shown(w, eks.NewListAccessEntriesPaginator(w.eks, in), func(p *eks.ListAccessEntriesOutput) []string { return p.AccessEntries })
	},
}, {
	operation: "DeleteAccessEntry",
	needs:     []string{"CreateAccessEntry"},
	call: func(w *world) error {
		return errorOf(w.eks.DeleteAccessEntry(w.ctx, &eks.DeleteAccessEntryInput{ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user))}))
	},
	absent: "ResourceNotFoundException",
	again:  "ResourceNotFoundException",
}, {
	operation: "ListAccessPolicies",
	call: func(w *world) error {
		return errorOf(w.eks.ListAccessPolicies(w.ctx, &eks.ListAccessPoliciesInput{}))
	},
	shows: []string{"AmazonEKSAdminPolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy"},
	pages: func(w *world) ([]string, error) {
		in := &eks.ListAccessPoliciesInput{MaxResults: aws.Int32(5)}
		return shown(w, eks.NewListAccessPoliciesPaginator(w.eks, in), func(p *eks.ListAccessPoliciesOutput) []string {
			return texts(p.AccessPolicies, func(one types.AccessPolicy) *string { return one.Name })
		})
	},
}, {
	// Made again it changes the scope.
	operation: "AssociateAccessPolicy",
	needs:     []string{"CreateAccessEntry"},
	call: func(w *world) error {
		return errorOf(w.eks.AssociateAccessPolicy(w.ctx, &eks.AssociateAccessPolicyInput{
			ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user)), PolicyArn: &w.accessPolicy,
			AccessScope: &types.AccessScope{Type: types.AccessScopeTypeCluster},
		}))
	},
	absent: "ResourceNotFoundException",
	lose:   func(w *world) error { w.accessPolicy = accessPolicyARN("NoSuchPolicy"); return nil },
	lost:   "InvalidParameterException",
}, {
	operation: "ListAssociatedAccessPolicies",
	needs:     []string{"CreateAccessEntry"},
	call: func(w *world) error {
		return errorOf(w.eks.ListAssociatedAccessPolicies(w.ctx, &eks.ListAssociatedAccessPoliciesInput{ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user))}))
	},
	absent: "ResourceNotFoundException",
	fill: func(w *world, _ string) error {
		w.accessPolicy = accessPolicyARN([]string{"AmazonEKSAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy"}[len(w.made)])
		w.made = append(w.made, w.accessPolicy)
		return w.run("eks/AssociateAccessPolicy")
	},
	pages: func(w *world) ([]string, error) {
		in := &eks.ListAssociatedAccessPoliciesInput{ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user)), MaxResults: pageOf}
		return shown(w, eks.NewListAssociatedAccessPoliciesPaginator(w.eks, in), func(p *eks.ListAssociatedAccessPoliciesOutput) []string {
			return texts(p.AssociatedAccessPolicies, func(one types.AssociatedAccessPolicy) *string { return one.PolicyArn })
		})
	},
}, {
	operation: "DisassociateAccessPolicy",
	needs:     []string{"AssociateAccessPolicy"},
	call: func(w *world) error {
		return errorOf(w.eks.DisassociateAccessPolicy(w.ctx, &eks.DisassociateAccessPolicyInput{
			ClusterName: &w.cluster, PrincipalArn: aws.String(userARN(w.user)), PolicyArn: &w.accessPolicy,
		}))
	},
	absent: "ResourceNotFoundException",
	again:  "ResourceNotFoundException",
}}
