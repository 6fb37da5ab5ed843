package iampolicy

// Code names a rule for policy documents.
type Code string

// The rules that Parse checks, whatever the policy's kind.
const (
	// CodeInvalidJSON is a document that is not JSON.
	CodeInvalidJSON Code = "InvalidJSON"
	// CodeInvalidEncoding is a document that is not UTF-8.
	CodeInvalidEncoding Code = "InvalidEncoding"
	// CodeTooDeep is a document whose JSON is nested too deeply.
	CodeTooDeep Code = "TooDeep"
	// CodeDuplicateKey is a JSON object that has a key twice.
	CodeDuplicateKey Code = "DuplicateKey"
	// CodeUnknownElement is an element that policies do not have.
	CodeUnknownElement Code = "UnknownElement"
	// CodeWrongType is an element whose JSON type is not one it may have.
	CodeWrongType Code = "WrongType"
	// CodeInvalidVersion is a Version that is no version of the language.
	CodeInvalidVersion Code = "InvalidVersion"
	// CodeInvalidEffect is an Effect that is neither Allow nor Deny.
	CodeInvalidEffect Code = "InvalidEffect"
	// CodeUnknownOperator is a condition operator that does not exist.
	CodeUnknownOperator Code = "UnknownOperator"
	// CodeConflict is an element next to its own negation.
	CodeConflict Code = "ConflictingElements"
	// CodeNoStatement is a document without the element Statement.
	CodeNoStatement Code = "NoStatement"
	// CodeNoEffect is a statement without Effect.
	CodeNoEffect Code = "NoEffect"
)

// The rules that Validate checks, by the policy's kind.
const (
	// CodeEmptyStatement is a list of statements with nothing in it.
	CodeEmptyStatement Code = "EmptyStatement"
	// CodeNoAction is a statement without an action.
	CodeNoAction Code = "NoAction"
	// CodeNoResource is a statement without a resource.
	CodeNoResource Code = "NoResource"
	// CodeNoPrincipal is a statement without a principal.
	CodeNoPrincipal Code = "NoPrincipal"
	// CodeProhibitedField is an element that the kind must not have.
	CodeProhibitedField Code = "ProhibitedField"
	// CodePrincipalGiven is a principal in a policy that belongs to one.
	CodePrincipalGiven Code = "PrincipalGiven"
	// CodeDuplicateSid is a Sid that two statements have.
	CodeDuplicateSid Code = "DuplicateSid"
	// CodeInvalidSid is a Sid with characters that are not allowed.
	CodeInvalidSid Code = "InvalidSid"
	// CodeNotAssumeRole is an action that a trust policy must not name.
	CodeNotAssumeRole Code = "NotAssumeRoleAction"
	// CodeAnyPrincipal is a bare "*" as the principal of a trust policy.
	CodeAnyPrincipal Code = "AnyPrincipal"
	// CodeInvalidPrincipal is a principal that cannot exist.
	CodeInvalidPrincipal Code = "InvalidPrincipal"
	// CodeAllowNotPrincipal is NotPrincipal in a statement that allows.
	CodeAllowNotPrincipal Code = "AllowWithNotPrincipal"
	// CodeOpenTenant is trust in an issuer that signs for many tenants, without a
	// condition that names one.
	CodeOpenTenant Code = "OpenTenant"
	// CodeNoVendor is an action or condition key without a service's name.
	CodeNoVendor Code = "NoVendor"
	// CodeInvalidVendor is an action whose service has a name that none can have.
	CodeInvalidVendor Code = "InvalidVendor"
	// CodeManyColons is an action with more than one colon.
	CodeManyColons Code = "ManyColons"
	// CodeInvalidResource is a resource that is neither an ARN nor "*".
	CodeInvalidResource Code = "InvalidResource"
	// CodeShortResource is an ARN with parts missing.
	CodeShortResource Code = "ShortResource"
	// CodeOldVersion is a managed policy in the language's old version.
	CodeOldVersion Code = "OldVersion"
)

