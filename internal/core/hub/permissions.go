package hub

import (
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
)

// Permissions are all that the controller hubaccess may do in AWS: make roles ocm-hub-*
// and access entries of them that carry the hub's tag, change those that carry it, and
// look. No access entry that it makes has a group of anybody but an agent.
//
// IAM cannot tell a role that is being made from one without tags, so the right to tag
// covers roles ocm-hub-* that people made and left without tags.
func Permissions(hub ARN) iampolicy.Document {
	arn := func(service, region, resource string) []string {
		return []string{identity.ARN{Partition: hub.Partition, Service: service, Region: region, Account: hub.Account, Resource: resource}.String()}
	}
	roles := arn("iam", "", "role/"+RoleName("*"))
	cluster, entries := []string{hub.String()}, arn("eks", hub.Region, "access-entry/"+hub.Name+"/*")
	given, carried := "aws:RequestTag/"+HubTag, "aws:ResourceTag/"+HubTag
	own := []string{hub.String()}
	agents := map[string][]string{"eks:kubernetesGroups": {Group("*")}}
	return iampolicy.Document{
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
		{
			Sid: "MakeEntries", Actions: []string{"eks:CreateAccessEntry"}, Resources: cluster,
			Conditions: map[string]map[string][]string{
				"StringEquals": {given: own}, "ArnLike": {"eks:principalArn": roles}, "ForAllValues:StringLike": agents,
			},
		},
		{Sid: "TagEntries", Actions: []string{"eks:TagResource"}, Resources: entries, Conditions: map[string]map[string][]string{"StringEquals": {given: own}}},
		{
			Sid: "KeepOwnEntries", Actions: []string{"eks:UpdateAccessEntry"}, Resources: entries,
			Conditions: map[string]map[string][]string{"StringEquals": {carried: own}, "ForAllValues:StringLike": agents},
		},
		{
			Sid: "RemoveOwnEntries", Actions: []string{"eks:DeleteAccessEntry"}, Resources: entries,
			Conditions: map[string]map[string][]string{"StringEquals": {carried: own}},
		},
		{Sid: "LookAtEntries", Actions: []string{"eks:DescribeAccessEntry"}, Resources: entries},
	}
}
