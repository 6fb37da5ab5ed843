package credentials

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Minter is what the controller needs in AWS: the role that it becomes, and the policy
// that bounds all roles that it makes. Its documents are the same whoever computes them.
type Minter struct {
	// Partition and Account are where roles are made.
	Partition, Account string
	// Infrastructure is the cluster's name in the cloud: names of roles begin with it.
	Infrastructure string
	// Paths are those of the roles that it may make, each with a slash at both ends. The
	// first is the one of the boundary policy too.
	Paths []string
	// Boundaries are the ARNs of further policies that may bound roles.
	Boundaries []string
	// Buckets are the names of the issuers' buckets, Providers the ARNs of their providers
	// in IAM, Roles the ARNs of Tabard's other roles. No role that it makes may change them.
	Buckets, Providers, Roles []string
}

// The endings of the names of the minter's policy and role, behind the infrastructure.
const (
	boundarySuffix = "-tabard-boundary"
	minterSuffix   = "-tabard-credentials"
)

// MinterTag is on the minter's role and on the boundary policy, with the infrastructure as
// value. It is none by which roles are the controller's: see ClusterTag.
const MinterTag = "tabard.dev/credentials"

// MinterPolicyName is the name of the inline policy of the minter's role.
const MinterPolicyName = "make-roles"

// RoleName is the name of the role that the controller becomes. Its path is "/", so that
// it is none that the controller may change.
func (m Minter) RoleName() string { return m.Infrastructure + minterSuffix }

// RoleARN is its ARN.
func (m Minter) RoleARN() string { return m.arn("role/" + m.RoleName()) }

// BoundaryName is the name of the policy that bounds roles, BoundaryPath its path.
func (m Minter) BoundaryName() string { return m.Infrastructure + boundarySuffix }

// BoundaryPath is the path of the policy that bounds roles.
func (m Minter) BoundaryPath() string { return m.Paths[0] }

// BoundaryARN is its ARN.
func (m Minter) BoundaryARN() string {
	return m.arn("policy" + m.BoundaryPath() + m.BoundaryName())
}

func (m Minter) arn(resource string) string {
	return identity.ARN{Partition: m.Partition, Service: "iam", Account: m.Account, Resource: resource}.String()
}

// rule is one statement, with the elements that iampolicy.Statement does not write.
type rule struct {
	Sid, Effect       string
	Action, NotAction []string `json:",omitempty"`
	Resource          []string
	Condition         map[string]map[string][]string `json:",omitempty"`
}

func document(rules []rule) string {
	return Encoded(struct {
		Version   string
		Statement []rule
	}{"2012-10-17", rules})
}

// fitting is a document, or says by how much it is too long for AWS.
func fitting(what string, quota iampolicy.Quota, document string, advice string) (string, error) {
	room, err := iampolicy.RoomIn(quota, []byte(document))
	if err == nil && room.Left < 0 {
		err = fmt.Errorf("%s has %d characters, and AWS allows %d: %s", what, room.Used, room.Limit, advice)
	}
	return document, err
}

// reads are the actions by which nothing is changed.
var reads = []string{"iam:Get*", "iam:List*", "s3:Get*", "s3:List*"}

