// Package installing is how an operator is installed by OLM v0, how an upgrade is approved, and how
// an operator gets another role: what is read and judged before, which of it a person has to accept,
// and what is written then. The command line and the web console do these by the same functions, and
// add their own words about how a person goes on.
package installing

import (
	"context"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
)

// Planner reads what is decided by.
type Planner struct {
	Client olm.Client
	// Issuer is that of the cluster's tokens, where a person said it; empty for what the cluster tells.
	Issuer string
	// RoleDocuments reads the policies of a role in AWS. Its error says why they cannot be had, and is
	// no error of the plan: it is unknown then whether the role is enough.
	RoleDocuments func(ctx context.Context, arn string) (sufficiency.Documents, error)
	// Given are the documents of a role that a person gave, in place of those in AWS; nil for none. Its
	// error ends the plan, as it is.
	Given func(arn string) (sufficiency.Documents, error)
}

// issuer is that of the cluster's tokens; empty where it is not known, as without a cluster.
func (p Planner) issuer(ctx context.Context) (string, error) {
	if p.Issuer != "" || p.Client.Objects == nil {
		return p.Issuer, nil
	}
	return p.Client.Issuer(ctx)
}

// Judge says whether a role is enough, reading the issuer of the cluster, and the role's documents if they
// decide.
func (p Planner) Judge(ctx context.Context, u operator.Upgrade) (operator.Judgement, error) {
	issuer, err := p.issuer(ctx)
	if err != nil {
		return operator.Judgement{}, err
	}
	u.Issuer = issuer
	return p.judge(ctx, u)
}

// judge says whether a role is enough, by an issuer that was read.
func (p Planner) judge(ctx context.Context, u operator.Upgrade) (operator.Judgement, error) {
	out := operator.Judge(u)
	if out.Verdict != operator.VerdictUnknown || u.Role != nil || u.NotRead != "" || !u.IsOfAWS() {
		return out, nil
	}
	var err error
	if u.Role, u.Unread, err = p.role(ctx, operator.IdentityOf(u.Values)); err != nil {
		return out, err
	}
	return operator.Judge(u), nil
}

// role are the documents of a role in AWS. Where they cannot be had it says why.
func (p Planner) role(ctx context.Context, arn string) (documents *sufficiency.Documents, unread string, err error) {
	if !identity.IsRoleARN(arn) {
		return nil, "it is no role in AWS", nil
	}
	if p.Given != nil {
		given, err := p.Given(arn)
		return &given, "", err
	}
	read, err := p.RoleDocuments(ctx, arn)
	switch {
	case err == nil:
		return &read, "", nil
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	}
	return nil, err.Error(), nil
}
