package iam

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

var (
	// actionPattern is an action in full: a simulation asks for one at a time.
	actionPattern = pattern.New(`^[A-Za-z0-9-]+:[A-Za-z0-9]+$`)
	ownerPattern  = pattern.New(`^(?:arn:aws[a-z-]*:iam::)?(\d{12})(?::root)?$`)
	// handlingOptions are the scenarios that AWS knows of EC2 instances. They
	// change which resources EC2's RunInstances needs there, and nothing here.
	handlingOptions = pattern.New(`^EC2-(Classic|VPC)-(InstanceStore|EBS)(-Subnet)?$`)
)

// simulatePrincipalPolicy asks the policies of a user or role, and those given
// besides.
func simulatePrincipalPolicy(r *request) any {
	var v query.Validation
	arn := v.Text(r.form, "PolicySourceArn", 20, 2048, nil)
	question := r.readQuestion(&v)
	found := r.policySource(arn)
	s := simulation{principal: found.principal(), identity: found.sources(), boundary: found.boundarySource()}
	return r.simulate(&s, question)
}

// simulateCustomPolicy asks the policies given, and nobody's.
func simulateCustomPolicy(r *request) any {
	var v query.Validation
	v.Required(r.form, "PolicyInputList")
	question := r.readQuestion(&v)
	r.authorize("*", nil)
	nobody := iampolicy.Principal{Kind: iampolicy.User, AccountID: r.account.home.account}
	return r.simulate(&simulation{principal: nobody}, question)
}

// policySource finds the user or role whose policies are asked, if the caller may
// ask. There are no groups here, and a session has no policies of its own.
func (r *request) policySource(arn string) *holder {
	r.authorize(arn, nil)
	named, ok := entityOf(arn)
	if !ok {
		call.Refuse(badARN(arn))
	}
	found, missing := (*holder)(nil), noUser(named.name)
	switch named.kind {
	case roleKind:
		missing = noRole(named.name)
		if one := r.account.roles[named.name]; one != nil {
			found = &one.holder
		}
	case userKind:
		if one := r.account.users[named.name]; one != nil {
			found = &one.holder
		}
	default:
		missing = noGroup(named.name)
	}
	if found == nil || found.arn() != arn {
		call.Refuse(missing)
	}
	return found
}

// principal is the holder as a caller.
func (h *holder) principal() iampolicy.Principal {
	if h.kind == roleKind {
		return iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: h.arn(), RoleARN: h.arn(), AccountID: h.account}
	}
	return iampolicy.Principal{Kind: iampolicy.User, ARN: h.arn(), AccountID: h.account}
}

// sources are the holder's policies with their names, in the order of policies.
func (h *holder) sources() []source {
	kind := fromUser
	if h.kind == roleKind {
		kind = fromRole
	}
	list := []source{}
	for _, name := range slices.Sorted(maps.Keys(h.inline)) {
		list = append(list, source{name, kind, h.inline[name].policy})
	}
	for _, arn := range slices.Sorted(maps.Keys(h.attached)) {
		list = append(list, h.attached[arn].source())
	}
	return list
}

func (h *holder) boundarySource() *source {
	if h.boundary == nil {
		return nil
	}
	found := h.boundary.source()
	return &found
}

func (m *managed) source() source {
	kind := fromCustomer
	if m.account == ownedByAWS {
		kind = fromAWS
	}
	return source{m.name, kind, m.current().policy}
}

// question is what a simulation is asked besides the policies.
type question struct {
	actions, resources []string
	caller, owner      string
	context            iampolicy.Context
}

