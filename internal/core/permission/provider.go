package permission

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// aws reads the statements that are right.
func (r *reader) aws(path string, provider credentials.Provider) *AWSRequest {
	spec := provider.AWS
	r.empty(path, [][2]string{{"stsIAMRoleARN", spec.STSIAMRoleARN}})
	if misspelt := provider.Misspelt(); misspelt != "" {
		r.find(CodeMisspelt, path, "%s", clean(misspelt))
	}
	out := &AWSRequest{Statements: []Statement{}}
	for i, entry := range spec.StatementEntries {
		at := path + ".statementEntries" + index(i)
		if r.statements++; r.statements > maxStatements || len(r.set.Findings) > maxFindings {
			r.lose(CodeTooMany, at, "there are more than %d statements, or too many findings: the rest is left out", maxStatements)
			break
		}
		if s, ok := r.statement(at, entry); ok {
			out.Statements = append(out.Statements, s)
		}
	}
	return out
}

// named is what an action can be: AWS's are letters and digits behind a service.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9*?:_-]+$`) })

// statement reads one statement, with the actions that are right.
func (r *reader) statement(path string, entry cloudv1.StatementEntry) (Statement, bool) {
	out := Statement{Effect: entry.Effect, Resource: entry.Resource}
	condition, err := conditionOf(entry.PolicyCondition)
	switch out.Condition = condition; {
	case err != nil:
		r.lose(CodeInvalidCondition, path+".policyCondition", "%s: the statement is left out", clean(err.Error()))
		return out, false
	case !isPlain(entry.Resource):
		r.lose(CodeInvalidText, path+".resource", "the resource %.100q is longer than %d bytes or has characters that cannot be shown: the statement is left out", entry.Resource, maxText)
		return out, false
	case !isPlain(string(condition)) || !isPlain(condition.sentence()):
		r.lose(CodeInvalidText, path+".policyCondition", "the condition is longer than %d bytes or has characters that cannot be shown: the statement is left out", maxText)
		return out, false
	case len(entry.Action) == 0:
		r.lose(CodeInvalidAction, path+".action", "there is no action, expected one at least: the statement is left out")
		return out, false
	}
	for i, action := range entry.Action {
		at := path + ".action" + index(i)
		if r.atoms++; r.atoms > maxAtoms || len(r.set.Findings) > maxFindings {
			r.lose(CodeTooMany, at, "there are more than %d actions, or too many findings: the rest is left out", maxAtoms)
			break
		}
		if len(action) > maxAction || !named().MatchString(action) {
			r.lose(CodeInvalidAction, at, "the action is %.100q, expected SERVICE:ACTION: it is left out", action)
			continue
		}
		if r.fits(path, at, Statement{out.Effect, []string{action}, out.Resource, out.Condition}) {
			out.Actions = append(out.Actions, action)
		}
	}
	return out, len(out.Actions) > 0
}

// fits says that AWS takes a statement with one action, and finds what is wrong with it: at the
// action, or in the statement, which is told at its first action only.
func (r *reader) fits(statement, at string, s Statement) bool {
	policy, err := iampolicy.Parse([]byte(s.document()))
	if err == nil {
		err = policy.Validate(iampolicy.IdentityPolicy)
	}
	lost := err != nil
	if err == nil {
		err = policy.Lint(iampolicy.IdentityPolicy, iampolicy.LintOptions{})
	}
	var slips iampolicy.Errors
	if !errors.As(err, &slips) {
		return true
	}
	for _, slip := range slips {
		found := Finding{Code(slip.Code), statement, s.slip(slip)}
		if strings.HasPrefix(found.Message, "the action ") {
			found.Path = at
		}
		if lost {
			found.Message += ": it is left out"
		}
		if !slices.Contains(r.set.Findings, found) {
			r.find(found.Code, found.Path, "%s", found.Message)
		}
	}
	r.set.Incomplete = r.set.Incomplete || lost
	return !lost
}

// slip says what was seen of a mistake in a statement with one action, and what is expected.
func (s Statement) slip(slip *iampolicy.Error) string {
	switch slip.Code {
	case iampolicy.CodeNoVendor, iampolicy.CodeInvalidVendor, iampolicy.CodeManyColons:
		return fmt.Sprintf("the action is %.100q, expected SERVICE:ACTION", s.Actions[0])
	case iampolicy.CodeNoEffect, iampolicy.CodeInvalidEffect:
		return fmt.Sprintf("the effect is %.100q, expected Allow or Deny", s.Effect)
	case iampolicy.CodeNoResource, iampolicy.CodeInvalidResource, iampolicy.CodeShortResource:
		return fmt.Sprintf("the resource is %.100q, expected * or an ARN of six parts: arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE", s.Resource)
	default:
		return clean(slip.Message)
	}
}

// document is a policy of the statement alone. What is no effect stays one that is none.
func (s Statement) document() string {
	type entry struct {
		Effect    string
		Action    []string
		Resource  string
		Condition Condition `json:",omitempty"`
	}
	return encoded(struct {
		Version   string
		Statement []entry
	}{"2012-10-17", []entry{{s.Effect, s.Actions, s.Resource, s.Condition}}})
}

// azure reads roles and permissions.
func (r *reader) azure(path string, spec *cloudv1.AzureProviderSpec) *AzureRequest {
	r.empty(path, [][2]string{
		{"azureClientID", spec.AzureClientID}, {"azureRegion", spec.AzureRegion},
		{"azureSubscriptionID", spec.AzureSubscriptionID}, {"azureTenantID", spec.AzureTenantID},
	})
	var roles []string
	for _, binding := range spec.RoleBindings {
		roles = append(roles, binding.Role)
	}
	return &AzureRequest{
		Roles:           r.values(path+".roleBindings", roles),
		Permissions:     r.values(path+".permissions", spec.Permissions),
		DataPermissions: r.values(path+".dataPermissions", spec.DataPermissions),
	}
}

// gcp reads roles and permissions.
func (r *reader) gcp(path string, spec *cloudv1.GCPProviderSpec) *GCPRequest {
	r.empty(path, [][2]string{{"serviceAccountEmail", spec.ServiceAccountEmail}, {"audience", spec.Audience}})
	return &GCPRequest{
		PredefinedRoles:  r.values(path+".predefinedRoles", spec.PredefinedRoles),
		Permissions:      r.values(path+".permissions", spec.Permissions),
		SkipServiceCheck: spec.SkipServiceCheck,
	}
}

// values are the names that are right.
func (r *reader) values(path string, all []string) []string {
	var out []string
	for i, value := range all {
		if r.atoms++; r.atoms > maxAtoms || len(r.set.Findings) > maxFindings {
			r.lose(CodeTooMany, path+index(i), "there are more than %d permissions, or too many findings: the rest is left out", maxAtoms)
			break
		}
		if value == "" || len(value) > maxAction || !isPlain(value) {
			r.lose(CodeInvalidText, path+index(i), "it is %.100q, expected a name of at most %d bytes: it is left out", value, maxAction)
			continue
		}
		out = append(out, value)
	}
	return out
}
