package inject

import (
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// compose makes the ARN of a role of the configured account of a value that is
// none; it may have a path. With an empty value nobody has opted in.
func (in *Injector) compose(value string) string {
	if in.settings.ComposeAccount == "" || value == "" || strings.Contains(value, "arn:") {
		return value
	}
	return identity.ARN{Partition: in.settings.Partition, Service: "iam", Account: in.settings.ComposeAccount, Resource: "role/" + value}.String()
}

// literal is a value of a variable that containers see as it is. Kubernetes makes
// $(NAME) the value of another variable, and $$ a single $: Container, env.value. A
// role's path may have both.
func literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }

func consistsOf(text string, allowed func(rune) bool) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !allowed(r) }) < 0
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
