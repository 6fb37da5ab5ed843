package explain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/awsauth/identity"
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

// typed are the calls as they were typed: a resource that nobody typed is none.
func (c *calls) typed(flags *pflag.FlagSet) (calls, error) {
	out := *c
	if !flags.Changed(resourceFlag) {
		out.resource = ""
	}
	return out, out.check()
}

// mostActions bounds what is asked at once.
const mostActions = 20

// check refuses what is no call of AWS
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html).
func (c calls) check() error {
	switch {
	case len(c.actions) > mostActions:
		return fmt.Errorf("--action is there %d times, expected at most %d", len(c.actions), mostActions)
	case c.resource != "" && len(c.actions) == 0:
		return errors.New("--resource says what a call is about, and no --action says which call; expected --action SERVICE:ACTION too, such as s3:GetObject")
	}
	for _, action := range c.actions {
		service, name, _ := strings.Cut(action, ":")
		if !isWord(service, "-") || !isWord(name, "") {
			return fmt.Errorf("--action %.300q is no action, expected SERVICE:ACTION, one call such as s3:GetObject", action)
		}
	}
	if _, ok := identity.ParseARN(c.resource); !ok && c.resource != "" && c.resource != "*" {
		return fmt.Errorf("--resource %.300q is no ARN, expected one that begins with arn:, such as arn:aws:s3:::BUCKET/KEY, or *", c.resource)
	}
	return nil
}

// isWord says that a text has letters, digits and some other characters, and nothing else.
func isWord(text, others string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}
