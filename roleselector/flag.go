package roleselector

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// The flags' names.
const (
	flagNoSelector      = "no-selector-policy"
	flagExternalID      = "assume-role-external-id"
	flagSessionName     = "assume-role-session-name"
	flagSessionTags     = "assume-role-session-tags"
	flagSessionLimit    = "assume-role-session-limit"
	flagLock            = "lock-assume-role-fields"
	flagAllowedRoles    = "allowed-role-arn-patterns"
	flagProtectedLabels = "protected-label-prefixes"
)

// flagExamples are what somebody could have meant by a value that is refused.
var flagExamples = map[string]string{
	flagNoSelector:      string(PolicyDeny),
	flagExternalID:      "ack/%CLUSTER_ID%",
	flagSessionName:     "ack-%SERVICE%-%K8S_NAMESPACE%",
	flagSessionTags:     "ack-namespace=%K8S_NAMESPACE%,cost-center=4711",
	flagSessionLimit:    strconv.Itoa(DefaultSessionLimit),
	flagLock:            "external-id,session-name",
	flagAllowedRoles:    "arn:aws:iam::*:role/ack/*",
	flagProtectedLabels: "identity.tabard.dev/",
}

// Flag is one of an administrator's flags. Its parts are the arguments of Func of
// the standard library's flag.FlagSet and of pflag's, so that it is one flag in
// whatever a controller is built with.
type Flag struct {
	// Name is the flag's, without dashes.
	Name string
	// Usage is for the program's help; the value's name stands in back quotes.
	Usage string
	// Set takes a value over. Of a list it adds to what was set before. An error says
	// what would be right; what only shows beside other flags is for
	// Settings.Problems, once all are set.
	Set func(string) error
}

// Flags are the flags that say, for one controller, what an administrator's
// options and settings are. What is not set stays as it is.
func Flags(options *Options, settings *Settings) []Flag {
	flags := []Flag{
		{flagNoSelector, "what is done where no selector applies: the `policy` DefaultRole, to use the controller's own role, or Deny (default DefaultRole)", options.setPolicy},
		{flagExternalID, "a `template` of the external ID with which roles are assumed whose selector has none, such as ack/%CLUSTER_ID%", func(text string) error {
			settings.ExternalID = text
			return nil
		}},
		{flagSessionName, "a `template` of the name of the sessions whose selector has none, such as ack-%SERVICE%-%K8S_NAMESPACE%", func(text string) error {
			settings.SessionName = text
			return nil
		}},
		{flagSessionTags, "tags of all sessions besides the selectors' own, as `KEY=TEMPLATE,...`, such as ack-namespace=%K8S_NAMESPACE%; they need sts:TagSession", settings.addTags},
		{flagSessionLimit, "the largest `number` of distinct sessions that the templates of one selector may make (default " + strconv.Itoa(DefaultSessionLimit) + ")", settings.setLimit},
		{flagLock, "the `fields` that no selector may set, of external-id, session-name and session-tags with commas between them; of the tags, the keys of the flag", func(text string) error {
			return addTo(&settings.Locked, flagLock, text)
		}},
		{flagAllowedRoles, "`patterns` of the ARNs of roles that may be assumed, with commas between them and * for any characters, such as arn:aws:iam::*:role/ack/* (default any role)", func(text string) error {
			return addTo(&settings.AllowedRoles, flagAllowedRoles, text)
		}},
		{flagProtectedLabels, "`prefixes` of the keys of namespace labels that only administrators write, with commas between them; %NAMESPACE_LABEL(KEY)% takes no others (default none)", func(text string) error {
			return addTo(&settings.ProtectedLabels, flagProtectedLabels, text)
		}},
	}
	for i, one := range flags {
		flags[i].Set = func(text string) error {
			// Empty is what is left of a value that was not filled in. It may not mean
			// that any role is allowed.
			if strings.TrimSpace(text) == "" {
				return fmt.Errorf("the value is empty; leave the flag out, or write %s", flagExamples[one.Name])
			}
			return one.Set(strings.TrimSpace(text))
		}
	}
	return flags
}

func (o *Options) setPolicy(text string) error {
	policy := NoSelectorPolicy(text)
	if policy != PolicyDefaultRole && policy != PolicyDeny {
		return fmt.Errorf("%q is neither %s nor %s", shortened(text), PolicyDefaultRole, PolicyDeny)
	}
	o.NoSelector = policy
	return nil
}

func (s *Settings) setLimit(text string) error {
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 {
		return fmt.Errorf("%q is not a whole number of 1 or more; write %s", shortened(text), flagExamples[flagSessionLimit])
	}
	s.SessionLimit = limit
	return nil
}

func (s *Settings) addTags(text string) error {
	var entries []string
	if err := addTo(&entries, flagSessionTags, text); err != nil {
		return err
	}
	for _, entry := range entries {
		key, value, found := strings.Cut(entry, "=")
		if !found {
			return fmt.Errorf("%q is not KEY=TEMPLATE; write %s", shortened(entry), flagExamples[flagSessionTags])
		}
		tag := v1alpha1.SessionTag{Key: key, Text: v1alpha1.Text{Value: value}}
		if strings.Contains(value, "%") {
			tag.Text = v1alpha1.Text{Template: value}
		}
		s.SessionTags = append(s.SessionTags, tag)
	}
	return nil
}

// addTo adds the entries of a list with commas.
func addTo[T ~string](list *[]T, flag, text string) error {
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			return fmt.Errorf("an entry of %q is empty; write %s", shortened(text), flagExamples[flag])
		}
		*list = append(*list, T(entry))
	}
	return nil
}
