package awsauth

import (
	"context"
	"errors"
	"fmt"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// ErrNotFound is what a Source, or Tokens, answers, wrapped or not, for what does not exist.
var ErrNotFound = errors.New("not found")

// SecretContent is a Secret as it is now.
type SecretContent struct {
	// Version changes whenever the content does; in Kubernetes it is made of
	// the UID and the resourceVersion.
	Version string
	Data    map[string][]byte
}

// Source knows Secrets and certificate bundles. It is asked at each Config, so
// it should answer from memory and follow changes. It must be safe for
// concurrent use.
type Source interface {
	// Secret returns a Secret, or an error that wraps ErrNotFound.
	Secret(context.Context, identity.SecretRef) (SecretContent, error)
	// Bundle returns certificates in PEM, or an error that wraps ErrNotFound if
	// the object or the key in it does not exist.
	Bundle(context.Context, identity.BundleRef) ([]byte, error)
}

// Tokens requests tokens of ServiceAccounts. It must be safe for concurrent use.
type Tokens interface {
	// Token returns a new token of a ServiceAccount for an audience, which is good for
	// minutes: it is exchanged at once and kept nowhere. The error holds no token, and
	// wraps ErrNotFound if there is no such ServiceAccount.
	Token(ctx context.Context, namespace, serviceAccount, audience string) (string, error)
}

// nothing is the Source of a process that has none.
type nothing struct{}

func (nothing) Secret(context.Context, identity.SecretRef) (SecretContent, error) {
	return SecretContent{}, errors.New("this process reads no Secrets")
}

func (nothing) Bundle(context.Context, identity.BundleRef) ([]byte, error) {
	return nil, errors.New("this process reads no certificate bundles")
}

func (nothing) Token(context.Context, string, string, string) (string, error) {
	return "", errors.New("this process requests no tokens: awsauth.Options has no Tokens")
}

// readSecret reads and parses the Secret of an identity.
func (a *Auth) readSecret(ctx context.Context, ref identity.SecretRef) (secret, string, error) {
	content, err := a.source.Secret(ctx, ref)
	switch {
	case errors.Is(err, ErrNotFound):
		return secret{}, "", &Error{Code: fault.CodeSecretNotFound, cause: err, Message: fmt.Sprintf(
			"aws credentials secret %s: secrets %q not found", ref, ref.Name)}
	case err != nil:
		return secret{}, "", &Error{Code: fault.CodeSecretUnreadable, cause: err, Message: fmt.Sprintf(
			"aws credentials secret %s: %s", ref, fault.Clean(err.Error()))}
	}
	parsed, err := parseSecret(content.Data, a.tokenFiles)
	if err != nil {
		return secret{}, "", &Error{Code: fault.CodeSecretInvalid, Message: fmt.Sprintf(
			"invalid secret for aws credentials: Secret %s: %v", ref, err)}
	}
	return parsed, content.Version, nil
}

// readBundle reads the bundle of an identity; nil is no bundle.
func (a *Auth) readBundle(ctx context.Context, ref identity.BundleRef) ([]byte, error) {
	if ref == (identity.BundleRef{}) {
		return nil, nil
	}
	content, err := a.source.Bundle(ctx, ref)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, &Error{Code: fault.CodeBundleUnreadable, cause: err, Message: fmt.Sprintf(
			"failed to set the custom CA bundle: failed to get %s ConfigMap: %s", ref.Name, fault.Clean(err.Error()))}
	}
	if len(content) == 0 {
		content = []byte{}
	}
	return content, nil
}