// BoundaryPolicy bounds every role that the controller makes: whatever such a role's own
// policy says, it changes no issuer's bucket or provider, is nobody of Tabard's, and
// makes nobody who has no such bound. The error says that AWS would refuse it for its
// length.
func (m Minter) BoundaryPolicy() (string, error) {
	own := append([]string{m.RoleARN()}, m.Roles...)
	kept := []string{m.arn("user/*"), m.arn("group/*"), m.arn("saml-provider/*"), m.arn("policy/*" + boundarySuffix)}
	kept = slices.Concat(kept, m.Boundaries, m.Providers)
	for _, bucket := range m.Buckets {
		arn := identity.ARN{Partition: m.Partition, Service: "s3", Resource: bucket}.String()
		kept = append(kept, arn, arn+"/*")
	}
	unbound := map[string]map[string][]string{"StringNotEquals": {"iam:PermissionsBoundary": m.allowedBoundaries()}}
	text := document([]rule{
		{Sid: "Anything", Effect: "Allow", Action: []string{"*"}, Resource: []string{"*"}},
		{Sid: "NotTheIssuersOrPeople", Effect: "Deny", NotAction: reads, Resource: kept},
		{Sid: "NotTabardItself", Effect: "Deny", Action: []string{"iam:*", "sts:*"}, Resource: own},
		{
			Sid: "NotBeyondThisBound", Effect: "Deny", Condition: unbound, Resource: []string{"*"},
			Action: []string{"iam:AttachRolePolicy", "iam:CreateRole", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy"},
		},
		// Neither of these knows the bound of the role that it changes.
		{Sid: "NotOutOfThisBound", Effect: "Deny", Action: []string{"iam:DeleteRolePermissionsBoundary", "iam:UpdateAssumeRolePolicy"}, Resource: []string{"*"}},
		{
			// By these tags the minter knows its own roles.
			Sid: "NotByTabardsTags", Effect: "Deny", Action: []string{"iam:CreateRole", "iam:TagRole", "iam:UntagRole"}, Resource: []string{"*"},
			Condition: map[string]map[string][]string{"ForAnyValue:StringEqualsIgnoreCase": {"aws:TagKeys": {ClusterTag, OwnerTag}}},
		},
	})
	return fitting("the boundary policy", iampolicy.ManagedQuota, text,
		fmt.Sprintf("it names the buckets of %d issuers and %d policies: delete issuers that are no longer used", len(m.Buckets), len(m.Boundaries)))
}

func (m Minter) allowedBoundaries() []string {
	return append([]string{m.BoundaryARN()}, m.Boundaries...)
}

// PermissionPolicy is all that the controller may do: make roles of the cluster's prefix
// in its paths, under a bound; change those that carry the cluster's tag; and read. The
// prefix alone is not enough: that of a cluster "prod" is one of "prod-eu" too.
//
// Attaching policies is not among it, and making tags is limited by the cluster's tag
// only: IAM cannot tell a role that is being made from one without tags (IAM: "Actions,
// resources, and condition keys"). So nothing but Tabard may make roles in these paths.
func (m Minter) PermissionPolicy() (string, error) {
	var roles []string
	for _, path := range m.Paths {
		roles = append(roles, m.arn("role"+path+m.Infrastructure+"-*"))
	}
	// IAM judges a look at an absent role by its name without a path.
	seen := append(slices.Clone(roles), m.arn("role/"+m.Infrastructure+"-*"))
	all := []string{"*"}
	bounds := m.allowedBoundaries()
	given, carried := "aws:RequestTag/"+ClusterTag, "aws:ResourceTag/"+ClusterTag
	cluster := []string{m.Infrastructure}
	text := document([]rule{
		{
			Sid: "MakeUnderABound", Effect: "Allow", Action: []string{"iam:CreateRole"}, Resource: roles,
			Condition: map[string]map[string][]string{"StringEquals": {"iam:PermissionsBoundary": bounds, given: cluster}},
		}, {
			Sid: "Tag", Effect: "Allow", Action: []string{"iam:TagRole"}, Resource: roles,
			Condition: map[string]map[string][]string{"StringEquals": {given: cluster}, "StringEqualsIfExists": {carried: cluster}},
		}, {
			Sid: "PermitUnderABound", Effect: "Allow", Action: []string{"iam:PutRolePermissionsBoundary", "iam:PutRolePolicy"}, Resource: roles,
			Condition: map[string]map[string][]string{"StringEquals": {"iam:PermissionsBoundary": bounds, carried: cluster}},
		}, {
			Sid: "KeepOwnRoles", Effect: "Allow", Resource: roles,
			Action:    []string{"iam:DeleteRole", "iam:DeleteRolePolicy", "iam:DetachRolePolicy", "iam:UpdateAssumeRolePolicy", "iam:UpdateRole"},
			Condition: map[string]map[string][]string{"StringEquals": {carried: cluster}},
		},
		{Sid: "LookAtRoles", Effect: "Allow", Action: []string{"iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"}, Resource: seen},
		{Sid: "LookAtAll", Effect: "Allow", Action: []string{"iam:GetAccountAuthorizationDetails", "iam:GetAccountSummary", "iam:ListOpenIDConnectProviders", "iam:ListRoles"}, Resource: all},
		{Sid: "LookAtBounds", Effect: "Allow", Action: []string{"iam:GetPolicy", "iam:GetPolicyVersion"}, Resource: bounds},
		{Sid: "LookAtIssuers", Effect: "Allow", Action: []string{"iam:GetOpenIDConnectProvider"}, Resource: []string{m.arn("oidc-provider/*")}},
		{Sid: "NeverUnbound", Effect: "Deny", Action: []string{"iam:DeleteRolePermissionsBoundary"}, Resource: all},
		{
			Sid: "NeverTabardItself", Effect: "Deny", NotAction: []string{"iam:Get*", "iam:List*"},
			Resource: slices.Concat([]string{m.RoleARN()}, m.Roles, []string{m.arn("policy/*")}),
		},
	})
	return fitting("the policy of the role "+m.RoleName(), iampolicy.RoleInlineQuota, text,
		fmt.Sprintf("it names %d paths and %d policies: name fewer", len(m.Paths), len(m.Boundaries)))
}

// MinterTrust lets the tokens of one ServiceAccount of the providers' issuers become the
// minter's role. The error says that AWS would refuse it for its length.
func MinterTrust(providers []string, namespace, account string) (string, error) {
	var out iampolicy.Document
	for _, arn := range providers {
		out = append(out, iampolicy.WebIdentity(arn, audienceSTS, "system:serviceaccount:"+namespace+":"+account))
	}
	return fitting("the trust policy", iampolicy.TrustQuota, Encoded(out), fmt.Sprintf("it names %d issuers: delete those that are no longer used", len(providers)))
}
