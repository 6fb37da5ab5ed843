package roleselector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// Bounds of AssumeRole's input (AWS STS API Reference: AssumeRole; IAM User
// Guide: session tags).
const (
	maxSessionName = 64
	maxTags        = 50
	maxPolicies    = 10
	minDuration    = 900
	maxDuration    = 3600 // of a role that is assumed by a role
	ownTags        = "ack-"
	untrustedTags  = "ack-user-"
	sessionWords   = "2 to 64 letters, digits and _+=,.@-"
)

// form is what STS asks of a value.
type form struct {
	pattern *regexp.Regexp
	words   string
}

func lazy(pattern, words string) func() form {
	return sync.OnceValue(func() form { return form{regexp.MustCompile(pattern), words} })
}

var (
	// Go's \w is ASCII alone, as STS's is.
	isExternalID     = lazy(`^[\w+=,.@:/-]{2,1000}[\w+=,.@:/-]{0,224}$`, "2 to 1224 letters, digits and _+=,.@:/-")
	isSessionName    = lazy(`^[\w+=,.@-]{2,64}$`, sessionWords)
	isSourceIdentity = lazy(`^[\w+=,.@-]{2,64}$`, sessionWords)
	isTagKey         = lazy(`^[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$`, "1 to 128 letters, digits, blanks and _.:/=+-@")
	isTagValue       = lazy(`^[\p{L}\p{Z}\p{N}_.:/=+@-]{0,256}$`, "up to 256 letters, digits, blanks and _.:/=+-@")
	isPolicyARN      = lazy(`^arn:(aws[a-z-]*):iam::([0-9]{12}|aws):policy/[\w+=,.@/-]{1,512}$`, "the ARN of a managed policy")
)

func badInput(field, message string) Problem {
	return Problem{field, message, ReasonAssumeRoleInputInvalid}
}

// faultsOfAssumeRole are those that show without a subject: an API server may
// have let them through.
func faultsOfAssumeRole(a *v1alpha1.AssumeRole) []Problem {
	problems := slices.Concat(
		faultsOfText(atExternalID, a.ExternalID, fixed),
		faultsOfText(atSessionName, a.SessionName, untrusted),
		faultsOfText(atSourceIdentity, a.SourceIdentity, trusted),
		faultsOfTags(atSessionTags, a.SessionTags),
		faultsOfPolicies(a.PolicyARNs),
	)
	if d := a.DurationSeconds; d != nil && (*d < minDuration || *d > maxDuration) {
		problems = append(problems, badInput("spec.assumeRole.durationSeconds", fmt.Sprintf("%d is not from %d to %d", *d, minDuration, maxDuration)))
	}
	if a.CacheScope != "" && !slices.Contains(scopes, a.CacheScope) {
		problems = append(problems, badInput(atCacheScope, fmt.Sprintf("%q is neither Selector, Namespace nor Resource", a.CacheScope)))
	}
	return problems
}

// faultsOfText looks at a template, and whether there is one beside a value.
func faultsOfText(at string, text *v1alpha1.Text, most trust) []Problem {
	switch {
	case text == nil || text.Template == "":
		return nil
	case text.Value != "":
		return []Problem{badInput(at, "it has a value and a template; it takes one of them")}
	}
	if _, err := parseTemplate(text.Template, most); err != nil {
		return []Problem{badInput(at, err.Error())}
	}
	return nil
}

func faultsOfTags(at string, tags []v1alpha1.SessionTag) []Problem {
	var problems []Problem
	if len(tags) > maxTags {
		problems = append(problems, badInput(at, fmt.Sprintf("there are %d tags; STS takes %d", len(tags), maxTags)))
	}
	keys := map[string]bool{}
	for _, tag := range tags {
		key := strings.ToLower(tag.Key)
		at := at + "[" + shortened(tag.Key) + "]"
		switch {
		case keys[key]:
			problems = append(problems, badInput(at, "the key is there twice; upper and lower case are one"))
		case strings.HasPrefix(key, "aws:"):
			problems = append(problems, badInput(at, "keys that begin with aws: are AWS's own"))
		case !isTagKey().pattern.MatchString(tag.Key):
			problems = append(problems, badInput(at, "the key is not what STS takes: "+isTagKey().words))
		}
		keys[key] = true
		problems = append(problems, faultsOfText(at, &tag.Text, trustOfTag(tag.Key))...)
	}
	return problems
}

// trustOfTag is the level of a tag's variables: policies rely on tags, except on
// those whose keys say that users write them.
func trustOfTag(key string) trust {
	if strings.HasPrefix(key, untrustedTags) {
		return untrusted
	}
	return trusted
}

func faultsOfPolicies(arns []string) []Problem {
	const at = "spec.assumeRole.policyARNs"
	var problems []Problem
	if len(arns) > maxPolicies {
		problems = append(problems, badInput(at, fmt.Sprintf("there are %d; STS takes %d", len(arns), maxPolicies)))
	}
	for _, arn := range arns {
		if !isPolicyARN().pattern.MatchString(arn) {
			problems = append(problems, badInput(at, fmt.Sprintf("%q is not %s", shortened(arn), isPolicyARN().words)))
		}
	}
	return problems
}
