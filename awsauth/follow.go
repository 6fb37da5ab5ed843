package awsauth

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Follow is a configuration for clients that live as long as the process: each of their
// calls is made with the credentials that Config has then, and its Credentials can be
// used by themselves. So it follows the Secret and the certificates. A Secret that does
// not exist yet is no error: calls fail until it does, and again from when it is
// deleted. Region and endpoints are the identity's: where they change, ask again. An
// error is an *Error and says what can never work, or what could not be read.
func (a *Auth) Follow(ctx context.Context, id identity.Identity) (aws.Config, error) {
	id, err := a.complete(id)
	if err != nil {
		return aws.Config{}, err
	}
	p, err := a.surroundings(ctx, id)
	if err != nil {
		return aws.Config{}, err
	}
	who := caller{methodOf(id.Base), a.subjectOf(id, p)}
	if role := id.RoleARN(); role != "" {
		who.subject = role
	}
	bare := a.bare(id, p)
	if isDefaultChain(id.Base) {
		bare = a.ofPerson(id, p, who)
	}
	return a.callingAs(bare, followed{a, id}, who), nil
}

// followed are the credentials that an identity has when they are asked for.
type followed struct {
	auth *Auth
	id   identity.Identity
}

// Retrieve returns those of now.
func (f followed) Retrieve(ctx context.Context) (aws.Credentials, error) {
	config, err := f.auth.Config(ctx, f.id)
	if err != nil {
		return aws.Credentials{}, err
	}
	return config.Credentials.Retrieve(ctx)
}

func (f followed) drop(ctx context.Context, accessKeyID string) bool {
	config, err := f.auth.Config(ctx, f.id)
	if err != nil {
		return false
	}
	kept, ours := config.Credentials.(*keptCredentials)
	return ours && kept.drop(ctx, accessKeyID)
}
