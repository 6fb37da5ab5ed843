package issuer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
)

// maxRoleName is IAM's limit on role names.
const maxRoleName = 64

// Subject is the ServiceAccount that the operator runs as.
type Subject struct {
	Namespace, ServiceAccount string
	// Audience is that of the operator's projected token.
	Audience string
}

// RoleName is the name of the operator's role for an issuer: the same whoever
// computes it, different for each URL, at most 64 characters of those that IAM
// allows.
func RoleName(name, url string) string {
	sum := sha256.Sum256([]byte(url))
	suffix := "-" + hex.EncodeToString(sum[:4])
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, "tabard-issuer-"+name)
	if most := maxRoleName - len(suffix); len(clean) > most {
		clean = clean[:most]
	}
	return strings.TrimRight(clean, "-") + suffix
}

// TrustPolicy lets exactly one ServiceAccount's tokens, made for one audience,
// become the role.
func TrustPolicy(providerARN string, subject Subject) string {
	statement := iampolicy.WebIdentity(providerARN, subject.Audience, "system:serviceaccount:"+subject.Namespace+":"+subject.ServiceAccount)
	statement.Sid = "OperatorToken"
	return iampolicy.Document{statement}.String()
}

// PermissionPolicy is all that the operator's role may do: write the two
// documents, look at the bucket, keep one statement in its policy, look after
// one provider, and become the roles of other accounts that the spec names.
// Rights to delete are there only if the spec says that deletion deletes, and
// that to give the bucket's name up only if it says that too.
func PermissionPolicy(spec v1alpha1.OIDCIssuerSpec, accountID string) string {
	deletes := spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete
	s3 := spec.Publication.S3
	objects := []string{"s3:GetObject", "s3:PutObject"}
	bucket := []string{"s3:GetBucketPolicy", "s3:GetBucketPublicAccessBlock", "s3:GetBucketTagging", "s3:ListBucket"}
	if s3.PublicRead != v1alpha1.PublicReadNone {
		bucket = append(bucket, "s3:PutBucketPolicy")
	}
	if deletes {
		objects = append(objects, "s3:DeleteObject")
		bucket = append(bucket, "s3:DeleteBucketPolicy", "s3:PutBucketPublicAccessBlock", "s3:PutBucketTagging")
		if s3.ReleaseName {
			bucket = append(bucket, "s3:DeleteBucket")
		}
		slices.Sort(bucket)
	}
	document := iampolicy.Document{
		{Sid: "Documents", Actions: objects, Resources: documentARNs(s3)},
		{Sid: "Bucket", Actions: bucket, Resources: []string{bucketARN(s3)}},
	}
	return append(document, providerRights(spec, accountID, deletes)...).String()
}

// literal writes what stands for itself in the Resource of a policy, as a role's path
// may have it (IAM User Guide: "IAM policy elements: Variables and tags", special
// characters).
var literal = strings.NewReplacer("*", "${*}", "?", "${?}", "$", "${$}")

func providerRights(spec v1alpha1.OIDCIssuerSpec, accountID string, deletes bool) (out iampolicy.Document) {
	var roles []string
	own := false
	for _, provider := range spec.Providers {
		if provider.AssumeRoleARN != "" {
			roles = append(roles, literal.Replace(provider.AssumeRoleARN))
			continue
		}
		own = true
	}
	var actions []string
	if own {
		actions = []string{
			"iam:AddClientIDToOpenIDConnectProvider", "iam:CreateOpenIDConnectProvider", "iam:GetOpenIDConnectProvider",
			"iam:RemoveClientIDFromOpenIDConnectProvider", "iam:TagOpenIDConnectProvider",
		}
	}
	if deletes { // the account's own provider is looked at whatever the spec says
		actions = append(actions, "iam:DeleteOpenIDConnectProvider", "iam:GetOpenIDConnectProvider")
	}
	if slices.Sort(actions); len(actions) > 0 {
		arn := ProviderARN(identity.Partition(spec.Publication.S3.Region), accountID, spec.URL)
		out = append(out, iampolicy.Statement{Sid: "Provider", Actions: slices.Compact(actions), Resources: []string{arn}})
	}
	if deletes {
		out = append(out, iampolicy.Statement{Sid: "TrustOfRoles", Actions: []string{"iam:ListRoles"}, Resources: []string{"*"}})
	}
	if len(roles) > 0 {
		out = append(out, iampolicy.Statement{Sid: "OtherAccounts", Actions: []string{"sts:AssumeRole"}, Resources: roles})
	}
	return out
}
