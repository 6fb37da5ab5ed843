package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// The second chapter's names are those of examples/credentials/bucket-team.
const (
	reports       = "reports"
	writer        = "writer"
	reportsBucket = "example-data"
	annotation    = "eks.amazonaws.com/role-arn"
	widening      = "everything"
)

// Credentials are the steps of the second chapter, on CredentialsRequests. They build on
// the first.
func Credentials() []Step {
	return []Step{
		{"An administrator gives a team's namespace a boundary", (*Story).allowTeam},
		{"The team, which has no rights in AWS, asks: its ServiceAccount has a role", (*Story).askForRole},
		{"A pod of it does what was asked for, and nothing more", (*Story).useRole},
		{"What others change is put back", (*Story).drift},
		{"The request is deleted, and nothing is left of it", (*Story).deleteRequest},
	}
}

// allowTeam bootstraps the controller and applies the shipped boundary. The first chapter
// ended with a deleted provider, which the issuer's controller puts back when it looks:
// the annotation has it look now.
func (s *Story) allowTeam(ctx context.Context) error {
	if _, err := s.Kubectl(ctx, "annotate", "oidcissuer", IssuerName, "tabard.dev/look=again", "--overwrite"); err != nil {
		return err
	}
	if err := s.providerBack(ctx); err != nil {
		return err
	}
	if _, err := s.Kubectl(ctx, "apply", "-f", filepath.Join(s.Root, "config", "manifests", "credentials")); err != nil {
		return err
	}
	said, err := s.RunTabard(ctx, "credentials", "bootstrap", "--infrastructure-name", "lab")
	if err != nil {
		return err
	}
	s.say("%s", said)
	config, err := s.kube.CoreV1().ConfigMaps(system).Get(ctx, "tabard-credentials", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := s.detach(ctx, "tabard-credentials", "deployment/tabard-credentials", "operator", "--controllers=credentials",
		"--service-account=tabard-credentials", "--infrastructure-name=lab", "--credentials-permissions-boundary="+config.Data["boundaryARN"],
		"--metrics-bind-address=0", "--health-probe-bind-address=0"); err != nil {
		return err
	}
	if err := s.CreateBucket(ctx, reportsBucket); err != nil {
		return err
	}
	if _, err := s.Kubectl(ctx, "create", "namespace", reports); err != nil {
		return err
	}
	s.say("requests of the namespace %s may ask for s3://%s/%s/*", reports, reportsBucket, reports)
	return s.example(ctx, "boundary")
}

// providerBack waits until AWS knows the issuer again.
func (s *Story) providerBack(ctx context.Context) error {
	provider := &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(s.ProviderARN(s.AccountID))}
	return onlab.Eventually(ctx, onlab.Patience, func(ctx context.Context) error {
		_, err := iam.NewFromConfig(s.Admin).GetOpenIDConnectProvider(ctx, provider)
		return err
	})
}

// example applies a file of the example.
func (s *Story) example(ctx context.Context, name string) error {
	_, err := s.Kubectl(ctx, "apply", "-f", filepath.Join(s.Root, "examples", "credentials", "bucket-team", name+".yaml"))
	return err
}

func (s *Story) askForRole(ctx context.Context) error {
	if err := s.example(ctx, "fits"); err != nil {
		return err
	}
	if err := s.annotated(ctx); err != nil {
		return err
	}
	role, err := iam.NewFromConfig(s.Admin).GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(s.roleName())})
	if err != nil {
		return err
	}
	s.say("ServiceAccount %s/%s has the role %s", reports, writer, s.role)
	s.say("its permissions boundary is %s", aws.ToString(role.Role.PermissionsBoundary.PermissionsBoundaryArn))
	return nil
}