// subjectMark stands in a wording for what the mistake is about.
const subjectMark = "{}"

// wording is AWS's text for one rule: IAM words it differently for trust
// policies and for the policies of a principal, S3 for bucket policies.
type wording struct{ trust, identity, resource string }

// of picks the text for a kind.
func (w wording) of(kind Kind) string {
	switch kind {
	case TrustPolicy:
		return w.trust
	case ResourcePolicy:
		return w.resource
	default:
		return w.identity
	}
}

// general is the text for mistakes for which no other is known.
var general = wording{
	trust:    "This policy contains invalid Json",
	identity: "Syntax errors in policy.",
	resource: "Policies must be valid JSON and the first byte must be '{'",
}

// wordings holds every text of AWS in one place, so that one can be corrected
// when AWS is seen to say something else.
var wordings = map[Code]wording{
	CodeUnknownElement: {
		trust: "Has prohibited field {}", resource: "Unknown field {}",
	},
	CodeWrongType:       {resource: "Invalid policy syntax."},
	CodeConflict:        {resource: "Invalid policy syntax."},
	CodeUnknownOperator: {resource: "Invalid Condition type : {}"},
	CodeInvalidVersion: {
		trust: "The policy must contain a valid version string", resource: "The policy must contain a valid version string",
	},
	CodeInvalidEffect: {resource: "Invalid effect: {}"},
	CodeNoEffect: {
		trust: "Missing required field Effect", resource: "Missing required field Effect",
	},
	CodeNoStatement: {
		trust: "Could not parse the policy: Statement is empty!", resource: "Missing required field Statement",
	},
	CodeEmptyStatement: {
		trust: "Could not parse the policy: Statement is empty!", resource: "Could not parse the policy: Statement is empty!",
	},
	CodeNoAction: {
		trust: "Missing required field Action", identity: "Policy statement must contain actions.",
		resource: "Missing required field Action",
	},
	CodeNoResource: {
		identity: "Policy statement must contain resources.", resource: "Missing required field Resource",
	},
	CodeNoPrincipal: {
		trust: "Missing required field Principal", resource: "Missing required field Principal",
	},
	CodeProhibitedField: {trust: "Has prohibited field {}"},
	CodePrincipalGiven:  {identity: "Policy document should not specify a principal."},
	CodeDuplicateSid: {
		trust: "The Statement Ids in the policy are not unique", identity: "Statement IDs (SID) in a single policy must be unique.",
	},
	CodeInvalidSid: {
		identity: "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*",
	},
	CodeNotAssumeRole: {trust: "AssumeRole policy may only specify STS AssumeRole actions."},
	CodeAnyPrincipal:  {trust: `AssumeRolepolicy contained an invalid principal: "STAR":"*".`},
	CodeInvalidPrincipal: {
		trust: "Invalid principal in policy: {}", resource: "Invalid principal in policy",
	},
	CodeAllowNotPrincipal: {
		trust: "Allow with NotPrincipal is not allowed.", resource: "Allow with NotPrincipal is not allowed.",
	},
	CodeNoVendor: {
		identity: "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.", resource: "Policy has invalid action",
	},
	// What AWS writes for this rule is not known; these words are ours.
	CodeOpenTenant: {
		trust: "The trust policy must have a condition that limits {} to a tenant, because the identity provider is shared.",
	},
	CodeInvalidVendor: {identity: "Vendor {} is not valid", resource: "Policy has invalid action"},
	CodeManyColons: {
		identity: "Actions/Condition can contain only one colon.", resource: "Policy has invalid action",
	},
	CodeInvalidResource: {
		identity: `Resource {} must be in ARN format or "*".`, resource: "Policy has invalid resource",
	},
	CodeShortResource: {
		identity: "The policy failed legacy parsing", resource: "Policy has invalid resource",
	},
	CodeOldVersion: {identity: "Policy document must be version 2012-10-17 or greater."},
}
