package credentials

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// boundStatements says whether a request's statements are ones that AWS takes, and
// allow nothing beyond the ceiling, and nothing that is protected to a role under the
// permissions boundary.
func boundStatements(w World, boundary, ceiling, arn string) condition.Verdict {
	entries := w.Provider.AWS.StatementEntries
	if wrong := w.Provider.Misspelt(); wrong != "" {
		return condition.No(ReasonStatementInvalid, "%s", wrong)
	}
	for i := range entries {
		if wrong := wrongIn(&entries[i]); wrong != "" {
			return condition.No(ReasonStatementInvalid, "spec.providerSpec.statementEntries[%d]%s%s", i, wrong, w.Provider.besides(i))
		}
	}
	document := []byte(PermissionPolicy(entries))
	asked, err := iampolicy.Parse(document)
	if err == nil {
		err = asked.Validate(iampolicy.IdentityPolicy)
	}
	if err != nil {
		return condition.No(ReasonStatementInvalid, "the statements make no policy that AWS would take: %v: correct spec.providerSpec.statementEntries", err)
	}
	if asked.Unclear() != nil {
		return condition.No(ReasonStatementInvalid, "%s", unclearIn(entries))
	}
	if v := withinLimits(w, document); !v.IsTrue() {
		return v
	}
	if v := underCeiling(boundary, ceiling, asked, entries); !v.IsTrue() {
		return v
	}
	if v := unprotected(w, asked, arn); !v.IsTrue() {
		return v
	}
	return within(boundary)
}

// action is what AWS takes for an action, with its service spelled out (AWS: IAM JSON
// policy elements, Action).
var action = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9-]+:[A-Za-z0-9*?]+|\*)$`) })

// unclearIn names the first of the statements that has a condition whose meaning AWS does
// not state. Such a statement is not given, as nobody can say what it gives.
func unclearIn(entries []cloudv1.StatementEntry) string {
	for i := range entries {
		one, err := iampolicy.Parse([]byte(PermissionPolicy(entries[i : i+1])))
		if err != nil {
			continue
		}
		if found, is := errors.AsType[iampolicy.Errors](one.Unclear()); is {
			return fmt.Sprintf("spec.providerSpec.statementEntries[%d].policyCondition cannot be judged: %s", i, found[0].Message)
		}
	}
	return ""
}

// wrongIn says what is wrong with a statement by itself, beginning with the field's name;
// empty for nothing.
func wrongIn(e *cloudv1.StatementEntry) string {
	switch {
	case e.Effect != "Allow" && e.Effect != "Deny":
		return fmt.Sprintf(".effect is %q, expected Allow or Deny", e.Effect)
	case len(e.Action) == 0:
		return ".action is empty, expected at least one action, such as s3:GetObject (there is no notAction)"
	case e.Resource == "":
		return ".resource is empty, expected an ARN or * (there is no notResource)"
	case e.Resource != "*" && !strings.HasPrefix(e.Resource, "arn:"):
		return fmt.Sprintf(".resource is %q, expected an ARN or *", e.Resource)
	}
	for _, one := range e.Action {
		if !action().MatchString(one) {
			return fmt.Sprintf(".action has %q, expected SERVICE:ACTION, such as s3:GetObject, of letters, digits, - and wildcards%s", one, meantBy(one))
		}
	}
	for _, r := range e.Resource {
		if r <= ' ' || r > '~' {
			return fmt.Sprintf(".resource is %q, expected no other characters than those of ASCII that can be seen", e.Resource)
		}
	}
	return ""
}
