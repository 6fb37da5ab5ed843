// Package iamname knows the forms that IAM demands of names, paths, ARNs and tags, for the flags and
// files that have them (IAM API Reference, CreateRole and CreatePolicy).
package iamname

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

// MaxRole is the length of a role's name at most.
const MaxRole = 64

// maxPath is the length of a path at most.
const maxPath = 512

var (
	role   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w+=,.@-]{1,64}$`) })
	path   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/([\w+=,.@-]+/)*$`) })
	policy = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[\w+=,.@/-]*[\w+=,.@-]$`)
	})
)

// IsRole says that a role may have the name.
func IsRole(name string) bool { return role().MatchString(name) }

// IsPath says that a role or a policy may be at the path, which begins and ends with a slash. IAM
// would take all of ASCII in a path; that of a role stands in policies, where *, ? and ${ mean
// more than themselves, so a path has the characters of names alone.
func IsPath(text string) bool { return len(text) <= maxPath && path().MatchString(text) }

// IsPolicyARN says that the text is the ARN of a managed policy: an account's, or one of AWS.
func IsPolicyARN(text string) bool { return policy().MatchString(text) }

// HashLength is how many hexadecimal digits of a hash end a name. Who may choose one of the hashed
// names, such as that of a package or a request, would have to try some 2⁶⁴ to meet another's.
const HashLength = 16

// Within is a name if it has at most so many bytes. A longer one is cut, and ends with a hash of
// all of it, so that two names stay two.
func Within(name string, most int) string {
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return Cut(name, most, hex.EncodeToString(sum[:])[:HashLength])
}

// Cut is the beginning of a name and a hash, with at most so many bytes.
func Cut(name string, most int, hash string) string {
	return strings.TrimRight(name[:min(len(name), most-1-len(hash))], "-.") + "-" + hash
}
