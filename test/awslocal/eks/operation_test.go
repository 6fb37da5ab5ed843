package eks_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	clusterTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	viewPolicy   = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
	editPolicy   = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
	appRole      = "arn:aws:iam::" + ours + ":role/app"
	controlRole  = "arn:aws:iam::" + ours + ":role/control"
)

// things are what the operations work on.
type things struct{ entryARN, associationID, associationARN string }

// furnished is a lab with an access entry, an access policy and an association.
func furnished(t *testing.T) (*lab, things) {
	l := newLab(t)
	l.Role(ours, "app", podTrust, "")
	l.Role(ours, "control", clusterTrust, "")
	id := l.associate(appRole)
	entry := must.Get(l.eks().CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole)}))(t)
	l.Must(l.eks().AssociateAccessPolicy(t.Context(), &eks.AssociateAccessPolicyInput{
		ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole), PolicyArn: aws.String(viewPolicy), AccessScope: &types.AccessScope{Type: types.AccessScopeTypeCluster},
	}))
	return l, things{*entry.AccessEntry.AccessEntryArn, id, "arn:aws:eks:" + region + ":" + ours + ":podidentityassociation/lab/" + id}
}

// operation is one operation of EKS with good parameters.
type operation struct {
	// resource is what a policy has to allow it on.
	resource func(things) string
	// passes is the role that it passes, empty for none.
	passes string
	call   func(ctx context.Context, c *eks.Client, cluster string, x things) error
	// absent is the refusal where the cluster does not exist; empty for
	// operations that need none.
	absent string
}

func ofCluster(things) string       { return clusterARN }
func ofAll(things) string           { return "*" }
func ofEntry(x things) string       { return x.entryARN }
func ofAssociation(x things) string { return x.associationARN }
func ofNewCluster(things) string    { return strings.TrimSuffix(clusterARN, "lab") + "new" }

const noCluster = "ResourceNotFoundException: No cluster found for name: none."

