// Package ownrole is what a person chooses of the role that one of Tabard's own programs has in AWS,
// as an account demands it: a name, a path, a permissions boundary, tags.
package ownrole

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/iamname"
)

// Wish is what a person chooses. The zero value chooses nothing: the program's own name for the
// role, the path /, no permissions boundary and the owner's tag alone. A role that is there
// already keeps its path and its permissions boundary then.
type Wish struct {
	Name, Path, Boundary string
	// Tags are those beside the owner's.
	Tags map[string]string
}

// Check refuses what IAM would refuse, before anything is made. Its errors name the flags.
func (w Wish) Check() error {
	switch {
	case w.Name != "" && !iamname.IsRole(w.Name):
		return fmt.Errorf("--role-name is %.200q, expected 1 to 64 letters, digits and _+=,.@-", w.Name)
	case w.Path != "" && !iamname.IsPath(w.Path):
		return fmt.Errorf("--role-path is %.200q, expected a path that begins and ends with a slash, such as /platform/", w.Path)
	case strings.HasPrefix(w.Path, credentials.DefaultPath):
		return fmt.Errorf("--role-path is %.200q: the roles of CredentialsRequests are at %s, where their controller may change roles; name another path", w.Path, credentials.DefaultPath)
	case w.Boundary != "" && !iamname.IsPolicyARN(w.Boundary):
		return fmt.Errorf("--permissions-boundary is %.200q, expected the ARN of a managed policy, such as arn:aws:iam::123456789012:policy/NAME", w.Boundary)
	}
	return nil
}

// Describe is the role of a name in a line of a plan.
func (w Wish) Describe(name string) string {
	text := "role " + name
	if w.Path != "" {
		text += " at the path " + w.Path
	}
	if w.Boundary != "" {
		text += " with the permissions boundary " + w.Boundary
	}
	if len(w.Tags) > 0 {
		text += " with the tags " + strings.Join(w.TagKeys(), ", ")
	}
	return text
}

// Flags are the flags that choose the same, as a shell takes them, each after a space; but for the
// name, which not all commands have a flag of.
func (w Wish) Flags() (text string) {
	if w.Path != "" && w.Path != "/" {
		text += " --role-path " + w.Path
	}
	if w.Boundary != "" {
		text += " --permissions-boundary " + w.Boundary
	}
	for _, key := range w.TagKeys() {
		text += " --tag '" + key + "=" + w.Tags[key] + "'" // AWS has no quote in a tag
	}
	return text
}

// TagKeys are the keys of the tags, sorted.
func (w Wish) TagKeys() []string { return slices.Sorted(maps.Keys(w.Tags)) }
