package iampolicy

import "strings"

// Validate checks the rules that AWS applies when a policy of the kind is
// written, beyond those of Parse. The error is of type Errors and lists all
// mistakes. Whether principals exist, and whether resources and actions fit the
// bucket, is for the service to check: Principals and Resources list them.
func (p *Policy) Validate(kind Kind) error {
	v := &validator{kind: kind}
	if len(p.statements) == 0 {
		v.fail(text{line: p.line, column: p.column}, CodeEmptyStatement, "Statement", "the policy has no statement")
	}
	// A boundary is a managed policy (AWS: permissions boundaries for IAM
	// entities).
	if (kind == ManagedPolicy || kind == BoundaryPolicy) && p.version != newVersion {
		v.fail(text{line: p.line, column: p.column}, CodeOldVersion, p.version, "the policy is not of version "+newVersion)
	}
	sids := map[string]bool{}
	for i := range p.statements {
		s := &p.statements[i]
		v.sid(s, sids)
		switch kind {
		case TrustPolicy:
			v.trust(s)
		case ResourcePolicy:
			v.resource(s)
		default:
			v.identity(s)
		}
	}
	return v.errs.sorted()
}

// validator collects the mistakes of a document of one kind.
type validator struct {
	kind Kind
	errs Errors
}

// fail records a mistake with AWS's text, or with ours if AWS's is not known.
func (v *validator) fail(at text, code Code, subject, message string) {
	e := &Error{Line: at.line, Column: at.column, Code: code, Message: message, subject: subject}
	if wordings[code].of(v.kind) != "" {
		e.Message = e.Text(v.kind)
	}
	v.errs = append(v.errs, e)
}

// place is where a statement begins: the place of what it lacks.
func (s *statement) place() text { return text{line: s.line, column: s.column} }

// place is where an element is written.
func (p *principals) place() text { return text{line: p.line, column: p.column} }

// sid checks that Sids are unique and, for the policies that IAM keeps, made of
// letters and digits. S3 checks neither.
func (v *validator) sid(s *statement, seen map[string]bool) {
	sid := s.sid.value
	if sid == "" || v.kind == ResourcePolicy {
		return
	}
	if seen[sid] {
		v.fail(s.sid, CodeDuplicateSid, sid, "two statements have the same Sid")
	}
	seen[sid] = true
	if v.kind != TrustPolicy && !isAlphanumeric(sid, "") {
		v.fail(s.sid, CodeInvalidSid, sid, "the Sid has other characters than letters and digits")
	}
}

// isAlphanumeric says whether a text is not empty and has nothing but ASCII
// letters, digits and the characters of extra.
func isAlphanumeric(s, extra string) bool {
	for _, char := range s {
		letter := char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z'
		digit := char >= '0' && char <= '9'
		if !letter && !digit && !strings.ContainsRune(extra, char) {
			return false
		}
	}
	return s != ""
}

// trust checks a statement of a role's trust policy.
func (v *validator) trust(s *statement) {
	if s.resources.present {
		at, field := s.place(), "Resource"
		if s.resources.not {
			field = "NotResource"
		}
		if len(s.resources.values) > 0 {
			at = s.resources.values[0]
		}
		v.fail(at, CodeProhibitedField, field, "a trust policy has no "+field)
	}
	v.principals(s)
	v.tenants(s)
	switch {
	case len(s.actions.values) == 0:
		v.fail(s.place(), CodeNoAction, "Action", "the statement has no Action")
	case s.actions.not:
		v.fail(s.actions.values[0], CodeNotAssumeRole, "NotAction", "a trust policy has no NotAction")
	default:
		for _, action := range s.actions.values {
			if !isTrustAction(action.value) {
				v.fail(action, CodeNotAssumeRole, action.value, "a trust policy names actions of sts:AssumeRole and its like only")
			}
		}
	}
}

// isTrustAction says whether a trust policy may name an action.
func isTrustAction(action string) bool { return needsTrust(strings.ToLower(action)) }

// principals checks the principals of a trust policy or a resource's.
func (v *validator) principals(s *statement) {
	p := s.principals
	switch {
	case p == nil || len(p.entries) == 0:
		v.fail(s.place(), CodeNoPrincipal, "Principal", "the statement has no Principal")
		return
	case p.not && !s.deny:
		v.fail(p.place(), CodeAllowNotPrincipal, "NotPrincipal", "NotPrincipal goes with Deny only")
	case p.not && v.kind == TrustPolicy:
		v.fail(p.place(), CodeProhibitedField, "NotPrincipal", "a trust policy has no NotPrincipal")
	}
	for _, entry := range p.entries {
		if entry.kind == TypeAny {
			if v.kind == TrustPolicy {
				v.fail(entry.text, CodeAnyPrincipal, "*", "the principal of a trust policy needs a type")
			}
			continue
		}
		if !entry.couldExist(v.kind) {
			subject := `"` + string(entry.kind) + `":"` + entry.value + `"`
			v.fail(entry.text, CodeInvalidPrincipal, subject, "the principal cannot exist: "+subject)
		}
	}
}

