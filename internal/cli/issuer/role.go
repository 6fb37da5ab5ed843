package issuer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// RoleWish is what a person chooses of the operator's role. The zero value is the role that
// core.RoleName names, at the path /, without a permissions boundary, with the owner's tag alone.
type RoleWish struct {
	Name, Path, Boundary string
	// Tags are those beside the owner's.
	Tags map[string]string
}

// Check refuses what IAM would refuse, before anything is made.
func (w RoleWish) Check() error {
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

// nameFor is the name of an issuer's role.
func (w RoleWish) nameFor(issuer *v1alpha1.OIDCIssuer) string {
	if w.Name != "" {
		return w.Name
	}
	return core.RoleName(issuer.Name, issuer.Spec.URL)
}

// describe is the role in a line of a plan.
func (w RoleWish) describe(issuer *v1alpha1.OIDCIssuer) string {
	text := "role " + w.nameFor(issuer)
	if w.Path != "" {
		text += " at the path " + w.Path
	}
	if w.Boundary != "" {
		text += " with the permissions boundary " + w.Boundary
	}
	if len(w.Tags) > 0 {
		keys := slices.Sorted(maps.Keys(w.Tags))
		text += " with the tags " + strings.Join(keys, ", ")
	}
	return text
}

func (w RoleWish) handoffTags() (tags []handoff.Tag) {
	for _, key := range slices.Sorted(maps.Keys(w.Tags)) {
		tags = append(tags, handoff.Tag{Key: key, Value: w.Tags[key]})
	}
	return tags
}
