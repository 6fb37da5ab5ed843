package eks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func (l *lab) enter(in *eks.CreateAccessEntryInput) (*types.AccessEntry, string) {
	l.t.Helper()
	if in.ClusterName == nil {
		in.ClusterName = aws.String(cluster)
	}
	out, err := l.eks().CreateAccessEntry(l.t.Context(), in)
	if err != nil {
		return nil, awstest.Refusal(nil, err)
	}
	return out.AccessEntry, ""
}

func TestAccessEntriesSayWhoTheirPrincipalIs(t *testing.T) {
	l := newLab(t)
	l.Role(ours, "app", podTrust, "")
	out := must.Get(l.IAM(ours).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("deep"), Path: aws.String("/team/a/"), AssumeRolePolicyDocument: aws.String(podTrust),
	}))(t)
	deep := *out.Role.Arn
	user := "arn:aws:iam::" + ours + ":user/administrator"
	session := "arn:aws:sts::" + ours + ":assumed-role/"
	cases := map[string]struct {
		in       eks.CreateAccessEntryInput
		username string
		groups   []string
		want     string
	}{
		"a role":                     {eks.CreateAccessEntryInput{PrincipalArn: aws.String(appRole)}, session + "app/{{SessionName}}", nil, ""},
		"a role with a path":         {eks.CreateAccessEntryInput{PrincipalArn: &deep, KubernetesGroups: []string{"viewers"}}, session + "deep/{{SessionName}}", []string{"viewers"}, ""},
		"a user":                     {eks.CreateAccessEntryInput{PrincipalArn: &user}, user, nil, ""},
		"a name of one's own":        {eks.CreateAccessEntryInput{PrincipalArn: &user, Username: aws.String("alice")}, "alice", nil, ""},
		"a name with a variable":     {eks.CreateAccessEntryInput{PrincipalArn: aws.String(appRole), Username: aws.String("app:{{SessionName}}")}, "app:{{SessionName}}", nil, ""},
		"a variable without a colon": {eks.CreateAccessEntryInput{PrincipalArn: aws.String(appRole), Username: aws.String("{{SessionName}}")}, "", nil, "InvalidParameterException: The username"},
		"a reserved name":            {eks.CreateAccessEntryInput{PrincipalArn: &user, Username: aws.String("system:admin")}, "", nil, "InvalidParameterException: The username"},
		"a reserved group":           {eks.CreateAccessEntryInput{PrincipalArn: &user, KubernetesGroups: []string{"system:masters"}}, "", nil, "InvalidParameterException: The Kubernetes group"},
		"nodes":                      {eks.CreateAccessEntryInput{PrincipalArn: aws.String(appRole), Type: aws.String("EC2_LINUX")}, "system:node:{{EC2PrivateDNSName}}", []string{"system:nodes"}, ""},
		"nodes with groups":          {eks.CreateAccessEntryInput{PrincipalArn: aws.String(appRole), Type: aws.String("EC2_LINUX"), KubernetesGroups: []string{"a"}}, "", nil, "InvalidParameterException: An access entry of type EC2_LINUX has its own"},
		"nodes that are a user":      {eks.CreateAccessEntryInput{PrincipalArn: &user, Type: aws.String("EC2_LINUX")}, "", nil, "InvalidParameterException: An access entry of type EC2_LINUX is for a role."},
		"a type that is none":        {eks.CreateAccessEntryInput{PrincipalArn: &user, Type: aws.String("MAINFRAME")}, "", nil, `InvalidParameterException: The type "MAINFRAME"`},
		"a session":                  {eks.CreateAccessEntryInput{PrincipalArn: aws.String(session + "app/me")}, "", nil, "InvalidParameterException: The specified principalArn is invalid: it must be"},
		"a role that is missing":     {eks.CreateAccessEntryInput{PrincipalArn: aws.String(appRole + "2")}, "", nil, "InvalidParameterException: The specified principalArn is invalid: invalid principal."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			made, refused := l.enter(&c.in)
			if !strings.HasPrefix(refused, c.want) || (refused == "") != (c.want == "") {
				t.Fatalf("refused with %q, want %q", refused, c.want)
			}
			if made == nil {
				return
			}
			if *made.Username != c.username || !slices.Equal(made.KubernetesGroups, c.groups) || *made.PrincipalArn != *c.in.PrincipalArn {
				t.Errorf("the entry is of %s with groups %v, want %s, %v", *made.Username, made.KubernetesGroups, c.username, c.groups)
			}
			if again := c.in; true {
				again.ClientRequestToken = aws.String("another")
				if _, refused := l.enter(&again); refused != "ResourceInUseException: The specified access entry resource is already in use on this cluster." {
					t.Errorf("a second one is refused with %q", refused)
				}
			}
			if _, err := l.eks().DeleteAccessEntry(t.Context(), &eks.DeleteAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: c.in.PrincipalArn}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAccessEntriesChange(t *testing.T) {
	l, _ := furnished(t)
	update := func(in eks.UpdateAccessEntryInput) (*types.AccessEntry, string) {
		in.ClusterName, in.PrincipalArn = aws.String(cluster), aws.String(appRole)
		out, err := l.eks().UpdateAccessEntry(t.Context(), &in)
		if err != nil {
			return nil, awstest.Refusal(nil, err)
		}
		return out.AccessEntry, ""
	}
	changed, refused := update(eks.UpdateAccessEntryInput{KubernetesGroups: []string{"a", "b"}, Username: aws.String("app")})
	if refused != "" || *changed.Username != "app" || len(changed.KubernetesGroups) != 2 {
		t.Errorf("changed to %+v, %s", changed, refused)
	}
	if _, refused := update(eks.UpdateAccessEntryInput{KubernetesGroups: []string{"system:masters"}}); !strings.HasPrefix(refused, "InvalidParameterException") {
		t.Errorf("a reserved group is refused with %q", refused)
	}
	if kept, refused := update(eks.UpdateAccessEntryInput{}); refused != "" || *kept.Username != "app" || len(kept.KubernetesGroups) != 2 {
		t.Errorf("a change of nothing gives %+v, %s", kept, refused)
	}
}

func TestAccessPoliciesHaveAScope(t *testing.T) {
	l, _ := furnished(t)
	associate := func(principal, policy string, scope types.AccessScope) string {
		return awstest.Refusal(l.eks().AssociateAccessPolicy(t.Context(), &eks.AssociateAccessPolicyInput{
			ClusterName: aws.String(cluster), PrincipalArn: &principal, PolicyArn: &policy, AccessScope: &scope,
		}))
	}
	if _, refused := l.enter(&eks.CreateAccessEntryInput{PrincipalArn: aws.String(controlRole), Type: aws.String("EC2_LINUX")}); refused != "" {
		t.Fatal(refused)
	}
	all, some := types.AccessScope{Type: "cluster"}, types.AccessScope{Type: "namespace", Namespaces: []string{"team-a"}}
	cases := map[string]struct {
		principal, policy string
		scope             types.AccessScope
		want              string
	}{
		"a smaller scope":             {appRole, viewPolicy, some, ""},
		"namespaces and the cluster":  {appRole, viewPolicy, types.AccessScope{Type: "cluster", Namespaces: []string{"a"}}, "InvalidParameterException: An access scope"},
		"no namespaces":               {appRole, viewPolicy, types.AccessScope{Type: "namespace"}, "InvalidParameterException: An access scope"},
		"a scope that is none":        {appRole, viewPolicy, types.AccessScope{Type: "planet"}, `InvalidParameterException: The type "planet"`},
		"a policy of IAM":             {appRole, "arn:aws:iam::aws:policy/AdministratorAccess", all, "InvalidParameterException: The specified policyArn is invalid"},
		"an entry of nodes":           {controlRole, viewPolicy, all, "InvalidRequestException: Access policies cannot be associated with an access entry of type EC2_LINUX."},
		"an entry that is not there ": {appRole + "2", viewPolicy, all, "ResourceNotFoundException: The specified principalArn could not be found"},
	}
	for name, c := range cases {
		if got := associate(c.principal, c.policy, c.scope); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: refused with %q, want %q", name, got, c.want)
		}
	}
	out, err := l.eks().ListAssociatedAccessPolicies(t.Context(), &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole)})
	if err != nil || len(out.AssociatedAccessPolicies) != 1 || out.AssociatedAccessPolicies[0].AccessScope.Type != "namespace" {
		t.Errorf("the policies are %+v, %v", out, err)
	}
	entries, err := l.eks().ListAccessEntries(t.Context(), &eks.ListAccessEntriesInput{ClusterName: aws.String(cluster), AssociatedPolicyArn: aws.String(viewPolicy)})
	if err != nil || !slices.Equal(entries.AccessEntries, []string{appRole}) {
		t.Errorf("the entries with the policy are %v, %v", entries, err)
	}
	limited := l.eks(l.user("limited", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"eks:AssociateAccessPolicy","Resource":"*",
		"Condition":{"StringEquals":{"eks:accessScope":"namespace","eks:policyArn":"`+viewPolicy+`","eks:clusterName":"lab","eks:principalArn":"`+appRole+`"},"ForAllValues:StringEquals":{"eks:namespaces":["team-a"]}}}]}`))
	for want, scope := range map[string]types.AccessScope{"": some, "AccessDeniedException": all} {
		got, _, _ := strings.Cut(awstest.Refusal(limited.AssociateAccessPolicy(t.Context(), &eks.AssociateAccessPolicyInput{
			ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole), PolicyArn: aws.String(viewPolicy), AccessScope: &scope,
		})), ":")
		if got != want {
			t.Errorf("under conditions, scope %v is refused with %q, want %q", scope, got, want)
		}
	}
}

func TestClustersByConfigMapHaveNoAccessEntries(t *testing.T) {
	l, x := furnished(t)
	l.register(awslocal.Cluster{Account: ours, Name: "old", Issuer: issuer + "/old", JWKS: keySet(t, l.key), AuthenticationMode: "CONFIG_MAP"})
	const want = "InvalidRequestException: The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."
	for _, name := range []string{"CreateAccessEntry", "DescribeAccessEntry", "ListAccessEntries", "AssociateAccessPolicy"} {
		if got := awstest.Refusal(nil, operations[name].call(t.Context(), l.eks(), "old", x)); got != want {
			t.Errorf("%s is refused with %q, want %q", name, got, want)
		}
	}
}

func TestAccessEntriesEndWithTheirPrincipal(t *testing.T) {
	l, _ := furnished(t)
	stale := func() bool {
		t.Helper()
		for _, one := range l.Admin().Clusters() {
			for _, e := range one.AccessEntries {
				if e.PrincipalARN == appRole && strings.HasPrefix(e.PrincipalID, "AROA") {
					return e.Stale
				}
			}
		}
		t.Fatalf("no entry in %+v", l.Admin().Clusters())
		return false
	}
	if stale() {
		t.Error("a new entry is stale")
	}
	l.deleteRole(ours, "app")
	if !stale() {
		t.Error("the entry of a role that is gone is not stale")
	}
	l.Role(ours, "app", podTrust, "")
	if !stale() {
		t.Error("the entry holds for another role of the same name")
	}
	if refused := awstest.Refusal(nil, operations["DescribeAccessEntry"].call(t.Context(), l.eks(), cluster, things{})); refused != "" {
		t.Errorf("EKS does not show the entry any more: %s", refused)
	}
}
