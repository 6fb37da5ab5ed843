package iam

import (
	"net/url"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

// list is written even when it is empty: clients in some languages expect the
// element.
type list[T any] struct {
	Members []T `xml:"member"`
}

type roleElement struct {
	Path                     string
	RoleName                 string
	RoleId                   string //nolint:revive // the name is the wire's
	Arn                      string
	CreateDate               string
	AssumeRolePolicyDocument string
	Description              string `xml:",omitempty"`
	MaxSessionDuration       int
	PermissionsBoundary      *boundaryElement `xml:",omitempty"`
	Tags                     *list[query.Tag] `xml:",omitempty"`
	// RoleLastUsed is in the answer to GetRole only.
	RoleLastUsed *roleLastUsed `xml:",omitempty"`
}

// roleLastUsed is empty for a role that was never used.
type roleLastUsed struct {
	LastUsedDate string `xml:",omitempty"`
	Region       string `xml:",omitempty"`
}

type boundaryElement struct {
	PermissionsBoundaryType string
	PermissionsBoundaryArn  string
}

type roleResult struct{ Role roleElement }

type rolesResult struct {
	Roles list[roleElement]
	query.PageEnd
}

type namesResult struct {
	PolicyNames list[string]
	query.PageEnd
}

type policyResult struct {
	RoleName       string `xml:",omitempty"`
	UserName       string `xml:",omitempty"`
	PolicyName     string
	PolicyDocument string
}

type tagsResult struct {
	Tags list[query.Tag]
	query.PageEnd
}

type instanceProfilesResult struct {
	InstanceProfiles list[string]
	query.PageEnd
}

type aliasesResult struct {
	AccountAliases list[string]
	query.PageEnd
}

type createProviderResult struct {
	OpenIDConnectProviderArn string
	Tags                     *list[query.Tag] `xml:",omitempty"`
}

type providerResult struct {
	Url            string //nolint:revive // the name is the wire's
	ClientIDList   list[string]
	ThumbprintList list[string]
	CreateDate     string
	Tags           *list[query.Tag] `xml:",omitempty"`
}

type providerEntry struct{ Arn string }

type providersResult struct {
	OpenIDConnectProviderList list[providerEntry]
}

type userElement struct {
	Path       string
	UserName   string
	UserId     string //nolint:revive // the name is the wire's
	Arn        string
	CreateDate string
	// The last two are left out of lists.
	PermissionsBoundary *boundaryElement `xml:",omitempty"`
	Tags                *list[query.Tag] `xml:",omitempty"`
}

type userResult struct{ User userElement }

type usersResult struct {
	Users list[userElement]
	query.PageEnd
}

type empty struct{}

func listOf[T any](members []T) list[T] { return list[T]{Members: members} }

func tagList(t tags) *list[query.Tag] {
	if len(t) == 0 {
		return nil
	}
	return &list[query.Tag]{Members: t}
}

// escapePolicy is RFC 3986 percent encoding, which IAM applies to the policies
// in its answers.
func escapePolicy(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

func (r *request) roleElement(of *role) roleElement {
	return roleElement{
		Path: of.path, RoleName: of.name, RoleId: of.id, Arn: of.arn(),
		CreateDate:               query.Time(of.created),
		AssumeRolePolicyDocument: escapePolicy(of.trust.effective(r.uniqueID, r.newARN).text),
		Description:              of.description,
		MaxSessionDuration:       of.maxSession,
	}
}

func wireUser(of *user) userElement {
	return userElement{Path: of.path, UserName: of.name, UserId: of.id, Arn: of.arn(), CreateDate: query.Time(of.created)}
}

// roleInFull has what lists of roles leave out, too.
func (r *request) roleInFull(of *role) roleElement {
	element := r.roleElement(of)
	element.PermissionsBoundary, element.Tags = wireBoundary(of.boundary), tagList(of.tags)
	return element
}

// wireUserInFull has what lists of users leave out, too.
func wireUserInFull(of *user) userElement {
	element := wireUser(of)
	element.PermissionsBoundary, element.Tags = wireBoundary(of.boundary), tagList(of.tags)
	return element
}

func wireBoundary(policy *managed) *boundaryElement {
	if policy == nil {
		return nil
	}
	return &boundaryElement{PermissionsBoundaryType: "PermissionsBoundaryPolicy", PermissionsBoundaryArn: policy.arn()}
}

type keyElement struct {
	UserName        string
	AccessKeyId     string //nolint:revive // the name is the wire's
	Status          string
	SecretAccessKey string `xml:",omitempty"`
	CreateDate      string
}

type keyResult struct{ AccessKey keyElement }

type keysResult struct {
	AccessKeyMetadata list[keyElement]
	query.PageEnd
}

type lastUsedElement struct {
	LastUsedDate string `xml:",omitempty"`
	ServiceName  string
	Region       string
}

type lastUsedResult struct {
	UserName          string
	AccessKeyLastUsed lastUsedElement
}

func wireKey(of *user, key *accessKey) keyElement {
	return keyElement{UserName: of.name, AccessKeyId: key.ID, Status: key.status(), CreateDate: query.Time(key.created)}
}
