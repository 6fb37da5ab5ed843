package issuer

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// guessable says that a bucket's name holds nothing that others would not hit
// upon: no account ID or other long number, no part of at least four characters in
// which a letter follows a digit, and no part of eight hexadecimal digits or more, of
// which one in eighty has its letters first.
func guessable(bucket string) bool {
	return !longNumber().MatchString(bucket) && !slices.ContainsFunc(strings.Split(bucket, "-"), func(part string) bool {
		return len(part) >= 4 && letterAfterDigit().MatchString(part) || hexadecimal().MatchString(part)
	})
}

var (
	longNumber       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]{6}`) })
	hexadecimal      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8,}$`) })
	letterAfterDigit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9][a-z]`) })
)

// NameWarning warns of a bucket name that somebody else may hit upon; empty for
// one that is fine.
func NameWarning(spec v1alpha1.OIDCIssuerSpec) string {
	bucket := spec.Publication.S3.Bucket
	if !guessable(bucket) {
		return ""
	}
	return "the name of bucket " + bucket + " holds neither an account ID nor a random part, so that others may hit upon it: " +
		"before the issuer is used, prefer one like " + bucket + "-ACCOUNT; afterwards, never delete the bucket"
}

// nameRemark is the warning as the end of a sentence.
func nameRemark(spec v1alpha1.OIDCIssuerSpec) string {
	if warning := NameWarning(spec); warning != "" {
		return "; " + warning
	}
	return ""
}
