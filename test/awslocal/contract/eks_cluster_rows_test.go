package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/tabard-dev/tabard/awslocal"
)

var clusterRows = []row{{
	// Once it is there it is registered, so that the tokens of its pods are those of
	// the issuer.
	operation: "CreateCluster",
	needs:     []string{"iam/CreateRole"},
	call: func(w *world) error {
		_, err := w.eks.CreateCluster(w.ctx, &eks.CreateClusterInput{
			Name: &w.cluster, RoleArn: aws.String(w.roleARN()), ResourcesVpcConfig: &types.VpcConfigRequest{},
			AccessConfig: &types.CreateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeApi},
		})
		if err != nil {
			return err
		}
		return w.server.Admin().AddCluster(awslocal.Cluster{Name: w.cluster, Issuer: w.issuer.Issuer.Issuer()})
	},
	absent: "InvalidParameterException",
	again:  "ResourceInUseException",
}, {
	operation: "DescribeCluster",
	needs:     []string{"CreateCluster"},
	call: func(w *world) error {
		return errorOf(w.eks.DescribeCluster(w.ctx, &eks.DescribeClusterInput{Name: &w.cluster}))
	},
	absent: "ResourceNotFoundException",
}, {
	operation: "ListClusters",
	needs:     []string{"iam/CreateRole"},
	call:      func(w *world) error { return errorOf(w.eks.ListClusters(w.ctx, &eks.ListClustersInput{})) },
	fill:      func(w *world, name string) error { w.cluster = name; return w.run("eks/CreateCluster") },
	pages: func(w *world) ([]string, error) {
		return shown(w, eks.NewListClustersPaginator(w.eks, &eks.ListClustersInput{MaxResults: pageOf}), func(p *eks.ListClustersOutput) []string {
			return p.Clusters
		})
	},
}, {
	operation: "DeleteCluster",
	needs:     []string{"CreateCluster"},
	call: func(w *world) error {
		return errorOf(w.eks.DeleteCluster(w.ctx, &eks.DeleteClusterInput{Name: &w.cluster}))
	},
	absent: "ResourceNotFoundException",
	again:  "ResourceNotFoundException",
}}

// eksTagRows are the operations on tags of any kind of resource, asked for a
// cluster's.
var eksTagRows = []row{{
	operation: "TagResource",
	needs:     []string{"CreateCluster"},
	call: func(w *world) error {
		return errorOf(w.eks.TagResource(w.ctx, &eks.TagResourceInput{ResourceArn: aws.String(w.clusterARN()), Tags: map[string]string{w.tag: "a"}}))
	},
	absent: "NotFoundException",
}, {
	operation: "ListTagsForResource",
	needs:     []string{"CreateCluster"},
	call: func(w *world) error {
		return errorOf(w.eks.ListTagsForResource(w.ctx, &eks.ListTagsForResourceInput{ResourceArn: aws.String(w.clusterARN())}))
	},
	absent: "NotFoundException",
	whole:  "AWS does not page it",
}, {
	operation: "UntagResource",
	needs:     []string{"TagResource"},
	call: func(w *world) error {
		return errorOf(w.eks.UntagResource(w.ctx, &eks.UntagResourceInput{ResourceArn: aws.String(w.clusterARN()), TagKeys: []string{w.tag}}))
	},
	except: map[string]string{"CreateCluster": "NotFoundException", "iam/CreateRole": "NotFoundException"},
}}
