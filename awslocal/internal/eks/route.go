package eks

import "github.com/tabard-dev/tabard/awslocal/internal/restjson"

const (
	clusterPath      = "/clusters/{name}"
	entriesPath      = clusterPath + "/access-entries"
	entryPath        = entriesPath + "/{principalArn}"
	grantsPath       = entryPath + "/access-policies"
	associationsPath = clusterPath + "/pod-identity-associations"
	associationPath  = associationsPath + "/{associationId}"
	tagsPath         = "/tags/{resourceArn}"
)

var routes = []restjson.Route[operation]{
	{Method: "GET", Path: "/clusters", Operation: "ListClusters", Run: (*request).listClusters},
	{Method: "POST", Path: "/clusters", Operation: "CreateCluster", Run: (*request).createCluster},
	{Method: "GET", Path: clusterPath, Operation: "DescribeCluster", Run: (*request).describeCluster},
	{Method: "DELETE", Path: clusterPath, Operation: "DeleteCluster", Run: (*request).deleteCluster},

	{Method: "GET", Path: entriesPath, Operation: "ListAccessEntries", Run: (*request).listAccessEntries},
	{Method: "POST", Path: entriesPath, Operation: "CreateAccessEntry", Run: (*request).createAccessEntry},
	{Method: "GET", Path: entryPath, Operation: "DescribeAccessEntry", Run: (*request).describeAccessEntry},
	{Method: "POST", Path: entryPath, Operation: "UpdateAccessEntry", Run: (*request).updateAccessEntry},
	{Method: "DELETE", Path: entryPath, Operation: "DeleteAccessEntry", Run: (*request).deleteAccessEntry},

	{Method: "GET", Path: "/access-policies", Operation: "ListAccessPolicies", Run: (*request).listAccessPolicies},
	{Method: "GET", Path: grantsPath, Operation: "ListAssociatedAccessPolicies", Run: (*request).listAssociatedAccessPolicies},
	{Method: "POST", Path: grantsPath, Operation: "AssociateAccessPolicy", Run: (*request).associateAccessPolicy},
	{Method: "DELETE", Path: grantsPath + "/{policyArn}", Operation: "DisassociateAccessPolicy", Run: (*request).disassociateAccessPolicy},

	{Method: "GET", Path: associationsPath, Operation: "ListPodIdentityAssociations", Run: (*request).listAssociations},
	{Method: "POST", Path: associationsPath, Operation: "CreatePodIdentityAssociation", Run: (*request).createAssociation},
	{Method: "GET", Path: associationPath, Operation: "DescribePodIdentityAssociation", Run: (*request).describeAssociation},
	{Method: "POST", Path: associationPath, Operation: "UpdatePodIdentityAssociation", Run: (*request).updateAssociation},
	{Method: "DELETE", Path: associationPath, Operation: "DeletePodIdentityAssociation", Run: (*request).deleteAssociation},

	{Method: "GET", Path: tagsPath, Operation: "ListTagsForResource", Run: (*request).listTags},
	{Method: "POST", Path: tagsPath, Operation: "TagResource", Run: (*request).tagResource},
	{Method: "DELETE", Path: tagsPath, Operation: "UntagResource", Run: (*request).untagResource},
}
