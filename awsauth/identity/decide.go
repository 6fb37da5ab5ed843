package identity

// Environment is what a process's environment says of who it is. Empty is
// unset.
type Environment struct {
	// RoleARN is AWS_ROLE_ARN.
	RoleARN string
	// TokenFile is AWS_WEB_IDENTITY_TOKEN_FILE.
	TokenFile string
	// Container says that AWS_CONTAINER_CREDENTIALS_FULL_URI or
	// AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is set.
	Container bool
}

// Wish is what an object, and the process's administrator, ask for.
type Wish struct {
	// Secret is the one that the object names, the zero value for none.
	Secret SecretRef
	// For is the kind and name of the object, such as "machineSet workers", for
	// the error that nothing is configured; empty for none.
	For string
	// AllowContainer lets the container's credentials in.
	AllowContainer bool
	// AllowDefaultChain lets the SDK's default chain in, after all else.
	AllowDefaultChain bool
}

// Codes of the errors of Decide.
const (
	// CodeWebIdentityIncomplete is an environment with half a web identity.
	CodeWebIdentityIncomplete = "WebIdentityIncomplete"
	// CodeCredentialsMissing is neither a web identity nor a Secret.
	CodeCredentialsMissing = "CredentialsMissing"
)

// Error is why there is no identity. It is one line and safe to show.
type Error struct{ Code, Message string }

// Error is Message.
func (e *Error) Error() string { return e.Message }

// Decide is the one place that chooses a base; the table is in the package's
// comment. The error is an *Error: only a change of the environment, of the
// object or of what its administrator allows helps.
func Decide(env Environment, wish Wish) (Identity, error) {
	if err := env.Check(); err != nil {
		return Identity{}, err
	}
	switch {
	case env.RoleARN != "":
		return Identity{Base: WebIdentity}, nil
	case wish.Secret.Name != "":
		return Identity{Base: Secret, Secret: wish.Secret}, nil
	case wish.AllowContainer && env.Container:
		return Identity{Base: Container}, nil
	case wish.AllowDefaultChain:
		return Identity{Base: DefaultChain}, nil
	}
	return Identity{}, nothingConfigured(wish.For)
}

// Check is an *Error if the environment has half a web identity: whoever meant
// to use one must not become somebody else instead.
func (env Environment) Check() error {
	switch {
	case env.RoleARN != "" && env.TokenFile == "":
		return &Error{CodeWebIdentityIncomplete, "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing"}
	case env.RoleARN == "" && env.TokenFile != "":
		return &Error{CodeWebIdentityIncomplete, "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing"}
	}
	return nil
}

func nothingConfigured(object string) *Error {
	text := "no AWS credentials configured"
	if object != "" {
		text += " for " + object
	}
	return &Error{CodeCredentialsMissing, text + ": neither IRSA environment variables nor credentialsSecret specified"}
}
