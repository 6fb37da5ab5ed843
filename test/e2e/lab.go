package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// controlPlane starts the lab and asks the API server for its version.
func (s *Story) controlPlane(ctx context.Context) error {
	err := s.Up(ctx)
	if err != nil {
		return err
	}
	if s.rest, err = clientcmd.BuildConfigFromFlags("", s.Env["KUBECONFIG"]); err != nil {
		return err
	}
	if s.kube, err = kubernetes.NewForConfig(s.rest); err != nil {
		return err
	}
	version, err := s.kube.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	s.say("API server %s at %s", version.GitVersion, s.rest.Host)
	s.say("its tokens will say iss = %s", s.Env["TABARD_ISSUER_URL"])
	return nil
}

// emptyAccount lists what the account holds: nothing.
func (s *Story) emptyAccount(ctx context.Context) error {
	var err error
	if s.Admin, err = s.Config(s.Administrator()); err != nil {
		return err
	}
	caller, err := sts.NewFromConfig(s.Admin).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return err
	}
	s.AccountID = aws.ToString(caller.Account)
	roles, err := iam.NewFromConfig(s.Admin).ListRoles(ctx, &iam.ListRolesInput{})
	if err != nil {
		return err
	}
	providers, err := iam.NewFromConfig(s.Admin).ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{})
	if err != nil {
		return err
	}
	buckets, err := s3.NewFromConfig(s.Admin).ListBuckets(ctx, &s3.ListBucketsInput{})
	if err != nil {
		return err
	}
	found := len(roles.Roles) + len(providers.OpenIDConnectProviderList) + len(buckets.Buckets)
	s.say("%s: %d roles, %d OIDC providers, %d buckets", aws.ToString(caller.Arn),
		len(roles.Roles), len(providers.OpenIDConnectProviderList), len(buckets.Buckets))
	if found != 0 {
		return fmt.Errorf("the account is not empty: take the old lab down with tabard lab down --dir %s", s.Dir)
	}
	return nil
}

// install applies Tabard's own manifests.
func (s *Story) install(ctx context.Context) error {
	for _, folder := range []string{"crd", "manifests", "rbac"} {
		if _, err := s.Kubectl(ctx, "apply", "-f", filepath.Join(s.Root, "config", folder)); err != nil {
			return err
		}
	}
	// No pod network reaches a lab's processes, so its webhook is called by URL.
	_, err := s.Kubectl(ctx, "apply", "-f", filepath.Join(s.Dir, "manifests", "webhook.yaml"))
	return err
}

// environmentOf reads a process's environment as the kernel has it.
func environmentOf(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return strings.Split(string(text), "\x00"), err
}
