package iampolicy

import "strings"

// PrincipalType is a key of the element Principal.
type PrincipalType string

// The types of principals. TypeAny is the bare "*", which has no key.
const (
	TypeAny           PrincipalType = "*"
	TypeAWS           PrincipalType = "AWS"
	TypeFederated     PrincipalType = "Federated"
	TypeService       PrincipalType = "Service"
	TypeCanonicalUser PrincipalType = "CanonicalUser"
)

// Mention is one entry of a Principal or NotPrincipal element.
type Mention struct {
	Type PrincipalType
	// Value is the entry as written: an ARN, an account, "*", a service's name.
	Value string
	// Deny says that the statement denies, Not that the element is
	// NotPrincipal.
	Deny, Not bool
}

// strength is how directly a policy names a caller. The order matters: the
// strongest grant decides what else a caller needs.
type strength int

const (
	// unnamed is a caller whom the policy does not concern.
	unnamed strength = iota
	// delegated is the caller's account: the account decides by its own
	// policies who may.
	delegated
	// everyone is "*".
	everyone
	// byRole is the role of which the caller is a session.
	byRole
	// exact is the caller itself.
	exact
)

// principals is the element Principal or NotPrincipal of a statement.
type principals struct {
	entries []principalEntry
	not     bool
	// wild says that one of the entries is "*" or {"AWS": "*"}.
	wild         bool
	line, column int
}

// principalEntry is one principal of a list.
type principalEntry struct {
	text
	kind PrincipalType
	// account is set where the entry stands for a whole account, partition is the
	// beginning of its users' ARNs where the entry tells.
	account, partition string
}

// newPrincipals makes the element ready for evaluation.
func newPrincipals(entries []principalEntry, not bool, line, column int) *principals {
	p := &principals{entries: entries, not: not, line: line, column: column}
	for i := range p.entries {
		entry := &p.entries[i]
		if entry.kind == TypeAWS {
			entry.account, entry.partition = accountOf(entry.value)
		}
		if entry.kind == TypeAny || entry.kind == TypeAWS && entry.value == "*" {
			p.wild = true
		}
	}
	return p
}

// strength returns the strongest way in which the list names a caller (AWS:
// Principal element). "*" does not name the holder of a web identity token: AWS does not say that it
// does, and a provider has to be trusted by name.
func (p *principals) strength(caller *Principal) strength {
	best := unnamed
	if p.wild && caller.Kind != Federated {
		best = everyone
	}
	for i := range p.entries {
		best = max(best, p.entries[i].strength(caller))
	}
	return best
}

// strength says how one entry that is not "*" names a caller. There are no
// wildcards within a principal, so comparing texts is enough (AWS: Principal
// element).
func (e *principalEntry) strength(caller *Principal) strength {
	if e.value == "" || caller.Kind == Anonymous {
		return unnamed
	}
	switch {
	case e.kind == TypeService && caller.Kind == Service,
		e.kind == TypeFederated && caller.Kind == Federated:
		if e.value == caller.ARN {
			return exact
		}
	case e.kind == TypeAWS && (caller.Kind == User || caller.Kind == RoleSession || caller.Kind == Root):
		switch {
		case e.value == caller.ARN:
			return exact
		case caller.Kind == RoleSession && e.value == caller.RoleARN:
			return byRole
		case e.account != "" && e.account == caller.AccountID && strings.HasPrefix(caller.ARN, e.partition):
			return delegated
		}
	}
	return unnamed
}

// names says how a statement's principals concern a caller. bounded says that
// the caller has a permissions boundary: AWS then lets Deny with NotPrincipal
// hit it even where it is listed (AWS: NotPrincipal element).
func (s *statement) names(caller *Principal, bounded bool) strength {
	p := s.principals
	switch {
	case p == nil:
		return unnamed
	case p.not && !s.deny:
		return unnamed // an Allow for all but some is refused on writing
	case p.not:
		if !bounded && p.strength(caller) >= everyone {
			return unnamed
		}
		return exact
	case s.deny && p.wild:
		return everyone // a Deny for all spares nobody, federated callers neither
	default:
		return p.strength(caller)
	}
}
