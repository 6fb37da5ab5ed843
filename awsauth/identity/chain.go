package identity

import (
	"encoding/json"
	"time"
)

// Role is one AssumeRole call (AWS STS API Reference: AssumeRole). Only the ARN
// is needed.
type Role struct {
	// ARN is the role to assume.
	ARN string `json:"arn"`
	// ExternalID is what the role's trust policy may ask for.
	ExternalID string `json:"externalID,omitempty"`
	// SessionName is what CloudTrail shows behind the role; empty is the
	// process's own name.
	SessionName string `json:"sessionName,omitempty"`
	// SourceIdentity stays with all sessions that come from this one.
	SourceIdentity string `json:"sourceIdentity,omitempty"`
	// Tags are those of the session.
	Tags map[string]string `json:"tags,omitempty"`
	// TransitiveTags are the keys of the tags that further sessions keep.
	TransitiveTags []string `json:"transitiveTags,omitempty"`
	// Policy is a session policy, in JSON, which only takes away.
	Policy string `json:"policy,omitempty"`
	// PolicyARNs are managed policies that are session policies.
	PolicyARNs []string `json:"policyARNs,omitempty"`
	// Duration is how long the session holds; 0 is one hour, which every role
	// grants and which is the most for a role assumed by a role.
	Duration time.Duration `json:"duration,omitempty"`
}

// Chain is a list of roles, assumed one after the other. It is a value: equal
// chains are ==, and the zero value is the empty chain.
type Chain struct{ encoded string }

// NewChain makes a chain of roles in the order in which they are assumed.
func NewChain(roles ...Role) Chain {
	if len(roles) == 0 {
		return Chain{}
	}
	// Maps are written in the order of their keys, so equal roles have one text;
	// a Role has nothing that JSON cannot write.
	text, err := json.Marshal(roles)
	if err != nil {
		panic("identity: " + err.Error())
	}
	return Chain{encoded: string(text)}
}

// Roles are those of the chain, in a new list.
func (c Chain) Roles() []Role {
	if c.encoded == "" {
		return nil
	}
	var roles []Role
	if err := json.Unmarshal([]byte(c.encoded), &roles); err != nil {
		panic("identity: " + err.Error())
	}
	return roles
}

// Then is the chain with more roles at its end.
func (c Chain) Then(roles ...Role) Chain {
	if len(roles) == 0 {
		return c
	}
	return NewChain(append(c.Roles(), roles...)...)
}

// Equal is ==, for those who compare by method.
func (c Chain) Equal(other Chain) bool { return c == other }

// String is the chain in JSON, empty for the empty chain.
func (c Chain) String() string { return c.encoded }
