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
	Tags                     *list[query.Tag] `xml:",omitempty"`
}

type roleResult struct{ Role roleElement }

// pageEnd closes a paginated result.
type pageEnd struct {
	IsTruncated bool
	Marker      string `xml:",omitempty"`
}

type rolesResult struct {
	Roles list[roleElement]
	pageEnd
}

type namesResult struct {
	PolicyNames list[string]
	pageEnd
}

type policyResult struct {
	RoleName       string
	PolicyName     string
	PolicyDocument string
}

type tagsResult struct {
	Tags list[query.Tag]
	pageEnd
}

type attachedResult struct {
	AttachedPolicies list[string]
	pageEnd
}

type instanceProfilesResult struct {
	InstanceProfiles list[string]
	pageEnd
}

type aliasesResult struct {
	AccountAliases list[string]
	pageEnd
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
}

type userResult struct{ User userElement }

type usersResult struct {
	Users list[userElement]
	pageEnd
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
		AssumeRolePolicyDocument: escapePolicy(of.trust.effective(r.uniqueID).text),
		Description:              of.description,
		MaxSessionDuration:       of.maxSession,
	}
}

func wireUser(of *user) userElement {
	return userElement{Path: of.path, UserName: of.name, UserId: of.id, Arn: of.arn(), CreateDate: query.Time(of.created)}
}
