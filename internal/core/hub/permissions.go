package hub

import (
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
)

// noUsername are patterns for usernames that no ManagedCluster can have as its name, which has
// small letters, digits, hyphens and dots: those of people, of identity providers, of Kubernetes
// itself, and such as EKS fills in from the session. Capital letters are not among them: a
// condition would have to name each.
var noUsername = []string{"*:*", "*@*", "*/*", "*_*", "*{*"}

// Permissions are all that the controller hubaccess may do in AWS: make roles ocm-hub-*
// and access entries of them that carry the hub's tag, change those that carry it, and
// look. No access entry that it makes has a group of anybody but an agent, or is one of
// nodes, whose groups EKS gives.
//
// IAM cannot tell a role that is being made from one without tags, so the right to tag
// covers roles ocm-hub-* that people made and left without tags. The right to tag access
// entries covers all of the hub, as AWS does not say by which ARN it judges the tags of an
// entry that is being made; those of other roles can be neither changed nor removed.
func Permissions(hub ARN) iampolicy.Document {
	arn := func(service, region, resource string) []string {
		return []string{identity.ARN{Partition: hub.Partition, Service: service, Region: region, Account: hub.Account, Resource: resource}.String()}
	}
	roles := arn("iam", "", "role/"+RoleName("*"))
	given, carried := "aws:RequestTag/"+HubTag, "aws:ResourceTag/"+HubTag
	own := []string{hub.String()}
	return append(iampolicy.Document{
		{Sid: "MakeRoles", Actions: []string{"iam:CreateRole"}, Resources: roles, Conditions: map[string]map[string][]string{"StringEquals": {given: own}}},
		{
			Sid: "TagRoles", Actions: []string{"iam:TagRole"}, Resources: roles,
			Conditions: map[string]map[string][]string{"StringEquals": {given: own}, "StringEqualsIfExists": {carried: own}},
		},
		{
			Sid: "KeepOwnRoles", Actions: []string{"iam:DeleteRole", "iam:UpdateAssumeRolePolicy"}, Resources: roles,
			Conditions: map[string]map[string][]string{"StringEquals": {carried: own}},
		},
		{Sid: "LookAtRoles", Actions: []string{"iam:GetRole"}, Resources: roles},
		{Sid: "LookAtAll", Actions: []string{"iam:ListRoles"}, Resources: []string{"*"}},
	}, entryPermissions(own, roles, arn("eks", hub.Region, "access-entry/"+hub.Name+"/*"), arn("eks", hub.Region, "access-entry/"+hub.Name+"/role/"+hub.Account+"/"+RoleName("*")))...)
}

// entryPermissions are those in EKS. A condition key of EKS is there where the call says what it
// is about (Service Authorization Reference, "Condition keys for Amazon EKS"), and ForAllValues
// and StringNotLike hold where it is absent; so each is demanded as well.
func entryPermissions(hub, roles, all, ofRoles []string) iampolicy.Document {
	given, carried := "aws:RequestTag/"+HubTag, "aws:ResourceTag/"+HubTag
	agents := func(conditions map[string]map[string][]string) map[string]map[string][]string {
		conditions["ForAllValues:StringLike"] = map[string][]string{"eks:kubernetesGroups": {Group("*")}}
		conditions["Null"] = map[string][]string{"eks:kubernetesGroups": {"false"}}
		conditions["StringLike"] = map[string][]string{"eks:username": {"?*"}}
		conditions["StringNotLike"] = map[string][]string{"eks:username": noUsername}
		return conditions
	}
	return iampolicy.Document{
		{
			Sid: "MakeEntries", Actions: []string{"eks:CreateAccessEntry"}, Resources: hub,
			Conditions: agents(map[string]map[string][]string{
				"StringEquals": {given: hub, "eks:accessEntryType": {"STANDARD"}}, "ArnLike": {"eks:principalArn": roles},
			}),
		},
		{Sid: "TagEntries", Actions: []string{"eks:TagResource"}, Resources: all, Conditions: map[string]map[string][]string{"StringEquals": {given: hub}}},
		{
			Sid: "KeepOwnEntries", Actions: []string{"eks:UpdateAccessEntry"}, Resources: ofRoles,
			Conditions: agents(map[string]map[string][]string{"StringEquals": {carried: hub}}),
		},
		{
			Sid: "RemoveOwnEntries", Actions: []string{"eks:DeleteAccessEntry"}, Resources: ofRoles,
			Conditions: map[string]map[string][]string{"StringEquals": {carried: hub}},
		},
		{Sid: "LookAtEntries", Actions: []string{"eks:DescribeAccessEntry"}, Resources: all},
	}
}
