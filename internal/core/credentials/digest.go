package credentials

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	bodyDigits = 32 // 128 bits of what is not a tag
	tagDigits  = 8  // 32 bits of each tag
)

// Digest is what of a role must be kept to see later whether it is as wanted, for 10,000
// roles at once: see Fits. Tags have a part of their own, because others may add some.
func Digest(role Role) string {
	lines := []string{role.Path, canonical(role.Trust), role.Boundary, role.MaxSession.String()}
	for _, name := range slices.Sorted(maps.Keys(role.Policies)) {
		lines = append(lines, "inline "+name+" "+canonical(role.Policies[name]))
	}
	for _, arn := range slices.Sorted(slices.Values(role.Attached)) {
		lines = append(lines, "attached "+arn)
	}
	return hexOf(strings.Join(lines, "\n"), bodyDigits) + strings.Join(tagDigests(role.Tags), "")
}

// Fits says whether a role with this digest is as wanted. Tags that others added do not
// count; policies that others added do.
func Fits(digest string, want RoleWant) bool {
	role := Role{
		Path: want.Path, Trust: want.Trust, Boundary: want.Boundary, MaxSession: want.MaxSession,
		Policies: map[string]string{want.PolicyName: want.Policy},
	}
	if body := Digest(role); !strings.HasPrefix(digest, body) {
		return false
	}
	have := map[string]bool{}
	for rest := digest[bodyDigits:]; len(rest) >= tagDigits; rest = rest[tagDigits:] {
		have[rest[:tagDigits]] = true
	}
	return !slices.ContainsFunc(tagDigests(want.Tags.Map()), func(tag string) bool { return !have[tag] })
}

func tagDigests(tags map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, hexOf(fmt.Sprintf("%q %q", key, tags[key]), tagDigits))
	}
	return out
}

func hexOf(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}
