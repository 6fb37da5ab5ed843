package credentials

import (
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// unprotected says whether statements leave alone what no request may reach, whatever
// its boundary says: who writes to an issuer's bucket signs for anybody, and who changes
// or becomes a role of Tabard's has all of its rights.
func unprotected(w World, asked *iampolicy.Policy) condition.Verdict {
	bucket := "arn:" + partition(w) + ":s3:::"
	for _, name := range w.Protected.Buckets {
		for _, resource := range []string{bucket + name, bucket + name + "/*"} {
			if may, why := iampolicy.MayAllow(asked, "s3:*", resource); may {
				return reaches("the bucket "+name+" of an issuer", why)
			}
		}
	}
	for _, arn := range w.Protected.Roles {
		for _, action := range []string{"iam:*", "sts:*"} {
			if may, why := iampolicy.MayAllow(asked, action, arn); may {
				return reaches("the role "+arn+" of Tabard", why)
			}
		}
	}
	for _, arn := range w.Protected.Policies {
		if may, why := iampolicy.MayAllow(asked, "iam:*", arn); may {
			return reaches("the policy "+arn+" of Tabard", why)
		}
	}
	return condition.Yes(ReasonAccepted, "")
}

func reaches(what, why string) condition.Verdict {
	return condition.No(ReasonReachesProtected, "the statements can reach %s, which no request may, whatever its CredentialsBoundary says: %s: name resources that leave it out", what, why)
}