var operations = map[string]operation{
	"ListClusters": {ofAll, "", func(ctx context.Context, c *eks.Client, _ string, _ things) error {
		return awstest.Err(c.ListClusters(ctx, &eks.ListClustersInput{}))
	}, ""},
	"CreateCluster": {ofNewCluster, controlRole, func(ctx context.Context, c *eks.Client, _ string, _ things) error {
		return awstest.Err(c.CreateCluster(ctx, &eks.CreateClusterInput{
			Name: aws.String("new"), RoleArn: aws.String(controlRole), ResourcesVpcConfig: &types.VpcConfigRequest{},
		}))
	}, ""},
	"DescribeCluster": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name}))
	}, noCluster},
	"DeleteCluster": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.DeleteCluster(ctx, &eks.DeleteClusterInput{Name: &name}))
	}, noCluster},
	"CreateAccessEntry": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: &name, PrincipalArn: aws.String(controlRole)}))
	}, noCluster},
	"DescribeAccessEntry": {ofEntry, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: &name, PrincipalArn: aws.String(appRole)}))
	}, noCluster},
	"UpdateAccessEntry": {ofEntry, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{
			ClusterName: &name, PrincipalArn: aws.String(appRole), KubernetesGroups: []string{"a"},
		}))
	}, noCluster},
	"DeleteAccessEntry": {ofEntry, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: &name, PrincipalArn: aws.String(appRole)}))
	}, noCluster},
	"ListAccessEntries": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.ListAccessEntries(ctx, &eks.ListAccessEntriesInput{ClusterName: &name}))
	}, noCluster},
	"ListAccessPolicies": {ofAll, "", func(ctx context.Context, c *eks.Client, _ string, _ things) error {
		return awstest.Err(c.ListAccessPolicies(ctx, &eks.ListAccessPoliciesInput{}))
	}, ""},
	"AssociateAccessPolicy": {ofEntry, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{ClusterName: &name, PrincipalArn: aws.String(appRole), PolicyArn: aws.String(editPolicy),
			AccessScope: &types.AccessScope{Type: types.AccessScopeTypeNamespace, Namespaces: []string{"team-a"}}}))
	}, noCluster},
	"DisassociateAccessPolicy": {ofEntry, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.DisassociateAccessPolicy(ctx, &eks.DisassociateAccessPolicyInput{
			ClusterName: &name, PrincipalArn: aws.String(appRole), PolicyArn: aws.String(viewPolicy),
		}))
	}, noCluster},
	"ListAssociatedAccessPolicies": {ofEntry, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.ListAssociatedAccessPolicies(ctx, &eks.ListAssociatedAccessPoliciesInput{
			ClusterName: &name, PrincipalArn: aws.String(appRole),
		}))
	}, noCluster},
	"CreatePodIdentityAssociation": {ofCluster, appRole, func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{
			ClusterName: &name, Namespace: aws.String("n"), ServiceAccount: aws.String("s"), RoleArn: aws.String(appRole),
		}))
	}, noCluster},
	"DescribePodIdentityAssociation": {ofAssociation, "", func(ctx context.Context, c *eks.Client, name string, x things) error {
		return awstest.Err(c.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{
			ClusterName: &name, AssociationId: &x.associationID,
		}))
	}, noCluster},
	"UpdatePodIdentityAssociation": {ofAssociation, appRole, func(ctx context.Context, c *eks.Client, name string, x things) error {
		return awstest.Err(c.UpdatePodIdentityAssociation(ctx, &eks.UpdatePodIdentityAssociationInput{
			ClusterName: &name, AssociationId: &x.associationID, RoleArn: aws.String(appRole),
		}))
	}, noCluster},
	"DeletePodIdentityAssociation": {ofAssociation, "", func(ctx context.Context, c *eks.Client, name string, x things) error {
		return awstest.Err(c.DeletePodIdentityAssociation(ctx, &eks.DeletePodIdentityAssociationInput{
			ClusterName: &name, AssociationId: &x.associationID,
		}))
	}, noCluster},
	"ListPodIdentityAssociations": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.ListPodIdentityAssociations(ctx, &eks.ListPodIdentityAssociationsInput{ClusterName: &name}))
	}, noCluster},
	"ListTagsForResource": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.ListTagsForResource(ctx, &eks.ListTagsForResourceInput{ResourceArn: arnOf(name)}))
	}, "NotFoundException: "},
	"TagResource": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.TagResource(ctx, &eks.TagResourceInput{ResourceArn: arnOf(name), Tags: map[string]string{"a": "b"}}))
	}, "NotFoundException: "},
	"UntagResource": {ofCluster, "", func(ctx context.Context, c *eks.Client, name string, _ things) error {
		return awstest.Err(c.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: arnOf(name), TagKeys: []string{"a"}}))
	}, "NotFoundException: "},
}

func arnOf(name string) *string { return aws.String(strings.TrimSuffix(clusterARN, cluster) + name) }

