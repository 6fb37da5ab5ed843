// Package identity says, as plain data, who to be in AWS and where: the base
// credentials, the roles assumed on top of them, and the region. Decisions
// produce an Identity, adapters hand it to awsauth, which resolves it. That is
// the only way from an object to an AWS call.
package identity

// Base is where the first credentials come from.
type Base string

const (
	// WebIdentity exchanges the projected ServiceAccount token that the
	// environment names (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE).
	WebIdentity Base = "WebIdentity"
	// Session is a person's own AWS session, found by the SDK's default chain.
	// Only commands that people type ask for it, never a controller.
	Session Base = "Session"
)

// Identity is who to be and where. It is comparable: equal identities share one
// cached configuration.
type Identity struct {
	// Base is the source of the first credentials. The zero value is no
	// identity and is refused.
	Base Base
	// AssumeRoleARN is a role to assume from the base; empty for none.
	AssumeRoleARN string
	// Region is where calls are signed for and sent to.
	Region string
}

// In is the same identity in another region.
func (i Identity) In(region string) Identity {
	i.Region = region
	return i
}

// Assuming is the same identity with a role assumed on top; an empty ARN leaves
// it as it is.
func (i Identity) Assuming(roleARN string) Identity {
	if roleARN != "" {
		i.AssumeRoleARN = roleARN
	}
	return i
}
