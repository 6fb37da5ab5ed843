package hubaccess

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const anybody = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::111111111111:root"}}]}`

// attack has the holder of the program's rights try what they shall not allow.
func attack(t *testing.T, w *world, as aws.Config) {
	t.Helper()
	theirs, own := hub.RoleName(strings.Repeat("a", 32)), hub.RoleName(strings.Repeat("b", 32))
	w.aws.Role(account, theirs, anybody, "")
	w.aws.Role(account, "admin", anybody, "")
	attackRoles(t, iam.NewFromConfig(as), own, theirs)
	attackEntries(t, w, eks.NewFromConfig(as), own, theirs)
}

// denied checks that AWS refuses each for want of rights.
func denied(t *testing.T, tries map[string]func(context.Context) error) {
	t.Helper()
	for name, try := range tries {
		if got := awstest.Refusal(nil, try(t.Context())); !strings.HasPrefix(got, "AccessDenied") {
			t.Errorf("%s: AWS answers %q", name, got)
		}
	}
}

func attackRoles(t *testing.T, roles *iam.Client, own, theirs string) {
	t.Helper()
	other := "arn:aws:eks:us-west-2:111111111111:cluster/other"
	tag := func(value string) []iamtypes.Tag {
		return []iamtypes.Tag{{Key: aws.String(hub.HubTag), Value: aws.String(value)}}
	}
	create := func(name string, tags []iamtypes.Tag) error {
		_, err := roles.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(anybody), Tags: tags})
		return err
	}
	if err := create(own, tag(hubARN)); err != nil {
		t.Fatalf("the program cannot make a role: %v", err)
	}
	denied(t, map[string]func(context.Context) error{
		"a role of another name":       func(context.Context) error { return create("admin2", tag(hubARN)) },
		"a role without the hub's tag": func(context.Context) error { return create(hub.RoleName("c"), nil) },
		"a role of another hub":        func(context.Context) error { return create(hub.RoleName("c"), tag(other)) },
		"the trust of a role of others": func(ctx context.Context) error {
			_, err := roles.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &theirs, PolicyDocument: aws.String(anybody)})
			return err
		},
		"the end of a role of others": func(ctx context.Context) error {
			_, err := roles.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &theirs})
			return err
		},
		"a policy for its own role": func(ctx context.Context) error {
			_, err := roles.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &own, PolicyName: aws.String("all"), PolicyDocument: aws.String(anybody)})
			return err
		},
	})
}

func roleARN(name string) string { return "arn:aws:iam::" + account + ":role/" + name }

// attackEntries tries entries that are none of an agent. The requests say no more than a thief
// would, so that what EKS fills in is not what denies them.
func attackEntries(t *testing.T, w *world, entries *eks.Client, own, theirs string) {
	t.Helper()
	ours := map[string]string{hub.HubTag: hubARN}
	enter := func(change func(*eks.CreateAccessEntryInput)) func(context.Context) error {
		in := &eks.CreateAccessEntryInput{
			ClusterName: aws.String("eks-hub"), PrincipalArn: aws.String(roleARN(own)), Username: aws.String("x"), Type: aws.String("STANDARD"),
			KubernetesGroups: []string{"open-cluster-management:x"}, Tags: ours,
		}
		change(in)
		return func(ctx context.Context) error { return awstest.Err(entries.CreateAccessEntry(ctx, in)) }
	}
	denied(t, map[string]func(context.Context) error{
		"an entry of administrators":     enter(func(in *eks.CreateAccessEntryInput) { in.KubernetesGroups = []string{"admins"} }),
		"an entry of another role":       enter(func(in *eks.CreateAccessEntryInput) { in.PrincipalArn = aws.String(roleARN("admin")) }),
		"an entry without the hub's tag": enter(func(in *eks.CreateAccessEntryInput) { in.Tags = nil }),
		"an entry of an administrator":   enter(func(in *eks.CreateAccessEntryInput) { in.Username = aws.String("alice@example.com") }),
		"an entry without a username":    enter(func(in *eks.CreateAccessEntryInput) { in.Username = nil }),
		"an entry without groups":        enter(func(in *eks.CreateAccessEntryInput) { in.KubernetesGroups = nil }),
		"an entry without a type":        enter(func(in *eks.CreateAccessEntryInput) { in.Type = nil }),
		"an entry of nodes": enter(func(in *eks.CreateAccessEntryInput) {
			in.Type, in.Username, in.KubernetesGroups = aws.String("EC2_LINUX"), nil, nil
		}),
	})
	if err := enter(func(*eks.CreateAccessEntryInput) {})(t.Context()); err != nil {
		t.Fatalf("the program cannot make an entry: %v", err)
	}
	denied(t, map[string]func(context.Context) error{"an access policy": func(ctx context.Context) error {
		return awstest.Err(entries.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{
			ClusterName: aws.String("eks-hub"), PrincipalArn: aws.String(roleARN(theirs)), PolicyArn: aws.String("arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"),
			AccessScope: &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster},
		}))
	}})
	attackKeptEntries(t, w, entries, own)
}

// attackKeptEntries tries to change the thief's own entry to another than an agent's, and to
// change and remove an administrator's, which it may give the hub's tag.
func attackKeptEntries(t *testing.T, w *world, entries *eks.Client, own string) {
	t.Helper()
	update := func(role string, username *string, groups ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			return awstest.Err(entries.UpdateAccessEntry(ctx, &eks.UpdateAccessEntryInput{
				ClusterName: aws.String("eks-hub"), PrincipalArn: aws.String(roleARN(role)), Username: username, KubernetesGroups: groups,
			}))
		}
	}
	made := must.Get(eks.NewFromConfig(w.aws.As(w.aws.Administrator(account))).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{
		ClusterName: aws.String("eks-hub"), PrincipalArn: aws.String(roleARN("admin")), Username: aws.String("alice@example.com"), KubernetesGroups: []string{"admins"},
	}))(t)
	must.Do(t, awstest.Err(entries.TagResource(t.Context(), &eks.TagResourceInput{ResourceArn: made.AccessEntry.AccessEntryArn, Tags: map[string]string{hub.HubTag: hubARN}})))
	const group = "open-cluster-management:y"
	if err := update(own, aws.String("y"), group)(t.Context()); err != nil {
		t.Fatalf("the program cannot change its entry: %v", err)
	}
	denied(t, map[string]func(context.Context) error{
		"other groups of its entry":      update(own, aws.String("y"), group, "admins"),
		"another username of its entry":  update(own, aws.String("alice@example.com"), group),
		"only the groups of its entry":   update(own, nil, group),
		"only the username of its entry": update(own, aws.String("z")),
		"the groups of an administrator": update("admin", aws.String("y"), group),
		"the end of an administrator's entry": func(ctx context.Context) error {
			return awstest.Err(entries.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: aws.String("eks-hub"), PrincipalArn: aws.String(roleARN("admin"))}))
		},
	})
}
