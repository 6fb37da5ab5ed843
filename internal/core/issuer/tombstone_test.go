package issuer_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestDecideOnATombstone(t *testing.T) {
	opened := []string{"PutDocument keys.json", "PutDocument .well-known/openid-configuration", "SetPublicAccess", "PutBucketPolicy", "SetTombstone"}
	tombstone := func(owner string) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			w.Bucket = issuer.Bucket{Exists: true, Region: "eu-central-1", Owner: owner, Tombstone: true, Access: newBucket().access}
			w.Public = issuer.Public{Keys: issuer.Fetch{Status: 403}, Discovery: issuer.Fetch{Status: 403}}
		}
	}
	lost := func(reason string) []string {
		return []string{"IssuerPublished False " + reason, "KeysInSync False KeyNotPublished", providerTrue, "Ready False " + reason}
	}
	runDecisions(t, map[string]decision{
		"an issuer of the same URL takes it over": {tombstone(testURL), append([]string{"Record"}, opened...), lost("Publishing"), ""},
		"one of another URL does not": {tombstone("https://other.example.org"), nil,
			lost("BucketOfAnotherIssuer"),
			"is kept so that nobody takes the name of the deleted issuer https://other.example.org"},
		"the mark alone makes no bucket ours": {tombstone(""), append([]string{"Record"}, opened[:2]...), lost("Publishing"), ""},
		"a mark on a bucket that is in use is taken off": {func(_ *model, w *issuer.World) { w.Bucket.Tombstone = true },
			opened[4:], healthy, ""},
	})
}

func TestDecideOnANameThatSomebodyTook(t *testing.T) {
	strange := func(keys ...int) issuer.Public {
		return issuer.Public{Keys: issuer.Fetch{Status: 200, Body: keySet(keys...)}, Discovery: issuer.Fetch{Status: 200}}
	}
	denied := func(public issuer.Public) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			w.Bucket = issuer.Bucket{Fault: &fault.Fault{Class: fault.Denied, Service: "S3", Operation: "HeadBucket"}}
			w.Public = public
		}
	}
	nobody := func(public issuer.Public) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			w.Caller = issuer.Caller{Fault: &fault.Fault{Class: fault.Unauthenticated, Service: "STS", Operation: "AssumeRoleWithWebIdentity", Code: "InvalidIdentityToken"}}
			w.Bucket, w.Providers, w.Public = issuer.Bucket{}, nil, public
		}
	}
	signedOut := func(keys string) []string {
		return []string{"IssuerPublished False NotAuthenticated", keys, "ProviderReady False NotAuthenticated", "Ready False NotAuthenticated"}
	}
	const remedy = "delete the provider, which ends that for all roles of the account (aws iam delete-open-id-connect-provider --open-id-connect-provider-arn arn:aws:iam::ACCOUNT:oidc-provider/tabard-demo"
	runDecisions(t, map[string]decision{
		"whoever has it shows the cluster's keys beside his own": {denied(strange(0, foreignPair)), nil,
			failing("IssuerPublished", "False BucketNotYours"), remedy},
		"a bucket that denies us and shows our keys only": {denied(strange(0)), nil,
			failing("IssuerPublished", "False AccessDenied"), "or the bucket belongs to another account"},
		"whoever has it shows his own key, so that the operator is nobody": {nobody(strange(foreignPair)), nil,
			signedOut("KeysInSync False KeyNotPublished"), remedy},
		"a foreign key beside the cluster's is another matter": {nobody(strange(0, foreignPair)), nil,
			signedOut(keysTrue), "repairs both"},
		"a bucket that is gone and not to be made": {func(_ *model, w *issuer.World) {
			w.Bucket, w.Issuer.Spec.Publication.S3.Create = issuer.Bucket{}, false
		}, nil, failing("IssuerPublished", "False BucketMissing"),
			"whoever takes the name can become every role that trusts " + testURL + "; create it in eu-central-1, or set spec.publication.s3.create to true"},
	})
}
