package iampolicy

import "strings"

// denied returns the decision of an applying Deny. Policies of an account's own
// do not limit its root user (AWS: permissions boundaries for IAM entities).
func (f *findings) denied(caller PrincipalKind) (Decision, bool) {
	for _, one := range []struct {
		kind Kind
		deny *statement
		own  bool
	}{
		{IdentityPolicy, f.identity.deny, true},
		{BoundaryPolicy, f.boundary.deny, true},
		{SessionPolicy, f.session.deny, true},
		{ResourcePolicy, f.resource.deny, false},
	} {
		if one.deny != nil && (caller != Root || !one.own) {
			return Decision{Effect: ExplicitDeny, Kind: one.kind, Sid: one.deny.sid.value}, true
		}
	}
	return Decision{}, false
}

// decide combines the kinds where nothing denies. Services and the holders of web
// identity tokens have no policies of their own; RestrictPublicBuckets leaves a
// public policy to the owner's account and to services (AWS: blocking public
// access to S3 storage).
func (f *findings) decide(q *query, policies *Policies) Decision {
	restricted := policies.RestrictPublicBuckets && policies.Resource != nil && policies.Resource.IsPublic()
	switch caller := q.Principal; {
	case caller.Kind == Anonymous:
		if f.resource.strength == everyone && !restricted {
			return allowed(ResourcePolicy, f.resource)
		}
		return lacking(ResourcePolicy)
	case caller.Kind == Service, caller.Kind == Federated:
		if f.resource.strength != unnamed {
			return allowed(ResourcePolicy, f.resource)
		}
		return lacking(ResourcePolicy)
	case caller.AccountID != q.ResourceAccountID:
		return f.acrossAccounts(caller.Kind, restricted)
	default:
		return f.withinAccount(caller.Kind, needsTrust(q.action))
	}
}

// needsTrust names the actions that a role's trust policy has to allow, in the
// role's own account too (AWS: roles terms and concepts; passing session tags).
func needsTrust(action string) bool {
	return strings.HasPrefix(action, "sts:assumerole") || action == "sts:tagsession" || action == "sts:setsourceidentity"
}

// acrossAccounts wants the caller's side and the resource's (AWS: cross-account
// policy evaluation logic). A root user has all that its account can give.
func (f *findings) acrossAccounts(caller PrincipalKind, restricted bool) Decision {
	if caller != Root {
		if f.identity.allow == nil {
			return lacking(IdentityPolicy)
		}
		if limit, ok := f.limited(); ok {
			return lacking(limit)
		}
	}
	if f.resource.strength == unnamed || restricted {
		return lacking(ResourcePolicy)
	}
	if caller == Root {
		return allowed(ResourcePolicy, f.resource)
	}
	return allowed(IdentityPolicy, f.identity)
}

// withinAccount takes an Allow of either side. How directly the resource's
// policy names the caller decides which limits remain: naming the user or the
// session overrides its boundary and session policies, naming the role does not
// (AWS: policy evaluation for requests within a single account).
func (f *findings) withinAccount(caller PrincipalKind, trust bool) Decision {
	if trust && f.resource.strength == unnamed {
		return lacking(ResourcePolicy)
	}
	if caller == Root {
		return Decision{Effect: Allow, Kind: IdentityPolicy}
	}
	limit, limited := f.limited()
	switch granted := f.resource.strength; {
	case granted == exact,
		granted == everyone && caller == User,
		(granted == byRole || granted == everyone) && !limited:
		return allowed(ResourcePolicy, f.resource)
	case granted == byRole, granted == everyone:
		return lacking(limit)
	case f.identity.allow == nil:
		return lacking(IdentityPolicy)
	case limited:
		return lacking(limit)
	default:
		return allowed(IdentityPolicy, f.identity)
	}
}

// limited names the first limit that does not let the request pass.
func (f *findings) limited() (Kind, bool) {
	switch {
	case !f.boundary.passes():
		return BoundaryPolicy, true
	case !f.session.passes():
		return SessionPolicy, true
	default:
		return "", false
	}
}

// allowed is the decision of an Allow.
func allowed(kind Kind, by finding) Decision {
	return Decision{Effect: Allow, Kind: kind, Sid: by.allow.sid.value}
}

// lacking is the decision for want of an Allow.
func lacking(kind Kind) Decision { return Decision{Effect: ImplicitDeny, Kind: kind} }
