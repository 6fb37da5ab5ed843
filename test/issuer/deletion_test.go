package issuer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
	"github.com/tabard-dev/tabard/test/e2e"
)

// testDeletion is of the operator's part in a deletion.
func (s scenario) testDeletion() {
	s.tell(afterOperator, afterRole)
	s.deleteWithTrust("")
	s.wantProviders(1)
	s.deleteRole(e2e.RoleName, onlab.PolicyName)
	s.look()
	s.gone()
	s.wantProviders(0)
	tags, err := s3.NewFromConfig(s.Admin).GetBucketTagging(s.Context(), &s3.GetBucketTaggingInput{Bucket: aws.String(s.Env["TABARD_ISSUER_BUCKET"])})
	if err != nil {
		s.Fatalf("the bucket that Tabard created is not kept for its name: %v", err)
	}
	if !slices.ContainsFunc(tags.TagSet, func(tag s3types.Tag) bool { return aws.ToString(tag.Key) == core.TombstoneTag }) {
		s.Errorf("the bucket's tags are %+v, expected %s among them", tags.TagSet, core.TombstoneTag)
	}
}

// testDeletionByAPerson gives the bucket's name up while the operator is away: a
// person's session does what the object in the cluster says.
func (s scenario) testDeletionByAPerson() {
	s.tell(afterOperator, afterRole)
	s.deleteWithTrust("      releaseName: true\n")
	s.stopOperator()
	out, err := s.bootstrap()
	if refused, is := errors.AsType[*onlab.RefusedError](err); !is || !strings.Contains(refused.Stderr, e2e.RoleName) {
		s.Fatalf("while a role trusts the issuer it ended with %v, expected it to name the role\n%s", err, out)
	}
	s.deleteRole(e2e.RoleName, onlab.PolicyName)
	s.must(s.bootstrap())
	if _, err := s.Issuer(s.Context()); !apierrors.IsNotFound(err) {
		s.Errorf("the OIDCIssuer is still there (%v)", err)
	}
	s.wantProviders(0)
	_, err = s3.NewFromConfig(s.Admin).HeadBucket(s.Context(), &s3.HeadBucketInput{Bucket: aws.String(s.Env["TABARD_ISSUER_BUCKET"])})
	if err == nil {
		s.Error("the bucket is still there, though its name is given up")
	}
}

// deleteWithTrust deletes the OIDCIssuer with what belongs to it in AWS, by rights that
// the operator's role gets before, while the workload's role trusts the provider; and
// waits until a condition names that role. More may stand under publication.s3.
func (s scenario) deleteWithTrust(publication string) {
	s.Helper()
	text, err := os.ReadFile(s.IssuerManifest())
	s.must("", err)
	changed := strings.Replace(string(text), "spec:\n", "spec:\n  deletionPolicy: Delete\n", 1)
	changed = strings.Replace(changed, "    s3:\n", "    s3:\n"+publication, 1)
	s.must("", os.WriteFile(s.IssuerManifest(), []byte(changed), 0o600))
	s.must(s.Kubectl(s.Context(), "apply", "-f", s.IssuerManifest()))
	s.must(s.bootstrap())
	s.must(s.Kubectl(s.Context(), "delete", "oidcissuer", e2e.IssuerName, "--wait=false"))
	s.must("", s.until(func(issuer v1alpha1.OIDCIssuer) error {
		for _, c := range issuer.Status.Conditions {
			if strings.Contains(c.Message, e2e.RoleName) {
				return nil
			}
		}
		return fmt.Errorf("no condition names the role %s: %+v", e2e.RoleName, issuer.Status.Conditions)
	}))
}

// deleteRole deletes one that has one policy.
func (s scenario) deleteRole(name, policy string) {
	s.Helper()
	client := iam.NewFromConfig(s.Admin)
	_, err := client.DeleteRolePolicy(s.Context(), &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: &policy})
	s.must("", err)
	_, err = client.DeleteRole(s.Context(), &iam.DeleteRoleInput{RoleName: &name})
	s.must("", err)
}
