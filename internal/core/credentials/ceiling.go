package credentials

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// underCeiling says whether statements allow only what the ceiling allows.
func underCeiling(boundary, ceiling string, asked *iampolicy.Policy, entries []cloudv1.StatementEntry) condition.Verdict {
	if ceiling == "" {
		return condition.No(ReasonBeyondCeiling, "the CredentialsBoundary %s has no ceiling, so that its requests have no statement allowed: have an administrator set spec.aws.ceiling", boundary)
	}
	outer, err := parseCeiling(ceiling)
	if err != nil {
		return condition.No(ReasonCeilingInvalid, "the ceiling of the CredentialsBoundary %s %v", boundary, err)
	}
	answer := iampolicy.Contains(outer, asked)
	why := inFields(answer.Reason, "the ceiling of the CredentialsBoundary "+boundary)
	switch {
	case answer.Answer == iampolicy.Yes:
		return condition.Yes(ReasonAccepted, "")
	case answer.Answer != iampolicy.No || answer.Statement < 0 || answer.Statement >= len(entries):
		return condition.No(ReasonCeilingUndecidable, "it cannot be decided whether the statements are within the ceiling of the CredentialsBoundary %s, and what cannot be decided is not given: %s: write them with fewer wildcards, variables and conditions", boundary, why)
	}
	if like := listedLike(ceiling, answer.Action); like != "" {
		why += ": write " + like + ", if that is meant; or ask for less"
	} else {
		why += ": ask for less"
	}
	return condition.No(ReasonBeyondCeiling, "%s, or have an administrator raise spec.aws.ceiling", why)
}

// numbered is how iampolicy names one in a reason: the inner policy's by its number alone.
var numbered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(the outer policy's )?statement ([0-9]+)( \("[^"]*"\))?`)
})

// inFields is a reason of iampolicy.Contains in the words of a request: its statements are fields,
// which are counted from 0, and those of the outer policy, which has a name here, are counted so too.
func inFields(reason, outer string) string {
	reason = numbered().ReplaceAllStringFunc(reason, func(found string) string {
		parts := numbered().FindStringSubmatch(found)
		number, err := strconv.Atoi(parts[2])
		switch {
		case err != nil:
			return found
		case parts[1] == "":
			return fmt.Sprintf("spec.providerSpec.statementEntries[%d]", number-1)
		}
		return fmt.Sprintf("Statement[%d]%s of %s", number-1, parts[3], outer)
	})
	return strings.ReplaceAll(reason, "the outer policy", outer)
}

func parseCeiling(ceiling string) (*iampolicy.Policy, error) {
	policy, err := iampolicy.Parse([]byte(ceiling))
	if err == nil {
		err = policy.Validate(iampolicy.IdentityPolicy)
	}
	if err != nil {
		return nil, fmt.Errorf("is no permission policy that AWS would take: %w", err)
	}
	if err = policy.Unclear(); err != nil {
		return nil, fmt.Errorf("cannot be judged: %w", err)
	}
	return policy, nil
}

// unlisted says which statement of a ceiling does not list services and resources; empty
// for none. The text is one that parseCeiling takes.
func unlisted(ceiling string) string {
	for i, s := range Statements(ceiling) {
		if s.text("Effect") != "Allow" {
			continue
		}
		if _, not := s["NotAction"]; not {
			return fmt.Sprintf("statement %d has NotAction, expected Action with the services that are meant", i+1)
		}
		if _, not := s["NotResource"]; not {
			return fmt.Sprintf("statement %d has NotResource, expected Resource with the ARNs that are meant", i+1)
		}
		for _, action := range s.List("Action") {
			if wrong := tooWide(action, s); wrong != "" {
				return fmt.Sprintf("statement %d allows %s", i+1, wrong)
			}
		}
	}
	return ""
}

// tooWide says what is not listed of an action and the resources of its statement; empty for
// nothing.
func tooWide(action string, s Statement) string {
	service, name, ok := strings.Cut(action, ":")
	if !ok || strings.ContainsAny(service, "*?") {
		return fmt.Sprintf("%s, expected the service's name, such as s3:*", action)
	}
	passes := matchesAction(action, "iam:PassRole")
	for _, resource := range s.List("Resource") {
		if strings.Trim(name, "*?") == "" && isEverything(resource) {
			return fmt.Sprintf("%s on %s, expected the actions or the ARNs that are meant", action, resource)
		}
		if passes && strings.ContainsAny(resource, "*?$") && (!isUnderPath(resource) || !s.namesServices()) {
			return fmt.Sprintf("%s on %s, expected the ARN of each role that may be passed, or a path such as arn:aws:iam::ACCOUNT:role/nodes/* and the condition StringEquals iam:PassedToService with the services that may get the roles: who passes a role to a service has its rights", action, resource)
		}
	}
	return ""
}

// isUnderPath says that a resource is all roles of one account under a path.
func isUnderPath(resource string) bool {
	arn, ok := identity.ParseARN(resource)
	path, isRole := strings.CutPrefix(arn.Resource, "role/")
	under, isAll := strings.CutSuffix(path, "/*")
	return ok && isRole && isAll && under != "" && arn.Service == "iam" && !strings.ContainsAny(arn.Partition+arn.Account+under, "*?$")
}

// namesServices says that a statement is limited to named services to which a role is passed
// (IAM: iam:PassedToService).
func (e Statement) namesServices() bool {
	var conditions map[string]map[string]json.RawMessage
	if json.Unmarshal(e["Condition"], &conditions) != nil {
		return false
	}
	for operator, keys := range conditions {
		for key, values := range keys {
			if operator != "StringEquals" || !strings.EqualFold(key, "iam:PassedToService") {
				continue
			}
			named := Statement{"Values": values}.List("Values")
			return len(named) > 0 && !slices.ContainsFunc(named, func(service string) bool { return service == "" || strings.ContainsAny(service, "*?$") })
		}
	}
	return false
}

// isEverything says that a resource is any of a service: * by itself, or for the last
// part of its ARN.
func isEverything(resource string) bool {
	arn, ok := identity.ParseARN(resource)
	return !ok || strings.Trim(arn.Resource, "*?/:") == ""
}

// matchesAction says whether a pattern of actions has an action in it. Case does not
// count.
func matchesAction(pattern, action string) bool {
	pattern, action = strings.ToLower(pattern), strings.ToLower(action)
	if service, name, _ := strings.Cut(pattern, ":"); strings.Contains(name, "?") {
		// One character is taken for any number: more is refused, never less.
		pattern = service + ":" + strings.ReplaceAll(name, "?", "*")
	}
	return matches(pattern, action)
}

// Statement holds the elements of a statement.
type Statement map[string]json.RawMessage

// Statements are the statements of a policy that is valid.
func Statements(policy string) []Statement {
	var document struct{ Statement json.RawMessage }
	var many []Statement
	var one Statement
	if json.Unmarshal([]byte(policy), &document) != nil {
		return nil
	}
	if json.Unmarshal(document.Statement, &many) == nil {
		return many
	}
	if json.Unmarshal(document.Statement, &one) == nil {
		return []Statement{one}
	}
	return nil
}

func (e Statement) text(name string) string {
	var out string
	if json.Unmarshal(e[name], &out) != nil {
		return ""
	}
	return out
}

// List are the texts of an element that is a list or one text.
func (e Statement) List(name string) []string {
	var out []string
	if json.Unmarshal(e[name], &out) == nil {
		return out
	}
	return []string{e.text(name)}
}
