package eks_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAssociationsAreChecked(t *testing.T) {
	l, x := furnished(t)
	const policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]}`
	theirRole := l.Role(theirs, "app", podTrust, "")
	cases := map[string]struct {
		change func(*eks.CreatePodIdentityAssociationInput)
		want   string
	}{
		"a second one":              {func(in *eks.CreatePodIdentityAssociationInput) { in.ServiceAccount = aws.String("app") }, "ResourceInUseException: Association already exists: " + x.associationID},
		"a role of another account": {func(in *eks.CreatePodIdentityAssociationInput) { in.RoleArn = &theirRole }, "InvalidParameterException: The role " + theirRole + " must be in the cluster's account"},
		"a role that is missing":    {func(in *eks.CreatePodIdentityAssociationInput) { in.RoleArn = aws.String(appRole + "2") }, "InvalidParameterException: Role provided in the request does not exist."},
		"a user": {func(in *eks.CreatePodIdentityAssociationInput) {
			in.RoleArn = aws.String("arn:aws:iam::" + ours + ":user/x")
		}, "InvalidParameterException: The roleArn"},
		"a target that is no role": {func(in *eks.CreatePodIdentityAssociationInput) { in.TargetRoleArn = aws.String("target") }, `InvalidParameterException: The targetRoleArn "target"`},
		"a bad namespace":          {func(in *eks.CreatePodIdentityAssociationInput) { in.Namespace = aws.String("Team_A") }, "InvalidParameterException: The namespace"},
		"a bad service account":    {func(in *eks.CreatePodIdentityAssociationInput) { in.ServiceAccount = aws.String("a/b") }, "InvalidParameterException: The service account"},
		"a policy and tags":        {func(in *eks.CreatePodIdentityAssociationInput) { in.Policy = aws.String(policy) }, "InvalidParameterException: An association with a policy needs disableSessionTags"},
		"a policy that is none": {func(in *eks.CreatePodIdentityAssociationInput) {
			in.Policy, in.DisableSessionTags = aws.String("{"), aws.Bool(true)
		}, "InvalidParameterException: The policy of the association is invalid: "},
		"a policy that is too long": {func(in *eks.CreatePodIdentityAssociationInput) {
			in.Policy, in.DisableSessionTags = aws.String(policy+strings.Repeat(" ", 2048)), aws.Bool(true)
		}, "InvalidParameterException: The policy of the association is invalid: it is longer"},
		"a good policy, tags being off": {func(in *eks.CreatePodIdentityAssociationInput) {
			in.ServiceAccount = aws.String("last")
			in.Policy, in.DisableSessionTags = aws.String(policy), aws.Bool(true)
		}, ""},
	}
	for name, c := range cases {
		in := &eks.CreatePodIdentityAssociationInput{ClusterName: aws.String(cluster), Namespace: aws.String("team-a"), ServiceAccount: aws.String("next"), RoleArn: aws.String(appRole)}
		c.change(in)
		if got := awstest.Refusal(l.eks().CreatePodIdentityAssociation(t.Context(), in)); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: refused with %q, want %q", name, got, c.want)
		}
	}
}

func TestAssociationsChange(t *testing.T) {
	l, x := furnished(t)
	ctx, client := t.Context(), l.eks()
	update := func(change func(*eks.UpdatePodIdentityAssociationInput)) (*eks.UpdatePodIdentityAssociationOutput, error) {
		in := &eks.UpdatePodIdentityAssociationInput{ClusterName: aws.String(cluster), AssociationId: &x.associationID}
		change(in)
		return client.UpdatePodIdentityAssociation(ctx, in)
	}
	target := "arn:aws:iam::" + theirs + ":role/target"
	first, err := update(func(in *eks.UpdatePodIdentityAssociationInput) { in.TargetRoleArn = &target })
	if err != nil || aws.ToString(first.Association.ExternalId) == "" || *first.Association.TargetRoleArn != target {
		t.Fatalf("with a target it is %+v, %v", first, err)
	}
	next, err := update(func(in *eks.UpdatePodIdentityAssociationInput) { in.RoleArn = aws.String(controlRole) })
	if err != nil || *next.Association.RoleArn != controlRole || *next.Association.ExternalId != *first.Association.ExternalId {
		t.Errorf("with another role it is %+v, %v", next, err)
	}
	last, err := update(func(in *eks.UpdatePodIdentityAssociationInput) { in.TargetRoleArn = aws.String("") })
	if err != nil || last.Association.TargetRoleArn != nil || last.Association.ExternalId != nil {
		t.Errorf("with the target taken away it is %+v, %v", last, err)
	}
	for want, change := range map[string]func(*eks.UpdatePodIdentityAssociationInput){
		"InvalidParameterException: Role provided in the request does not exist.":                      func(in *eks.UpdatePodIdentityAssociationInput) { in.RoleArn = aws.String(appRole + "2") },
		"InvalidParameterException: An association with a policy needs disableSessionTags to be true.": func(in *eks.UpdatePodIdentityAssociationInput) { in.Policy = aws.String(`{}`) },
	} {
		if _, err := update(change); awstest.Refusal(nil, err) != want {
			t.Errorf("refused with %q, want %q", awstest.Refusal(nil, err), want)
		}
	}
	gone, err := client.DeletePodIdentityAssociation(ctx, &eks.DeletePodIdentityAssociationInput{ClusterName: aws.String(cluster), AssociationId: &x.associationID})
	if err != nil || *gone.Association.AssociationArn != x.associationARN {
		t.Errorf("deleting answers %+v, %v", gone, err)
	}
	if got := l.pod(l.token(nil)); !strings.HasPrefix(got.refused, "ResourceNotFoundException: No pod identity association was found") {
		t.Errorf("without association it is refused with %q", got.refused)
	}
}

func TestAssociationsAreFilteredAndMadeOnce(t *testing.T) {
	l, x := furnished(t)
	if !regexp.MustCompile(`^a-[a-z0-9]{17}$`).MatchString(x.associationID) {
		t.Errorf("the ID is %s", x.associationID)
	}
	ids := map[string]bool{}
	for range 2 {
		ids[l.associate(appRole, func(in *eks.CreatePodIdentityAssociationInput) {
			in.ServiceAccount, in.ClientRequestToken, in.Tags = aws.String("next"), aws.String("once"), map[string]string{"a": "b"}
		})] = true
	}
	if len(ids) != 1 {
		t.Errorf("a retry made a second association: %v", ids)
	}
	count := func(namespace, account *string) int {
		out := must.Get(l.eks().ListPodIdentityAssociations(t.Context(), &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(cluster), Namespace: namespace, ServiceAccount: account}))(t)
		return len(out.Associations)
	}
	if all, a, next, none := count(nil, nil), count(aws.String("team-a"), nil), count(aws.String("team-a"), aws.String("next")), count(aws.String("x"), nil); all != 2 || a != 2 || next != 1 || none != 0 {
		t.Errorf("lists have %d, %d, %d, %d", all, a, next, none)
	}
}
