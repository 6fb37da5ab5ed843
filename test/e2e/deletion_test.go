package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/test/onlab"
)

func TestDeletionWaitsForTheTrustOfRoles(t *testing.T) {
	s := lab(t, afterOperator)
	if err := s.createRole(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.deletionDeletes(t, "")
	if _, err := s.Kubectl(t.Context(), "delete", "oidcissuer", issuerName, "--wait=false"); err != nil {
		t.Fatal(err)
	}
	s.waitForTheRolesName(t)
	if got := s.providers(t); got != 1 {
		t.Fatalf("%d providers are left while a role trusts it, expected 1", got)
	}
	s.deleteRole(t)
	if _, err := s.Kubectl(t.Context(), "annotate", "oidcissuer", issuerName, "tabard.dev/look=now"); err != nil {
		t.Fatal(err)
	}
	err := onlab.Eventually(t.Context(), 2*time.Minute, func(ctx context.Context) error {
		switch _, err := s.issuer(ctx); {
		case missing(err):
			return nil
		case err != nil:
			return err
		}
		return errors.New("the OIDCIssuer is still there")
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.providers(t); got != 0 {
		t.Errorf("%d providers are left, expected none", got)
	}
	tags, err := s3.NewFromConfig(s.admin).GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: aws.String(s.Env["TABARD_ISSUER_BUCKET"])})
	if err != nil {
		t.Fatalf("the bucket that Tabard created is not kept for its name: %v", err)
	}
	if !slices.ContainsFunc(tags.TagSet, func(tag s3types.Tag) bool { return aws.ToString(tag.Key) == core.TombstoneTag }) {
		t.Errorf("the bucket's tags are %+v, expected %s among them", tags.TagSet, core.TombstoneTag)
	}
}

// TestAPersonCarriesADeletionOn gives the bucket's name up while the operator is
// away: a person's session does what the object in the cluster says.
func TestAPersonCarriesADeletionOn(t *testing.T) {
	s := lab(t, afterOperator)
	if err := s.createRole(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.deletionDeletes(t, "      releaseName: true\n")
	if _, err := s.Kubectl(t.Context(), "delete", "oidcissuer", issuerName, "--wait=false"); err != nil {
		t.Fatal(err)
	}
	s.waitForTheRolesName(t)
	s.stop(t, "tabard-issuer")
	out, err := s.RunTabard(t.Context(), "issuer", "bootstrap", "-f", s.issuerManifest())
	if refused, is := errors.AsType[*onlab.RefusedError](err); !is || !strings.Contains(refused.Stderr, roleName) {
		t.Fatalf("while a role trusts the issuer it ended with %v, expected it to name the role\n%s", err, out)
	}
	s.deleteRole(t)
	if out, err = s.RunTabard(t.Context(), "issuer", "bootstrap", "-f", s.issuerManifest()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := s.issuer(t.Context()); !missing(err) {
		t.Errorf("the OIDCIssuer is still there (%v)", err)
	}
	if got := s.providers(t); got != 0 {
		t.Errorf("%d providers are left, expected none", got)
	}
	_, err = s3.NewFromConfig(s.admin).HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String(s.Env["TABARD_ISSUER_BUCKET"])})
	if err == nil {
		t.Error("the bucket is still there, though its name is given up")
	}
}

// waitForTheRolesName waits until a condition names the workload's role.
func (s *Story) waitForTheRolesName(t *testing.T) {
	t.Helper()
	err := onlab.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		issuer, err := s.issuer(ctx)
		if err != nil {
			return err
		}
		for _, c := range issuer.Status.Conditions {
			if strings.Contains(c.Message, roleName) {
				return nil
			}
		}
		return fmt.Errorf("no condition names the role %s: %+v", roleName, issuer.Status.Conditions)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// deletionDeletes changes the deletion policy, and has the operator's role get
// the rights for it. More may stand under publication.s3.
func (s *Story) deletionDeletes(t *testing.T, publication string) {
	t.Helper()
	text, err := os.ReadFile(s.issuerManifest())
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "spec:\n", "spec:\n  deletionPolicy: Delete\n", 1)
	changed = strings.Replace(changed, "    s3:\n", "    s3:\n"+publication, 1)
	if err := os.WriteFile(s.issuerManifest(), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Kubectl(t.Context(), "apply", "-f", s.issuerManifest()); err != nil {
		t.Fatal(err)
	}
	if out, err := s.RunTabard(t.Context(), "issuer", "bootstrap", "-f", s.issuerManifest()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (s *Story) providers(t *testing.T) int {
	t.Helper()
	list, err := iam.NewFromConfig(s.admin).ListOpenIDConnectProviders(t.Context(), &iam.ListOpenIDConnectProvidersInput{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.OpenIDConnectProviderList)
}

func (s *Story) deleteRole(t *testing.T) {
	t.Helper()
	client := iam.NewFromConfig(s.admin)
	_, err := client.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{RoleName: aws.String(roleName), PolicyName: aws.String(onlab.PolicyName)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String(roleName)}); err != nil {
		t.Fatal(err)
	}
}
