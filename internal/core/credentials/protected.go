package credentials

import (
	"cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Protected are things in AWS that no role of a request may reach, whatever the request's
// CredentialsBoundary says: who writes to an issuer's bucket or provider signs for anybody,
// and who changes or becomes a role of Tabard's has all of its rights. To read them is
// harmless.
type Protected struct {
	// Buckets are the names of the buckets of all issuers.
	Buckets []string
	// Roles are the ARNs of Tabard's own roles, Policies those of its boundary policies,
	// Providers those of the issuers' providers. All may hold *.
	Roles, Policies, Providers []string
}

// PolicyInAWS is a managed policy as it was read.
type PolicyInAWS struct {
	// Document is the policy in JSON; Exists says that there is one of the ARN. Fault is why
	// it could not be read, nil for nothing.
	Document string
	Exists   bool
	Fault    *fault.Fault
}

// PoliciesOf are the ARNs of the permissions boundaries by which a request is judged: that of
// the role that it would have, and that of the role that it has. Some may be empty.
func PoliciesOf(w World) (arns []string) {
	if w.Request != nil && w.Provider.AWS != nil {
		if boundary, v := choose(w); v.IsTrue() {
			arns = append(arns, PermissionsBoundaryOf(boundary, w.Settings))
		}
	}
	if role := grantedRole(w); role != nil {
		arns = append(arns, boundOf(w, role))
	}
	return arns
}

// grantedRole is the role that the grant remembers, nil for none.
func grantedRole(w World) *v1alpha1.GrantedRole {
	if w.Grant == nil {
		return nil
	}
	return w.Grant.Status.Role
}

// boundOf is the permissions boundary of a role that was made; of one that was made before its
// grant named it, that of most roles.
func boundOf(w World, role *v1alpha1.GrantedRole) string {
	return cmp.Or(role.PermissionsBoundary, w.Settings.PermissionsBoundary)
}

// kept is one protected thing, with the calls that reach it as a policy that allows these.
type kept struct {
	name  string
	calls *iampolicy.Policy
}

// keeping are the protected things, ready to be asked of.
type keeping []kept

// all are the protected things. To make and read their policies costs more than to ask of them:
// whoever asks twice makes them once.
func (p Protected) all(partition string) (all keeping) {
	add := func(name string, actions, harmless []string, resources ...string) {
		all = append(all, kept{name, callsOf(actions, harmless, resources)})
	}
	for _, name := range p.Buckets {
		bucket := "arn:" + partition + ":s3:::" + name
		add("the bucket "+name+" of an issuer", []string{"s3:*"}, reads, bucket, bucket+"/*")
	}
	for _, arn := range p.Roles {
		add("the role "+arn+" of Tabard", []string{"iam:*", "sts:*"}, append([]string{"sts:Decode*", "sts:Get*"}, reads...), arn)
	}
	for _, arn := range p.Policies {
		add("the policy "+arn+" of Tabard", []string{"iam:*"}, reads, arn)
	}
	for _, arn := range p.Providers {
		add("the provider "+arn+" of an issuer", []string{"iam:*"}, reads, arn)
	}
	return all
}

// callsOf is a policy that allows actions but for the harmless ones.
func callsOf(actions, harmless, resources []string) *iampolicy.Policy {
	rules := []rule{{Effect: "Allow", Action: actions, Resource: resources}}
	if len(harmless) > 0 {
		rules = append(rules, rule{Effect: "Deny", Action: harmless, Resource: []string{"*"}})
	}
	policy, err := iampolicy.Parse([]byte(document(rules)))
	if err != nil {
		panic("credentials: what is protected makes no policy: " + err.Error())
	}
	return policy
}

// reached is the first protected thing that a policy reaches under a boundary, nil for no
// boundary; and why.
func (k keeping) reached(asked, boundary *iampolicy.Policy) (name, why string) {
	for _, one := range k {
		if may, why := iampolicy.Reaches(one.calls, asked, boundary); may {
			return one.name, why
		}
	}
	return "", ""
}

// anything is the policy that allows everything.
func anything() *iampolicy.Policy {
	return callsOf([]string{"*"}, nil, []string{"*"})
}

// unprotected says whether a role with these statements leaves alone what is protected, by
// itself or because its permissions boundary denies that in AWS.
func unprotected(w World, asked *iampolicy.Policy, arn string) condition.Verdict {
	protected := w.Protected.all(partition(w))
	if name, _ := protected.reached(asked, nil); name == "" {
		return condition.Yes(ReasonAccepted, "")
	}
	boundary, v := boundaryInAWS(w, arn)
	if !v.IsTrue() {
		return v
	}
	if name, why := protected.reached(asked, boundary); name != "" {
		return condition.No(ReasonReachesProtected, "the statements can reach %s, which no request may: %s, and the permissions boundary %s does not deny it in AWS: name resources that leave it out, or have an administrator run tabard credentials bootstrap, whose policy denies it", name, why, arn)
	}
	return v
}

// boundaryInAWS is a permissions boundary as it is in AWS.
func boundaryInAWS(w World, arn string) (*iampolicy.Policy, condition.Verdict) {
	read := w.Policies[arn]
	switch {
	case w.AccountFault != nil:
		return nil, awsTrouble(*w.AccountFault)
	case read.Fault != nil:
		return nil, awsTrouble(*read.Fault)
	case !read.Exists:
		return nil, condition.No(ReasonNoPermissionsBoundary, "there is no policy %s in AWS, which the statements need to be kept from what no request may reach: run tabard credentials bootstrap, or set spec.aws.permissionsBoundary", arn)
	}
	policy, err := iampolicy.Parse([]byte(read.Document))
	if err != nil {
		return nil, condition.No(ReasonBeyondAWSBoundary, "the policy %s in AWS cannot be read: %v", arn, err)
	}
	return policy, condition.Yes(ReasonAccepted, "")
}
