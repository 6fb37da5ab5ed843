package explain

import (
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// calls are the flags that say which calls are asked about.
type calls struct {
	actions  []string
	resource string
}

const resourceFlag = "resource"

func (c *calls) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&c.actions, "action", nil, "of a pod or a ServiceAccount: ask whether the role may make this `call`, such as s3:GetObject; its policies are read then. May be repeated")
	flags.StringVar(&c.resource, resourceFlag, "*", "the `ARN` of what the calls are about, such as arn:aws:s3:::BUCKET/KEY. * means everything: unless it is typed, a call that is allowed on a part of it is neither well nor broken")
}

// typed asks about the calls as they were typed: a resource that nobody typed is none.
func (c *calls) typed(flags *pflag.FlagSet, about *chain.Subject) error {
	resource := c.resource
	if !flags.Changed(resourceFlag) {
		resource = ""
	}
	return about.Ask(c.actions, resource)
}