func (r *request) readQuestion(v *query.Validation) question {
	q := question{actions: r.form.List("ActionNames"), resources: r.form.List("ResourceArns")}
	v.Required(r.form, "ActionNames")
	q.caller = v.Optional(r.form, "CallerArn", 1, 2048, nil)
	owner := v.Optional(r.form, "ResourceOwner", 1, 2048, nil)
	v.Optional(r.form, "ResourcePolicy", 1, maxDocument, nil)
	option := v.Optional(r.form, "ResourceHandlingOption", 1, 64, nil)
	call.Check(v.Fault())
	for _, action := range q.actions {
		if !actionPattern.MatchString(action) {
			call.Refuse(badAction(action))
		}
	}
	if m := ownerPattern.FindStringSubmatch(owner); m != nil {
		q.owner = m[1]
	}
	switch caller, ok := entityOf(q.caller); {
	case option != "" && !handlingOptions.MatchString(option):
		call.Refuse(badHandlingOption(option))
	case q.caller != "" && (!ok || caller.kind != userKind):
		call.Refuse(badCaller(q.caller))
	case owner != "" && q.owner == "":
		call.Refuse(badARN(owner))
	}
	if len(q.resources) == 0 {
		q.resources = []string{"*"}
	}
	for _, resource := range q.resources {
		if resource == "" || len(resource) > 2048 {
			call.Refuse(badARN(resource))
		}
	}
	q.context = readContext(r.form)
	return q
}

// simulate completes a simulation by what the call gives and answers the page of
// results that it asks for: one for each action on each resource.
func (r *request) simulate(s *simulation, q question) any {
	s.context = q.context
	r.readPolicies(s)
	s.take(q)
	page := call.Must(query.ReadPage(r.form, r.options.ShortPages))
	start := 0
	if after, begun := page.After(); begun {
		last, err := strconv.Atoi(after)
		if err != nil || last < 0 || last >= len(q.actions)*len(q.resources) {
			call.Refuse(query.BadMarker())
		}
		start = last + 1
	}
	left := len(q.actions)*len(q.resources) - start
	shown := page.Size(left)
	elements := []evaluationElement{}
	for i := start; i < start+shown; i++ {
		element := s.run(q.actions[i/len(q.resources)], q.resources[i%len(q.resources)])
		if r.form.Has("ResourceArns") {
			element.ResourceSpecificResults = specific(element)
		}
		elements = append(elements, element)
	}
	return simulationResult{listOf(elements), page.End(shown, left, strconv.Itoa(start+shown-1))}
}

// readPolicies adds the policies that the call gives. A boundary given replaces
// the principal's own.
func (r *request) readPolicies(s *simulation) {
	for i, text := range r.form.List("PolicyInputList") {
		policy := readInput(text, iampolicy.IdentityPolicy)
		s.identity = append(s.identity, source{fmt.Sprintf("PolicyInputList.%d", i+1), fromInput, policy})
	}
	boundaries := r.form.List("PermissionsBoundaryPolicyInputList")
	if len(boundaries) > 1 {
		call.Refuse(manyBoundaries())
	}
	for _, text := range boundaries {
		policy := readInput(text, iampolicy.BoundaryPolicy)
		s.boundary = &source{"PermissionsBoundaryPolicyInputList.1", fromInput, policy}
	}
	if r.form.Has("ResourcePolicy") {
		s.resource = &source{"ResourcePolicy", fromResource, readInput(r.form.Get("ResourcePolicy"), iampolicy.ResourcePolicy)}
	}
}

// readInput tells a text that is no policy from a policy that cannot be
// evaluated in its place.
func readInput(text string, kind iampolicy.Kind) *iampolicy.Policy {
	policy, err := iampolicy.Parse([]byte(text))
	var mistakes iampolicy.Errors
	switch {
	case errors.As(err, &mistakes):
		call.Refuse(badInput(mistakes.Text(kind)))
	case err != nil:
		call.Refuse(badInput(err.Error()))
	}
	if err := policy.Validate(kind); err != nil {
		call.Refuse(notEvaluated(message(err, kind)))
	}
	return policy
}

// take settles who calls, and whose the resources are. A resource's policy needs
// a caller that it can name, which is a user.
func (s *simulation) take(q question) {
	if q.caller != "" {
		caller, _ := entityOf(q.caller)
		s.principal = iampolicy.Principal{Kind: iampolicy.User, ARN: q.caller, AccountID: caller.account}
	}
	if s.resource != nil && (s.principal.Kind != iampolicy.User || s.principal.ARN == "") {
		call.Refuse(noCaller())
	}
	s.owner = q.owner
	if s.owner == "" {
		s.owner = s.principal.AccountID
	}
}