// annotated waits until the ServiceAccount names a role.
func (s *Story) annotated(ctx context.Context) error {
	err := onlab.Eventually(ctx, onlab.Patience, func(ctx context.Context) error {
		account, err := s.kube.CoreV1().ServiceAccounts(reports).Get(ctx, writer, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if s.role = account.Annotations[annotation]; s.role == "" {
			return fmt.Errorf("ServiceAccount %s/%s has no role", reports, writer)
		}
		return nil
	})
	if err != nil {
		said, _ := s.RunTabard(ctx, "credentials", "describe", writer, "-n", reports, "--infrastructure-name", "lab")
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

func (s *Story) roleName() string { return s.role[strings.LastIndex(s.role, "/")+1:] }

func (s *Story) useRole(ctx context.Context) error {
	if _, err := s.injectedPod(ctx, reports, writer, writer); err != nil {
		return err
	}
	url := "s3://" + reportsBucket + "/" + reports + "/sales/may.txt"
	if _, err := s.programIn(ctx, reports, writer, "put", url, "no key was stored for this"); err != nil {
		return err
	}
	s.say("it wrote %s", url)
	_, err := s.programIn(ctx, reports, writer, "put", "s3://"+reportsBucket+"/"+reports+"/payroll/may.txt", "not asked for")
	if err == nil {
		return errors.New("another prefix was not refused")
	}
	s.say("another prefix: %s", awsText(err))
	if want := "is not authorized to perform: s3:PutObject"; !strings.Contains(err.Error(), want) {
		return fmt.Errorf("another prefix was refused with %w, expected %q", err, want)
	}
	return nil
}

// drift takes the annotation away, and widens the role.
func (s *Story) drift(ctx context.Context) error {
	want, began := s.role, time.Now()
	if _, err := s.Kubectl(ctx, "annotate", "-n", reports, "serviceaccount", writer, annotation+"-"); err != nil {
		return err
	}
	if err := s.annotated(ctx); err != nil {
		return err
	}
	if s.role != want {
		return fmt.Errorf("the ServiceAccount has the role %s now, expected %s", s.role, want)
	}
	s.say("the annotation is back %.1f s after somebody took it away", time.Since(began).Seconds())
	client := iam.NewFromConfig(s.Admin)
	everything := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	if _, err := client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String(s.roleName()), PolicyName: aws.String(widening), PolicyDocument: &everything}); err != nil {
		return err
	}
	if _, err := s.RunTabard(ctx, "credentials", "resync", writer, "-n", reports); err != nil {
		return err
	}
	return onlab.Eventually(ctx, onlab.Patience, func(ctx context.Context) error {
		policies, err := client.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: aws.String(s.roleName())})
		if err != nil {
			return err
		}
		if len(policies.PolicyNames) != 1 {
			return fmt.Errorf("the role has the policies %q, expected one", policies.PolicyNames)
		}
		return s.driftTold(ctx)
	})
}

// driftTold looks for the event that says what was changed.
func (s *Story) driftTold(ctx context.Context) error {
	said, err := s.Kubectl(ctx, "get", "events.events.k8s.io", "-n", reports, "-o", "json")
	if err != nil {
		return err
	}
	var events struct {
		Items []struct{ Reason, Note string }
	}
	if err := json.Unmarshal([]byte(said), &events); err != nil {
		return err
	}
	for _, event := range events.Items {
		if event.Reason == "RoleDrift" && strings.Contains(event.Note, widening) {
			s.say("event: %s", event.Note)
			return nil
		}
	}
	return fmt.Errorf("no event tells that the policy %s was added", widening)
}

func (s *Story) deleteRequest(ctx context.Context) error {
	if _, err := s.Kubectl(ctx, "delete", "credentialsrequest", writer, "-n", reports, "--timeout=60s"); err != nil {
		return err
	}
	_, err := iam.NewFromConfig(s.Admin).GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(s.roleName())})
	if _, gone := errors.AsType[*iamtypes.NoSuchEntityException](err); !gone {
		return fmt.Errorf("the role %s: %w, expected that it is gone", s.role, err)
	}
	s.say("AWS says: %s", awsText(err))
	if _, err := s.kube.CoreV1().ServiceAccounts(reports).Get(ctx, writer, metav1.GetOptions{}); !missing(err) {
		return fmt.Errorf("the ServiceAccount %s/%s, which Tabard made: %w, expected that it is gone", reports, writer, err)
	}
	grants, err := s.Kubectl(ctx, "get", "credentialsgrants", "-o", "name")
	if err == nil && strings.TrimSpace(grants) != "" {
		return fmt.Errorf("there are %s, expected none", grants)
	}
	return err
}
