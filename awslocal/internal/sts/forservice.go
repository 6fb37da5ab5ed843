package sts

import (
	"strconv"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// ServiceRequest is an AWS service's wish to hand out a session of a role to
// one of its customer's workloads.
type ServiceRequest struct {
	// Service is who asks, such as "pods.eks.amazonaws.com".
	Service string
	// SourceARN is the customer's resource on whose behalf the service asks, in
	// the account SourceAccount.
	SourceARN, SourceAccount string
	// RoleARN is the role that has to trust the service.
	RoleARN string
	// TargetARN is a role that the session of RoleARN assumes in turn, with
	// ExternalID; empty: the session of RoleARN is the answer.
	TargetARN, ExternalID string
	// Session is the name of the sessions.
	Session string
	// Duration is how long a session of RoleARN lasts, whatever the role's own
	// limit is; one of TargetARN lasts an hour, the limit of role chaining.
	Duration time.Duration
	// Tags go to the session, and from there to all that it makes.
	Tags []query.Tag
	// Policy is a session policy of the last session; empty for none.
	Policy string
}

// Granted is a session that a service hands out.
type Granted struct {
	AccountID, ARN, UserID string
	KeyID, Secret, Token   string
	Expires                time.Time
}

// GrantForService makes a session for a service. What is refused, and a role
// that does not exist, is AccessDenied; the fault names the role, which the
// service need not tell.
func (s *Service) GrantForService(c *call.Call, ask ServiceRequest) (Granted, *call.Fault) {
	return call.Answer(func() Granted { return s.grantForService(c, ask) })
}

func (s *Service) grantForService(c *call.Call, ask ServiceRequest) Granted {
	want := wanted{roleARN: ask.RoleARN, session: ask.Session, duration: ask.Duration}
	want.passed.tags = ask.Tags
	for _, tag := range ask.Tags {
		want.passed.transitive = append(want.passed.transitive, tag.Key)
	}
	want.carried = want.passed.clone()
	if ask.TargetARN == "" {
		want.text = ask.Policy
	}
	role, known := s.role(ask.RoleARN)
	if !known {
		c.NoRole(assumeRoleAction, ask.RoleARN)
		call.Refuse(mayNot(ask.Service, assumeRoleAction, ask.RoleARN))
	}
	for _, action := range append([]string{assumeRoleAction}, want.carried.needs()...) {
		if !s.trustsService(c, role, action, ask, want) {
			call.Refuse(mayNot(ask.Service, action, ask.RoleARN))
		}
	}
	s.inRegion(c, role.AccountID)
	s.limit(&want, role)
	one := s.newSession(role, want, "")
	if ask.TargetARN != "" {
		one = s.chain(c, one, ask)
	}
	s.sessions.add(one)
	return Granted{one.accountID, one.arn(), one.userID(), one.keyID, one.secret, one.token, one.expires}
}

// TrustsService says whether a role exists and its trust policy lets a service
// assume it on behalf of a resource.
func (s *Service) TrustsService(c *call.Call, ask ServiceRequest) bool {
	role, known := s.role(ask.RoleARN)
	return known && s.trustsService(c, role, assumeRoleAction, ask, wanted{session: ask.Service, duration: chainLimit})
}

// trustsService asks the trust policy. The keys of the request are those of the
// service's own call: the workload's address is not among them.
func (s *Service) trustsService(c *call.Call, role iam.Role, action string, ask ServiceRequest, want wanted) bool {
	context := merge(want.context(role), want.passed.context())
	context.Set("aws:CurrentTime", query.Time(c.Now))
	context.Set("aws:EpochTime", strconv.FormatInt(c.Now.Unix(), 10))
	context.Set("aws:SecureTransport", "true")
	context.Set("aws:RequestedRegion", c.Region)
	context.Set("aws:PrincipalIsAWSService", "true")
	context.Set("aws:PrincipalServiceName", ask.Service)
	context.Set("aws:ResourceAccount", role.AccountID)
	context.Set("aws:SourceAccount", ask.SourceAccount)
	context.Set("aws:SourceArn", ask.SourceARN)
	return c.Evaluate(&iampolicy.Request{
		Principal: iampolicy.Principal{Kind: iampolicy.Service, ARN: ask.Service},
		Action:    action, Resource: role.ARN, ResourceAccountID: role.AccountID, Context: context,
	}, &iampolicy.Policies{Resource: role.Trust}, call.PolicyNames{}).Allowed()
}

// chain lets a session, which nobody else gets to see, assume the target.
func (s *Service) chain(c *call.Call, first *session, ask ServiceRequest) *session {
	want := wanted{roleARN: ask.TargetARN, session: ask.Session, duration: chainLimit, text: ask.Policy}
	call.Check(want.carried.inherit(first.attributes))
	denied := mayNot(first.arn(), assumeRoleAction, ask.TargetARN)
	role, known := s.role(ask.TargetARN)
	caller, alive := s.credential(first)
	if !known || !alive {
		call.Refuse(denied)
	}
	if action := refusedAction(c.As(caller), role, want, ask.ExternalID); action != "" {
		call.Refuse(mayNot(first.arn(), action, ask.TargetARN))
	}
	s.inRegion(c, role.AccountID)
	s.finish(&want, role)
	return s.newSession(role, want, "")
}