// couldExist checks the form of a principal.
func (e *principalEntry) couldExist(kind Kind) bool {
	switch e.kind {
	case TypeAWS:
		return e.value == "*" || e.account != "" || isUniqueID(e.value) || isPrincipalARN(e.value)
	case TypeFederated:
		if strings.HasPrefix(e.value, "arn:") {
			return isARNOf(e.value, "iam", "oidc-provider/", "saml-provider/")
		}
		return isHostName(e.value)
	case TypeService:
		return isHostName(e.value)
	default: // CanonicalUser is a name of S3's own
		return kind == ResourcePolicy && isAlphanumeric(e.value, "")
	}
}

// isUniqueID recognises the form in which IAM keeps a principal: four letters
// for its type, then letters and digits.
func isUniqueID(s string) bool {
	return len(s) >= 16 && strings.HasPrefix(s, "A") && strings.ToUpper(s) == s && isAlphanumeric(s, "")
}

// isPrincipalARN recognises users, roles and their sessions.
func isPrincipalARN(s string) bool {
	return isARNOf(s, "iam", "user/", "role/") || isARNOf(s, "sts", "assumed-role/", "federated-user/")
}

// isARNOf recognises an ARN without region whose resource has one of the
// prefixes and a name after it, and no wildcard.
func isARNOf(s, service string, prefixes ...string) bool {
	a := cutARN(s)
	if !a.isOf(service) || strings.ContainsAny(s, "*?") {
		return false
	}
	for _, prefix := range prefixes {
		if name, ok := strings.CutPrefix(a.part(5), prefix); ok && name != "" {
			return true
		}
	}
	return false
}

// isHostName recognises a service or a provider that is named like a host.
func isHostName(s string) bool {
	return strings.Contains(s, ".") && isAlphanumeric(s, ".-")
}

// resource checks a statement of a resource's policy.
func (v *validator) resource(s *statement) {
	v.principals(s)
	v.actionsAndResources(s)
}

// identity checks a statement of a policy that belongs to a principal.
func (v *validator) identity(s *statement) {
	if s.principals != nil {
		v.fail(s.principals.place(), CodePrincipalGiven, "Principal", "the policy names a principal")
	}
	v.actionsAndResources(s)
	for i := range s.conditions {
		if name := s.conditions[i].name; !hasVendor(name.value) {
			v.fail(name, CodeNoVendor, name.value, "the condition key has no prefix")
		}
	}
}

// actionsAndResources checks what all but trust policies have.
func (v *validator) actionsAndResources(s *statement) {
	if len(s.actions.values) == 0 {
		v.fail(s.place(), CodeNoAction, "Action", "the statement has no Action")
	}
	for _, action := range s.actions.values {
		v.action(action)
	}
	if len(s.resources.values) == 0 {
		v.fail(s.place(), CodeNoResource, "Resource", "the statement has no Resource")
	}
	for i, resource := range s.resources.values {
		pattern := s.resourcePatterns[i]
		switch {
		case pattern.all:
		case !strings.HasPrefix(resource.value, "arn:"):
			v.fail(resource, CodeInvalidResource, resource.value, "the resource is no ARN")
		case !pattern.open && len(pattern.parts) < arnParts:
			v.fail(resource, CodeShortResource, resource.value, "the ARN has fewer than six parts")
		}
	}
}

// action checks the form of an action: "*", or a service and a name.
func (v *validator) action(action text) {
	if action.value == "*" {
		return
	}
	vendor, name, ok := strings.Cut(action.value, ":")
	switch {
	case !ok || vendor == "" || name == "":
		v.fail(action, CodeNoVendor, action.value, "the action has no prefix")
	case strings.Contains(name, ":"):
		v.fail(action, CodeManyColons, action.value, "the action has more than one colon")
	case vendor != "*" && !isAlphanumeric(vendor, "-."):
		v.fail(action, CodeInvalidVendor, vendor, "the action's service has a name that none can have")
	}
}

// hasVendor says whether a name begins with a service's prefix and goes on.
func hasVendor(name string) bool {
	vendor, rest, ok := strings.Cut(name, ":")
	return ok && rest != "" && isAlphanumeric(vendor, "-._/")
}
