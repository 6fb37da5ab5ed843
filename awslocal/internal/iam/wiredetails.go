package iam

import "github.com/tabard-dev/tabard/awslocal/internal/query"

type detailsResult struct {
	UserDetailList  list[userDetailElement]
	GroupDetailList list[struct{}]
	RoleDetailList  list[roleDetailElement]
	Policies        list[policyDetailElement]
	query.PageEnd
}

type userDetailElement struct {
	Path                    string
	UserName                string
	UserId                  string //nolint:revive // the name is the wire's
	Arn                     string
	CreateDate              string
	UserPolicyList          list[inlineElement]
	GroupList               list[string]
	AttachedManagedPolicies list[attachedElement]
	PermissionsBoundary     *boundaryElement `xml:",omitempty"`
	Tags                    *list[query.Tag] `xml:",omitempty"`
}

type roleDetailElement struct {
	Path                     string
	RoleName                 string
	RoleId                   string //nolint:revive // the name is the wire's
	Arn                      string
	CreateDate               string
	AssumeRolePolicyDocument string
	// InstanceProfileList is empty: there are no instance profiles here.
	InstanceProfileList     list[struct{}]
	RolePolicyList          list[inlineElement]
	AttachedManagedPolicies list[attachedElement]
	PermissionsBoundary     *boundaryElement `xml:",omitempty"`
	Tags                    *list[query.Tag] `xml:",omitempty"`
	RoleLastUsed            *roleLastUsed
}

type inlineElement struct {
	PolicyName     string
	PolicyDocument string
}

type policyDetailElement struct {
	managedElement
	PolicyVersionList list[versionElement]
}
