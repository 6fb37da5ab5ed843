package eks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// mayNotAssume hides whether the role is there.
const mayNotAssume = "AccessDeniedException: Unauthorized Exception! EKS does not have permissions to assume the associated role."

func TestRolesTrustEKSUnderConditions(t *testing.T) {
	l := newLab(t)
	allow := func(actions, condition string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":` + actions + `,"Condition":` + condition + `}]}`
	}
	const both, only = `["sts:AssumeRole","sts:TagSession"]`, `"sts:AssumeRole"`
	cases := map[string]struct {
		trust    string
		untagged bool
		want     string
	}{
		"both actions":                             {allow(both, `{}`), false, ""},
		"tags are not trusted":                     {allow(only, `{}`), false, mayNotAssume},
		"tags are not trusted, and there are none": {allow(only, `{}`), true, ""},
		"the cluster's account and ARN":            {allow(both, `{"StringEquals":{"aws:SourceAccount":"`+ours+`"},"ArnEquals":{"aws:SourceArn":"`+clusterARN+`"}}`), false, ""},
		"another cluster":                          {allow(both, `{"ArnEquals":{"aws:SourceArn":"`+clusterARN+`2"}}`), false, mayNotAssume},
		"the pod's namespace":                      {allow(both, `{"StringEquals":{"aws:RequestTag/kubernetes-namespace":"team-a"}}`), false, ""},
		"another namespace":                        {allow(both, `{"StringEquals":{"aws:RequestTag/kubernetes-namespace":"team-b"}}`), false, mayNotAssume},
		"all tags and no others": {allow(both, `{"ForAllValues:StringEquals":{"aws:TagKeys":["eks-cluster-arn","eks-cluster-name","kubernetes-namespace","kubernetes-service-account","kubernetes-pod-name","kubernetes-pod-uid"]},
			"StringEquals":{"aws:RequestTag/eks-cluster-arn":"`+clusterARN+`","aws:RequestTag/eks-cluster-name":"lab","aws:RequestTag/kubernetes-service-account":"app",
			"aws:RequestTag/kubernetes-pod-name":"app-7d9f","aws:RequestTag/kubernetes-pod-uid":"b0b0"}}`), false, ""},
		"the service of clusters": {strings.ReplaceAll(podTrust, "pods.eks", "eks"), false, mayNotAssume},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			role := l.Role(ours, "app", c.trust, "")
			id := l.associate(role, func(in *eks.CreatePodIdentityAssociationInput) { in.DisableSessionTags = &c.untagged })
			if got := l.pod(l.token(nil)); got.refused != c.want {
				t.Errorf("refused with %q, want %q", got.refused, c.want)
			}
			l.deleteRole(ours, "app")
			if got := l.pod(l.token(nil)); got.refused != mayNotAssume {
				t.Errorf("without its role it is refused with %q, want %q", got.refused, mayNotAssume)
			}
			if _, err := l.eks().DeletePodIdentityAssociation(t.Context(), &eks.DeletePodIdentityAssociationInput{ClusterName: aws.String(cluster), AssociationId: &id}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSessionsOfPodsCarryTags(t *testing.T) {
	l := newLab(t)
	own := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:ListAllMyBuckets","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalTag/kubernetes-pod-uid":"b0b0"}}}]}`
	id := l.associate(l.Role(ours, "app", podTrust, own))
	if refused := l.lists(l.pod(l.token(nil)).key()); refused != "" {
		t.Errorf("a session with tags is refused with %s", refused)
	}
	l.Must(l.eks().UpdatePodIdentityAssociation(t.Context(), &eks.UpdatePodIdentityAssociationInput{
		ClusterName: aws.String(cluster), AssociationId: &id, DisableSessionTags: aws.Bool(true),
	}))
	if refused := l.lists(l.pod(l.token(nil)).key()); refused != "AccessDenied" {
		t.Errorf("a session without tags is refused with %q, want AccessDenied", refused)
	}
}

func TestPoliciesOfAssociationsLimitSessions(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, mayList), func(in *eks.CreatePodIdentityAssociationInput) {
		in.DisableSessionTags = aws.Bool(true)
		in.Policy = aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]}`)
	})
	if refused := l.lists(l.pod(l.token(nil)).key()); refused != "AccessDenied" {
		t.Errorf("what the policy of the association leaves out is refused with %q, want AccessDenied", refused)
	}
}

func TestTargetRolesAreAssumedByTheFirst(t *testing.T) {
	l := newLab(t)
	target := "arn:aws:iam::" + theirs + ":role/target"
	first := l.Role(ours, "app", podTrust, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Resource":"`+target+`"}]}`)
	id := l.associate(first, func(in *eks.CreatePodIdentityAssociationInput) { in.TargetRoleArn = &target })
	if got := l.pod(l.token(nil)); got.refused != mayNotAssume {
		t.Errorf("without the target it is refused with %q, want %q", got.refused, mayNotAssume)
	}
	described := must.Get(l.eks().DescribePodIdentityAssociation(t.Context(), &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String(cluster), AssociationId: &id}))(t)
	trust := func(external string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + first + `"},"Action":["sts:AssumeRole","sts:TagSession"],
			"Condition":{"StringEquals":{"sts:ExternalId":"` + external + `","aws:PrincipalTag/kubernetes-namespace":"team-a"}}}]}`
	}
	l.Role(theirs, "target", trust("another"), mayList)
	if got := l.pod(l.token(nil)); got.refused != mayNotAssume {
		t.Errorf("with another external ID it is refused with %q, want %q", got.refused, mayNotAssume)
	}
	l.Must(l.IAM(theirs).UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{
		RoleName: aws.String("target"), PolicyDocument: aws.String(trust(*described.Association.ExternalId)),
	}))
	got := l.pod(l.token(nil))
	if got.refused != "" || !strings.HasPrefix(got.User.Arn, "arn:aws:sts::"+theirs+":assumed-role/target/eks-lab-app") || l.caller(got.key()) != got.User.Arn || l.lists(got.key()) != "" {
		t.Errorf("the session is %+v", got)
	}
	if left := seconds(got.Credentials.Expiration).Sub(l.Admin().Now()); left > time.Hour {
		t.Errorf("a session that another made lasts %s, more than an hour", left)
	}
}
