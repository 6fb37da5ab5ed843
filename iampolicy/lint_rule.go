package iampolicy

import "slices"

// Severity is how bad a mistake is.
type Severity string

const (
	// SeverityError is a document that AWS refuses, a statement that no caller can use, one
	// that admits every caller, or one of which that is not known.
	SeverityError Severity = "error"
	// SeverityWarning is a statement that works, and that is wider or other than it should be.
	SeverityWarning Severity = "warning"
)

// Codes of Lint: AWS accepts a document with these mistakes. LintRules has the meaning of each.
const (
	CodeNoCondition     Code = "NoCondition"
	CodeNoSubject       Code = "NoSubject"
	CodeNoAudience      Code = "NoAudience"
	CodeWideSubject     Code = "WideSubject"
	CodeWideNamespace   Code = "WideNamespace"
	CodeLiteralWildcard Code = "LiteralWildcard"
	CodeWrongSubject    Code = "WrongSubject"
	CodeSwappedClaims   Code = "SwappedClaims"
	CodeWrongKey        Code = "WrongKey"
	CodeWrongProvider   Code = "WrongProvider"
	CodeForAllValues    Code = "ForAllValues"
	CodeWrongAction     Code = "WrongAction"
	CodeEveryAccount    Code = "EveryAccount"
	CodeOtherPartition  Code = "OtherPartition"
	CodeIssuerPartition Code = "IssuerPartition"
	CodeOtherAccount    Code = "OtherAccount"
	CodeNoVersion       Code = "NoVersion"
	CodeDuplicateValue  Code = "DuplicateValue"
	CodeNeverMatches    Code = "NeverMatches"
	CodeRepeatedKey     Code = "RepeatedKey"
	CodeEmptyCondition  Code = "EmptyCondition"
)

const serviceAccountPrefix = "system:serviceaccount:"

// Rule is what all findings of Lint with one code have in common.
type Rule struct {
	Code     Code
	Severity Severity
	// Text is one sentence on the mistake and its effect, in Markdown.
	Text string
}

// lintRules are in the order of the documentation.
var lintRules = []Rule{
	{CodeNoCondition, SeverityError, "A statement that trusts an OIDC provider has no condition: every ServiceAccount of the issuer may assume the role."},
	{CodeNoSubject, SeverityError, "No condition demands one `:sub`: every ServiceAccount of the issuer may assume the role. `IfExists` and `ForAllValues` demand nothing of a token without the claim."},
	{CodeNoAudience, SeverityWarning, "No condition demands one `:aud`: the role accepts tokens for every audience that the provider has."},
	{CodeWideSubject, SeverityError, "A pattern for `:sub` matches every ServiceAccount of the issuer."},
	{CodeWideNamespace, SeverityWarning, "A pattern for `:sub` has a wildcard in the namespace: it also matches namespaces that are created later."},
	{CodeLiteralWildcard, SeverityError, "`*` or `?` is under `StringEquals` or a similar operator, which compares them as plain characters. `StringLike` has wildcards."},
	{CodeWrongSubject, SeverityError, "No ServiceAccount has this `:sub`. The form is `system:serviceaccount:NAMESPACE:NAME`."},
	{CodeSwappedClaims, SeverityError, "A subject is under `:aud`, or an audience under `:sub`."},
	{CodeWrongKey, SeverityError, "No token has this condition key: it contains the provider's ARN or `https://`, or belongs to another issuer."},
	{CodeNeverMatches, SeverityError, "No caller that the statement names can meet all its conditions: no token has such claims, a request with a token has no such key, or the principal comes without a token. It is found where no rule above or below says why."},
	{CodeWrongProvider, SeverityError, "The provider's ARN contains `https://`. No OIDC provider has such an ARN."},
	{CodeForAllValues, SeverityWarning, "An `Allow` statement of any kind of policy has `ForAllValues` on a key that a request need not have: it also holds where the key is absent, unless a `Null` condition in the same statement demands the key."},
	{CodeWrongAction, SeverityError, "The action does not fit the principal: tokens need `sts:AssumeRoleWithWebIdentity`, users and roles need `sts:AssumeRole`."},
	{CodeEveryAccount, SeverityError, "The principal `{\"AWS\": \"*\"}` without a condition admits every account of AWS."},
	{CodeOtherPartition, SeverityError, "The provider is in another partition than the role of `--role-arn`."},
	{CodeOtherAccount, SeverityError, "The provider is in another account than the role of `--role-arn`."},
	{CodeIssuerPartition, SeverityWarning, "The provider's ARN is of another partition than the host of its issuer. AWS accepts that; often the ARN is a slip."},
	{CodeNoVersion, SeverityWarning, "The policy's `Version` is missing or is `2008-10-17`: policy variables are plain text."},
	{CodeDuplicateValue, SeverityWarning, "A value is in a list twice; both count against the quota."},
	{CodeRepeatedKey, SeverityError, "One operator has a condition key twice, in different case, though keys compare without regard to case. AWS does not state which of them counts. In policies of every kind."},
	{CodeEmptyCondition, SeverityError, "A condition key has an empty list of values, or an operator has no key. AWS does not state what that means. In policies of every kind."},
}

// LintRules returns the rules of Lint.
func LintRules() []Rule { return slices.Clone(lintRules) }

// Severity is SeverityError for every code but those of Lint's warnings.
func (c Code) Severity() Severity {
	for _, rule := range lintRules {
		if rule.Code == c {
			return rule.Severity
		}
	}
	return SeverityError
}
