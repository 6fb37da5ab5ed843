// Package bootstrapping is what the commands have in common by which a person makes the role of one of
// Tabard's programs, and tells the program of it in a ConfigMap.
package bootstrapping

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/core/iamname"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
)

// RoleFlags are the flags by which a person chooses how a program's role is made.
type RoleFlags struct {
	wish *ownrole.Wish
	tags []string
}

// Add adds the flags, which write to wish. Whose is such as "the operator's".
func (r *RoleFlags) Add(f *pflag.FlagSet, whose string, wish *ownrole.Wish) {
	r.wish = wish
	f.StringVar(&wish.Path, "role-path", "", "the path of "+whose+" role (default: /)")
	f.StringVar(&wish.Boundary, "permissions-boundary", "", "the `ARN` of the policy that bounds "+whose+" role")
	f.StringArrayVar(&r.tags, "tag", nil, "a further tag of "+whose+" role, as `KEY=VALUE`. May be repeated")
}

// Check reads the tags, and refuses what IAM would refuse.
func (r *RoleFlags) Check() (err error) {
	if r.wish.Tags, err = iamname.ParseTags(r.tags); err != nil {
		return fmt.Errorf("--tag: %w", err)
	}
	return r.wish.Check()
}
