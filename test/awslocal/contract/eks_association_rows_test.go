package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

var associationRows = []row{{
	// A role that is not there is a wrong parameter.
	operation: "CreatePodIdentityAssociation",
	needs:     []string{"CreateCluster"},
	call: func(w *world) error {
		made, err := w.eks.CreatePodIdentityAssociation(w.ctx, &eks.CreatePodIdentityAssociationInput{
			ClusterName: &w.cluster, Namespace: &w.namespace, ServiceAccount: &w.serviceAccount, RoleArn: aws.String(w.roleARN()),
		})
		if err == nil {
			w.association = *made.Association.AssociationId
		}
		return err
	},
	absent: "ResourceNotFoundException",
	lose:   func(w *world) error { return w.run("iam/DeleteRole") },
	lost:   "InvalidParameterException",
	again:  "ResourceInUseException",
}, {
	operation: "DescribePodIdentityAssociation",
	needs:     []string{"CreatePodIdentityAssociation"},
	call: func(w *world) error {
		return errorOf(w.eks.DescribePodIdentityAssociation(w.ctx, &eks.DescribePodIdentityAssociationInput{ClusterName: &w.cluster, AssociationId: &w.association}))
	},
	absent: "ResourceNotFoundException",
}, {
	operation: "UpdatePodIdentityAssociation",
	needs:     []string{"CreatePodIdentityAssociation"},
	call: func(w *world) error {
		return errorOf(w.eks.UpdatePodIdentityAssociation(w.ctx, &eks.UpdatePodIdentityAssociationInput{
			ClusterName: &w.cluster, AssociationId: &w.association, RoleArn: aws.String(w.roleARN()),
		}))
	},
	absent: "ResourceNotFoundException",
	lose:   func(w *world) error { return w.run("iam/DeleteRole") },
	lost:   "InvalidParameterException",
}, {
	operation: "ListPodIdentityAssociations",
	needs:     []string{"CreateCluster"},
	call: func(w *world) error {
		return errorOf(w.eks.ListPodIdentityAssociations(w.ctx, &eks.ListPodIdentityAssociationsInput{ClusterName: &w.cluster}))
	},
	absent: "ResourceNotFoundException",
	fill: func(w *world, name string) error {
		w.serviceAccount = name
		return w.run("eks/CreatePodIdentityAssociation")
	},
	pages: func(w *world) ([]string, error) {
		in := &eks.ListPodIdentityAssociationsInput{ClusterName: &w.cluster, MaxResults: pageOf}
		return shown(w, eks.NewListPodIdentityAssociationsPaginator(w.eks, in), func(p *eks.ListPodIdentityAssociationsOutput) []string {
			return texts(p.Associations, func(one types.PodIdentityAssociationSummary) *string { return one.ServiceAccount })
		})
	},
}, {
	operation: "DeletePodIdentityAssociation",
	needs:     []string{"CreatePodIdentityAssociation"},
	call: func(w *world) error {
		return errorOf(w.eks.DeletePodIdentityAssociation(w.ctx, &eks.DeletePodIdentityAssociationInput{ClusterName: &w.cluster, AssociationId: &w.association}))
	},
	absent: "ResourceNotFoundException",
	again:  "ResourceNotFoundException",
}}
