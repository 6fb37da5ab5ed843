package iampolicy

import "strings"

// multivaluedKeys are condition keys that may have several values (Service
// Authorization Reference: keys of a type that begins with "ArrayOf", of AWS as a
// whole and of the services around workloads' identities).
var multivaluedKeys = set(
	"aws:calledvia", "aws:principalorgpaths", "aws:principalservicenameslist", "aws:resourceorgpaths", "aws:sourceorgpaths",
	"aws:tagkeys", "aws:vpceorgpaths",
	"sts:requestcontextproviders", "sts:transitivetagkeys",
	"eks:kubernetesgroups", "eks:namespaces",
	"dynamodb:attributes", "dynamodb:leadingkeys",
	"kms:encryptioncontextkeys", "kms:grantoperations", "kms:resourcealiases",
	"lambda:layer", "lambda:securitygroupids", "lambda:subnetids",
	"route53:changeresourcerecordsetsactions", "route53:changeresourcerecordsetsnormalizedrecordnames", "route53:changeresourcerecordsetsrecordtypes",
	"s3:requestobjecttagkeys", "secretsmanager:addreplicaregions", "ses:recipients",
)

func set(keys ...string) map[string]bool {
	out := map[string]bool{}
	for _, key := range keys {
		out[key] = true
	}
	return out
}

// isMultivalued says whether a key, in lower case, may have several values, however
// many it has in a request. Of the claims of web identity tokens that is amr, after
// any provider's URL.
func isMultivalued(key string) bool { return multivaluedKeys[key] || strings.HasSuffix(key, ":amr") }
