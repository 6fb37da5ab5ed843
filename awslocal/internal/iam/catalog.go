package iam

import "time"

// ownedByAWS stands for the account in the ARNs of AWS's own policies.
const ownedByAWS = "aws"

// awsPolicies are those of AWS's own policies that are here, as AWS writes
// them. All have the path "/".
var awsPolicies = map[string]string{
	"AdministratorAccess":    administratorPolicy,
	"AmazonS3FullAccess":     `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*","s3-object-lambda:*"],"Resource":"*"}]}`,
	"AmazonS3ReadOnlyAccess": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:Get*","s3:List*","s3:Describe*","s3-object-lambda:Get*","s3-object-lambda:List*"],"Resource":"*"}]}`,
}

// newCatalog makes AWS's own policies. They are the same for all accounts.
func (s *Service) newCatalog() map[string]*managed {
	since := time.Date(2015, 2, 6, 18, 40, 0, 0, time.UTC)
	all := map[string]*managed{}
	for name, text := range awsPolicies {
		made := &managed{home: home{s.options.Partition, ownedByAWS}, name: name, path: "/", id: s.options.Identifiers.Unique(policyID), created: since}
		made.add(constantPolicy(text), since, true)
		all[fold(name)] = made
	}
	return all
}
