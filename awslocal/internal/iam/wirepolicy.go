package iam

import "github.com/tabard-dev/tabard/awslocal/internal/query"

type managedElement struct {
	PolicyName                    string
	PolicyId                      string //nolint:revive // the name is the wire's
	Arn                           string
	Path                          string
	DefaultVersionId              string //nolint:revive // the name is the wire's
	AttachmentCount               int
	PermissionsBoundaryUsageCount int
	IsAttachable                  bool
	Description                   string `xml:",omitempty"`
	CreateDate                    string
	UpdateDate                    string
	// The tags and the description are left out of lists.
	Tags *list[query.Tag] `xml:",omitempty"`
}

type managedResult struct{ Policy managedElement }

type managedListResult struct {
	Policies list[managedElement]
	query.PageEnd
}

func wirePolicy(of *managed, used usage) managedElement {
	return managedElement{
		PolicyName: of.name, PolicyId: of.id, Arn: of.arn(), Path: of.path,
		DefaultVersionId: of.versions[of.index(of.standard)].id(),
		AttachmentCount:  used.attached, PermissionsBoundaryUsageCount: used.boundary, IsAttachable: true,
		CreateDate: query.Time(of.created), UpdateDate: query.Time(of.updated),
	}
}

type versionElement struct {
	Document         string `xml:",omitempty"`
	VersionId        string //nolint:revive // the name is the wire's
	IsDefaultVersion bool
	CreateDate       string
}

type versionResult struct{ PolicyVersion versionElement }

type versionsResult struct {
	Versions list[versionElement]
	query.PageEnd
}

func wireVersion(of *managed, version *policyVersion) versionElement {
	return versionElement{VersionId: version.id(), IsDefaultVersion: version.number == of.standard, CreateDate: query.Time(version.created)}
}

type attachedElement struct {
	PolicyName string
	PolicyArn  string
}

type attachedResult struct {
	AttachedPolicies list[attachedElement]
	query.PageEnd
}

type userEntity struct {
	UserName string
	UserId   string //nolint:revive // the name is the wire's
}

type roleEntity struct {
	RoleName string
	RoleId   string //nolint:revive // the name is the wire's
}

// entitiesResult has no groups: there are none here.
type entitiesResult struct {
	PolicyGroups list[struct{}]
	PolicyUsers  list[userEntity]
	PolicyRoles  list[roleEntity]
	query.PageEnd
}