func TestOperationsNeedTheirRightAndNoMore(t *testing.T) {
	for name, o := range operations {
		t.Run(name, func(t *testing.T) {
			l, x := furnished(t)
			ctx, action, resource := t.Context(), "eks:"+name, o.resource(x)
			want := "AccessDeniedException: User: arn:aws:iam::" + ours + ":user/nobody is not authorized to perform: " + action + " on resource: " + resource +
				" because no identity-based policy allows the " + action + " action"
			if got := awstest.Refusal(nil, o.call(ctx, l.eks(l.user("nobody", "")), cluster, x)); got != want {
				t.Errorf("without rights it is refused with\n %q, want\n %q", got, want)
			}
			allow := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"` + resource + `"}`
			if o.passes != "" {
				want := "AccessDeniedException: User: arn:aws:iam::" + ours + ":user/holder is not authorized to perform: iam:PassRole on resource: " + o.passes
				if got := awstest.Refusal(nil, o.call(ctx, l.eks(l.user("holder", allow+"]}")), cluster, x)); !strings.HasPrefix(got, want) {
					t.Errorf("without the right to pass the role it is refused with\n %q, want\n %q", got, want)
				}
				service := "pods.eks.amazonaws.com"
				if name == "CreateCluster" {
					service = "eks.amazonaws.com"
				}
				allow += `,{"Effect":"Allow","Action":"iam:PassRole","Resource":"` + o.passes + `","Condition":{"StringEquals":{"iam:PassedToService":"` + service + `"}}}`
			}
			if got := awstest.Refusal(nil, o.call(ctx, l.eks(l.user("least", allow+"]}")), cluster, x)); got != "" {
				t.Errorf("with its right it is refused with %q", got)
			}
		})
	}
}

func TestOperationsOnWhatIsAbsent(t *testing.T) {
	l, x := furnished(t)
	for name, o := range operations {
		if o.absent == "" {
			continue
		}
		err := o.call(t.Context(), l.eks(), "none", x)
		if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, o.absent) {
			t.Errorf("%s on a cluster that is not there is refused with %q, want %q", name, got, o.absent)
		}
		var missing *types.ResourceNotFoundException
		if errors.As(err, &missing) && aws.ToString(missing.ClusterName) != "none" {
			t.Errorf("%s: the error names the cluster %q", name, aws.ToString(missing.ClusterName))
		}
	}
	const noEntry = "ResourceNotFoundException: The specified principalArn could not be found: " + controlRole
	cases := map[string]struct {
		err  error
		want string
	}{
		"an association": {awstest.Err(l.eks().DescribePodIdentityAssociation(t.Context(), &eks.DescribePodIdentityAssociationInput{
			ClusterName: aws.String(cluster), AssociationId: aws.String("a-none"),
		})),
			"ResourceNotFoundException: No pod identity association a-none found on cluster lab."},
		"an access entry": {awstest.Err(l.eks().DescribeAccessEntry(t.Context(), &eks.DescribeAccessEntryInput{
			ClusterName: aws.String(cluster), PrincipalArn: aws.String(controlRole),
		})), noEntry},
		"an access entry to delete": {awstest.Err(l.eks().DeleteAccessEntry(t.Context(), &eks.DeleteAccessEntryInput{
			ClusterName: aws.String(cluster), PrincipalArn: aws.String(controlRole),
		})), noEntry},
		"a policy that is not associated": {awstest.Err(l.eks().DisassociateAccessPolicy(t.Context(), &eks.DisassociateAccessPolicyInput{
			ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole), PolicyArn: aws.String(editPolicy),
		})),
			"ResourceNotFoundException: The access policy " + editPolicy + " is not associated with the access entry."},
	}
	for name, c := range cases {
		if got := awstest.Refusal(nil, c.err); got != c.want {
			t.Errorf("%s is refused with %q, want %q", name, got, c.want)
		}
	}
}

func TestOperationsAreThrottled(t *testing.T) {
	l, x := furnished(t)
	for name, o := range operations {
		l.Admin().Inject(awslocal.Fault{Service: "eks", Operation: name, Code: "ThrottlingException", Count: 1})
		err := o.call(t.Context(), l.eks(), cluster, x)
		var response *awshttp.ResponseError
		if got := awstest.Refusal(nil, err); got != "ThrottlingException: Rate exceeded" || !errors.As(err, &response) || response.HTTPStatusCode() != http.StatusTooManyRequests {
			t.Errorf("%s is throttled with %q, %v", name, got, err)
		}
	}
	if left := l.Admin().Faults(); len(left) != 0 {
		t.Errorf("the faults %+v were never met", left)
	}
	if got := l.pod(l.token(nil)); got.refused != "" {
		t.Errorf("an operation that was throttled did something: %s", got.refused)
	}
	l.Admin().Inject(awslocal.Fault{Service: "eks-auth", Code: "ThrottlingException", Count: 1})
	if got := l.pod(l.token(nil)); got.status != http.StatusTooManyRequests || got.refused != "ThrottlingException: Rate exceeded" {
		t.Errorf("EKS Auth is throttled with %d %q", got.status, got.refused)
	}
}

func TestUnknownOperationsAreNamed(t *testing.T) {
	l := newLab(t)
	err := awstest.Err(l.eks().ListNodegroups(t.Context(), &eks.ListNodegroupsInput{ClusterName: aws.String(cluster)}))
	const want = "UnknownOperationException: The local AWS does not play the operation of eks that is called by GET /clusters/lab/node-groups."
	if got := awstest.Refusal(nil, err); got != want {
		t.Errorf("refused with %q, want %q", got, want)
	}
	err = awstest.Err(l.eks().CreateCluster(t.Context(), &eks.CreateClusterInput{
		Name: aws.String("new"), RoleArn: aws.String(controlRole), ResourcesVpcConfig: &types.VpcConfigRequest{}, DeletionProtection: aws.Bool(true),
	}))
	if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, "NotImplemented: The local AWS does not support the parameter deletionProtection of CreateCluster") {
		t.Errorf("a parameter that is not played is answered %q", got)
	}
}
