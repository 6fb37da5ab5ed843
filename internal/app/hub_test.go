package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubjoin"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAPersonsSessionSeesTheRoleAndItsEntry: in the hub's account, and nothing in another one.
func TestAPersonsSessionSeesTheRoleAndItsEntry(t *testing.T) {
	const account, other, suffix = "111111111111", "222222222222", "347a66776893e40615516d2e0491e696"
	awstest.Isolate(t)
	lab := awstest.Start(t, awslocal.Options{Accounts: []string{account, other}, Region: "us-west-2"})
	must.Do(t, lab.Admin().AddCluster(awslocal.Cluster{Account: account, Region: "us-west-2", Name: "eks-hub", Issuer: "https://issuer.example.com"}))
	ca := filepath.Join(t.TempDir(), "ca.crt")
	must.Do(t, os.WriteFile(ca, lab.CACertificate(), 0o600))
	t.Setenv("AWS_ENDPOINT_URL", lab.URL())
	t.Setenv("AWS_CA_BUNDLE", ca)
	as := func(key aws.Credentials) {
		t.Setenv("AWS_ACCESS_KEY_ID", key.AccessKeyID)
		t.Setenv("AWS_SECRET_ACCESS_KEY", key.SecretAccessKey)
	}
	hub := must.Get(core.ParseARN("arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"))(t)
	role := core.RoleName(suffix)
	look := func() hubjoin.AWS { return hubAccessOf(t.Context(), hub, role) }

	as(lab.Administrator(account))
	if diff := cmp.Diff(hubjoin.AWS{Account: account}, look()); diff != "" {
		t.Errorf("before there is anything (-want +got):\n%s", diff)
	}
	const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"pods.eks.amazonaws.com"}}]}`
	arn := lab.Role(account, role, trust, "")
	_, err := eks.NewFromConfig(lab.As(lab.Administrator(account))).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{
		ClusterName: aws.String("eks-hub"), PrincipalArn: &arn, Username: aws.String("onprem-1"), KubernetesGroups: []string{core.Group("onprem-1")},
		Tags: map[string]string{"a": "b"},
	})
	must.Do(t, err)
	seen := look()
	want := hubjoin.Entry{Exists: true, Username: "onprem-1", Groups: []string{core.Group("onprem-1")}, Type: "STANDARD", Tags: map[string]string{"a": "b"}}
	if diff := cmp.Diff(want, seen.Entry); diff != "" || !seen.Role.Exists || !strings.HasPrefix(seen.Role.ID, "AROA") || !core.SamePolicy(seen.Role.Trust, trust) {
		t.Errorf("the role is %+v, the entry (-want +got):\n%s", seen.Role, diff)
	}
	as(lab.Administrator(other))
	if diff := cmp.Diff(hubjoin.AWS{Account: other}, look()); diff != "" {
		t.Errorf("in another account (-want +got):\n%s", diff)
	}
	lab.User(account, "nobody", `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`)
	as(lab.Key(account, "nobody"))
	if got := look(); got.Account != account || !strings.Contains(got.Role.Trouble, "AccessDenied") || !strings.Contains(got.Entry.Trouble, "AccessDenied") {
		t.Errorf("without rights it is %+v", got)
	}
	as(aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "x"})
	if got := look(); got.Trouble == "" || got.Account != "" {
		t.Errorf("with credentials that are none it is %+v", got)
	}
}
