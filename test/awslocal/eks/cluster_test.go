package eks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func newCluster(change func(*eks.CreateClusterInput)) *eks.CreateClusterInput {
	in := &eks.CreateClusterInput{
		Name: aws.String("new"), RoleArn: aws.String(controlRole), ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: []string{"subnet-1", "subnet-2"}},
	}
	change(in)
	return in
}

func TestClustersComeAndGo(t *testing.T) {
	l := newLab(t)
	l.Role(ours, "control", clusterTrust, "")
	ctx, client := t.Context(), l.eks()
	in := newCluster(func(in *eks.CreateClusterInput) {
		in.AccessConfig = &types.CreateAccessConfigRequest{AuthenticationMode: types.AuthenticationModeApi}
		in.Tags, in.ClientRequestToken, in.Version = map[string]string{"team": "a"}, aws.String("once"), aws.String("1.33")
	})
	for range 2 { // the second asks with the same token, as a retry does
		l.Must(client.CreateCluster(ctx, in))
	}
	must.Do(t, eks.NewClusterActiveWaiter(client).Wait(ctx, &eks.DescribeClusterInput{Name: in.Name}, time.Minute))
	out := must.Get(client.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: in.Name}))(t)
	made := out.Cluster
	if *made.Arn != "arn:aws:eks:"+region+":"+ours+":cluster/new" || made.Status != types.ClusterStatusActive || *made.Version != "1.33" || made.Tags["team"] != "a" ||
		!strings.HasPrefix(*made.Identity.Oidc.Issuer, "https://oidc.eks."+region+".amazonaws.com/id/") || len(*made.Identity.Oidc.Issuer) != len("https://oidc.eks."+region+".amazonaws.com/id/")+32 ||
		made.AccessConfig.AuthenticationMode != types.AuthenticationModeApi || *made.RoleArn != controlRole || len(made.ResourcesVpcConfig.SubnetIds) != 2 ||
		made.CreatedAt.Sub(l.Admin().Now()).Abs() > time.Minute {
		t.Errorf("the cluster is %+v", made)
	}
	entry, err := client.ListAssociatedAccessPolicies(ctx, &eks.ListAssociatedAccessPoliciesInput{ClusterName: in.Name, PrincipalArn: aws.String("arn:aws:iam::" + ours + ":user/administrator")})
	if err != nil || len(entry.AssociatedAccessPolicies) != 1 || !strings.HasSuffix(*entry.AssociatedAccessPolicies[0].PolicyArn, "/AmazonEKSClusterAdminPolicy") {
		t.Errorf("who made the cluster has the policies %+v, %v", entry, err)
	}
	if got := l.assume(l.Administrator(ours), "new", `{"token":"`+l.token(map[string]any{"iss": *made.Identity.Oidc.Issuer})+`"}`); !strings.HasPrefix(got.refused, "InvalidTokenException: The token is not signed by a key") {
		t.Errorf("a token of a cluster whose keys nobody knows is refused with %q", got.refused)
	}
	l.register(awslocal.Cluster{Account: ours, Name: "new", Issuer: issuer + "/new", JWKS: keySet(t, l.key), CertificateAuthority: "pem"})
	out, err = client.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: in.Name})
	if err != nil || *out.Cluster.Identity.Oidc.Issuer != issuer+"/new" || *out.Cluster.CertificateAuthority.Data != "cGVt" || *out.Cluster.Version != "1.33" || out.Cluster.Tags["team"] != "a" {
		t.Errorf("once registered it is %+v, %v", out, err)
	}
	if _, err := client.DeleteCluster(ctx, &eks.DeleteClusterInput{Name: in.Name}); err != nil {
		t.Error(err)
	}
	if err := eks.NewClusterDeletedWaiter(client).Wait(ctx, &eks.DescribeClusterInput{Name: in.Name}, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestClustersThatCannotBeMade(t *testing.T) {
	l := newLab(t)
	l.Role(ours, "control", clusterTrust, "")
	l.Role(ours, "app", podTrust, "")
	tagger := l.user("tagger", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["eks:CreateCluster","iam:PassRole"],"Resource":"*"}]}`)
	const cannot = "InvalidParameterException: Role with arn: %, could not be assumed because it does not exist or the trusted entity is not correct"
	cases := map[string]struct {
		key    aws.Credentials
		change func(*eks.CreateClusterInput)
		want   string
	}{
		"one that is there": {l.Administrator(ours), func(in *eks.CreateClusterInput) { in.Name = aws.String(cluster) }, "ResourceInUseException: Cluster already exists with name: lab"},
		"a bad name":        {l.Administrator(ours), func(in *eks.CreateClusterInput) { in.Name = aws.String("_x") }, "InvalidParameterException: The name of a cluster"},
		"a mode that is none": {l.Administrator(ours), func(in *eks.CreateClusterInput) {
			in.AccessConfig = &types.CreateAccessConfigRequest{AuthenticationMode: "NONE"}
		}, `InvalidParameterException: The authentication mode "NONE"`},
		"a role that is missing":           {l.Administrator(ours), func(in *eks.CreateClusterInput) { in.RoleArn = aws.String(appRole + "2") }, strings.ReplaceAll(cannot, "%", appRole+"2")},
		"a role that trusts someone else":  {l.Administrator(ours), func(in *eks.CreateClusterInput) { in.RoleArn = aws.String(appRole) }, strings.ReplaceAll(cannot, "%", appRole)},
		"a tag that is reserved":           {l.Administrator(ours), func(in *eks.CreateClusterInput) { in.Tags = map[string]string{"aws:x": "y"} }, "InvalidParameterException: Tag keys must not begin"},
		"tags without the right to tag":    {tagger, func(in *eks.CreateClusterInput) { in.Tags = map[string]string{"x": "y"} }, "AccessDeniedException: User: arn:aws:iam::" + ours + ":user/tagger is not authorized to perform: eks:TagResource"},
		"none, the last being a good call": {tagger, func(in *eks.CreateClusterInput) { in.Name = aws.String("last") }, ""},
	}
	for name, c := range cases {
		if got := awstest.Refusal(l.eks(c.key).CreateCluster(t.Context(), newCluster(c.change))); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: refused with %q, want %q", name, got, c.want)
		}
	}
}

func TestClustersBelongToAnAccountAndARegion(t *testing.T) {
	l := newLab(t)
	for name, client := range map[string]*eks.Client{
		"another account": l.eks(l.Administrator(theirs)),
		"another region":  eks.New(l.eks().Options(), func(o *eks.Options) { o.Region = "us-east-1" }),
	} {
		out, err := client.ListClusters(t.Context(), &eks.ListClustersInput{})
		if err != nil || len(out.Clusters) != 0 {
			t.Errorf("%s has the clusters %v, %v", name, out, err)
		}
	}
}

func TestTagsOfAllKindsOfResources(t *testing.T) {
	l, x := furnished(t)
	ctx, client := t.Context(), l.eks()
	for _, arn := range []string{clusterARN, x.entryARN, x.associationARN} {
		l.Must(client.TagResource(ctx, &eks.TagResourceInput{ResourceArn: &arn, Tags: map[string]string{"a": "1", "b": "2", "A": "3"}}))
		l.Must(client.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: &arn, TagKeys: []string{"a", "none"}}))
		out, err := client.ListTagsForResource(ctx, &eks.ListTagsForResourceInput{ResourceArn: &arn})
		if err != nil || len(out.Tags) != 2 || out.Tags["b"] != "2" || out.Tags["A"] != "3" {
			t.Errorf("%s has the tags %v, %v", arn, out, err)
		}
	}
	byTag := l.eks(l.user("bytag", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"eks:Describe*","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/b":"2"}}}]}`))
	for _, name := range []string{"DescribeCluster", "DescribeAccessEntry", "DescribePodIdentityAssociation"} {
		if got := awstest.Refusal(nil, operations[name].call(ctx, byTag, cluster, x)); got != "" {
			t.Errorf("%s, allowed by a tag, is refused with %q", name, got)
		}
	}
	cases := map[string]struct {
		arn  string
		tags map[string]string
		want string
	}{
		"no tags":                 {clusterARN, map[string]string{}, "BadRequestException: At least one tag is required."},
		"a long value":            {clusterARN, map[string]string{"a": strings.Repeat("x", 257)}, "BadRequestException: The value of tag a"},
		"another region":          {strings.Replace(clusterARN, region, "us-east-1", 1), map[string]string{"a": "b"}, "BadRequestException: "},
		"what is no cluster's":    {"arn:aws:eks:" + region + ":" + ours + ":nodegroup/lab/a", map[string]string{"a": "b"}, "BadRequestException: "},
		"another account's":       {strings.Replace(clusterARN, ours, theirs, 1), map[string]string{"a": "b"}, "AccessDeniedException: "},
		"an entry's that is gone": {x.entryARN + "2", map[string]string{"a": "b"}, "NotFoundException: The specified resource " + x.entryARN + "2 could not be found."},
	}
	for name, c := range cases {
		if got := awstest.Refusal(client.TagResource(ctx, &eks.TagResourceInput{
			ResourceArn: &c.arn, Tags: c.tags,
		})); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: refused with %q, want %q", name, got, c.want)
		}
	}
}
