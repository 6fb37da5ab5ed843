package issuer

import (
	"cmp"
	"fmt"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// What bootstrap calls the role's policy and the role.
const (
	PolicyName      = "publish-issuer"
	RoleDescription = "Publishes the token issuer of a Kubernetes cluster (Tabard)"
)

// Handoff is what a bootstrap makes in the operator's own account, for somebody else to
// make. The documents are no part of it: they hold the cluster's keys.
func Handoff(issuer *v1alpha1.OIDCIssuer, account string, operator core.Subject, wish ownrole.Wish) handoff.Work {
	spec := issuer.Spec
	s3 := spec.Publication.S3
	public := s3.PublicRead != v1alpha1.PublicReadNone
	work := handoff.Work{
		About: []string{fmt.Sprintf("What Tabard needs in account %s for the OIDCIssuer %s, %s.", account, issuer.Name, spec.URL)},
		Owner: handoff.Tag{Key: core.OwnerTag, Value: spec.URL},
	}
	about := func(format string, args ...any) { work.About = append(work.About, fmt.Sprintf(format, args...)) }
	switch {
	case s3.Create:
		bucket := handoff.Bucket{Name: s3.Bucket, Region: s3.Region, AllowPublicPolicy: public}
		if public {
			bucket.Policy = handoff.Policy(core.PublicReadPolicy(spec))
		}
		work.Buckets = []handoff.Bucket{bucket}
		about("Make it in region %s.", s3.Region)
	case public:
		about("Bucket %s is there already: add to its policy the statement that lets anybody read the two documents, %s.", s3.Bucket, core.PublicReadStatement(spec))
	}
	for _, wanted := range spec.Providers {
		if wanted.AssumeRoleARN != "" {
			about("The provider that %s is asked for is made by the operator itself, or by tabard issuer bootstrap.", wanted.AssumeRoleARN)
			continue
		}
		arn := core.ProviderARN(identity.Partition(s3.Region), account, spec.URL)
		work.Providers = []handoff.Provider{{ARN: arn, URL: spec.URL, Audiences: wanted.Audiences}}
		work.Roles = []handoff.Role{{
			Name: roleName(wish, issuer), Path: wish.Path, Description: RoleDescription, Boundary: wish.Boundary, Tags: handoff.TagsOf(wish.Tags),
			Trust: handoff.Policy(core.TrustPolicy(arn, operator)), PolicyName: PolicyName, Policy: handoff.Policy(core.PermissionPolicy(spec, account)),
		}}
	}
	about("Then publish the first documents: tabard issuer bootstrap -f FILE, with a session that may look at all this and write two objects.")
	return work
}

// roleName is the name of an issuer's role.
func roleName(wish ownrole.Wish, issuer *v1alpha1.OIDCIssuer) string {
	return cmp.Or(wish.Name, core.RoleName(issuer.Name, issuer.Spec.URL))
}
