package awsauth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	envRoleARN     = "AWS_ROLE_ARN"
	envTokenFile   = "AWS_WEB_IDENTITY_TOKEN_FILE"
	envSessionName = "AWS_ROLE_SESSION_NAME"
	envHostname    = "HOSTNAME"
	// maxSessionName is STS's limit of a RoleSessionName.
	maxSessionName = 64
)

var (
	roleARN = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+$`) })
	// notInSessionName is what STS refuses in a RoleSessionName.
	notInSessionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\w+=,.@-]`) })
)

// webIdentity is the configuration of the projected token that the environment
// names, before any further role.
func (a *Auth) webIdentity(region string) (aws.Config, error) {
	role, file := a.getenv(envRoleARN), a.getenv(envTokenFile)
	switch {
	case role == "" && file == "":
		return aws.Config{}, &Error{Code: CodeWebIdentityMissing, Message: "neither AWS_ROLE_ARN nor " +
			"AWS_WEB_IDENTITY_TOKEN_FILE is set; annotate the ServiceAccount with eks.amazonaws.com/role-arn, " +
			"or set both variables and project a token"}
	case role == "":
		return aws.Config{}, incomplete(envTokenFile, envRoleARN)
	case file == "":
		return aws.Config{}, incomplete(envRoleARN, envTokenFile)
	case !roleARN().MatchString(role):
		return aws.Config{}, invalidARN(envRoleARN, role)
	}
	config := a.bare(region)
	// The exchange happens in the process's own region, so that identities
	// which differ only in their region share it.
	exchange := a.bare(a.env.region())
	if exchange.Region == "" {
		exchange.Region = config.Region
	}
	config.Credentials = a.credentialsFor(
		credentialKey{base: identity.WebIdentity, stsRegion: exchange.Region},
		func() aws.CredentialsProvider {
			return &tokenExchange{
				client:   sts.NewFromConfig(exchange),
				role:     role,
				session:  a.session,
				file:     file,
				readFile: a.readFile,
			}
		})
	return config, nil
}

func incomplete(set, missing string) *Error {
	return &Error{Code: CodeWebIdentityIncomplete, Message: fmt.Sprintf(
		"%s is set and %s is not; a web identity needs both", set, missing)}
}

// assuming puts the identity's role on top of the base credentials.
func (a *Auth) assuming(config aws.Config, id identity.Identity) (aws.Config, error) {
	if id.AssumeRoleARN == "" {
		return config, nil
	}
	if !roleARN().MatchString(id.AssumeRoleARN) {
		return aws.Config{}, invalidARN("the role to assume", id.AssumeRoleARN)
	}
	base := config.Copy()
	if region := a.env.region(); region != "" && id.Base == identity.WebIdentity {
		base.Region = region
	}
	config.Credentials = a.credentialsFor(
		credentialKey{base: id.Base, role: id.AssumeRoleARN, stsRegion: base.Region},
		func() aws.CredentialsProvider {
			return stscreds.NewAssumeRoleProvider(sts.NewFromConfig(base), id.AssumeRoleARN,
				func(o *stscreds.AssumeRoleOptions) { o.RoleSessionName = a.session })
		})
	return config, nil
}

// credentialsFor returns the kept credentials of a key; the caller holds the
// lock.
func (a *Auth) credentialsFor(key credentialKey, source func() aws.CredentialsProvider) aws.CredentialsProvider {
	kept, ok := a.credentials[key]
	if !ok {
		kept = newKeptCredentials(source(), a.now)
		a.credentials[key] = kept
	}
	return kept
}

// tokenExchange turns the token file's content into credentials. The file is
// read at each exchange: the kubelet replaces it long before it expires.
type tokenExchange struct {
	client interface {
		AssumeRoleWithWebIdentity(context.Context, *sts.AssumeRoleWithWebIdentityInput,
			...func(*sts.Options)) (*sts.AssumeRoleWithWebIdentityOutput, error)
	}
	role, session, file string
	readFile            func(string) ([]byte, error)
}

// Retrieve does one exchange. Unlike the SDK's provider it does not repeat a
// refused token: whoever calls comes back by itself, and says why meanwhile.
func (x *tokenExchange) Retrieve(ctx context.Context) (aws.Credentials, error) {
	token, err := x.token()
	if err != nil {
		return aws.Credentials{}, err
	}
	out, err := x.client.AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn:          &x.role,
		RoleSessionName:  &x.session,
		WebIdentityToken: &token,
	})
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("exchanging the token of %s for %s: %w", x.file, x.role, err)
	}
	if out.Credentials == nil || aws.ToString(out.Credentials.AccessKeyId) == "" {
		return aws.Credentials{}, fmt.Errorf("exchanging the token of %s for %s: STS answered without credentials",
			x.file, x.role)
	}
	return aws.Credentials{
		AccessKeyID:     aws.ToString(out.Credentials.AccessKeyId),
		SecretAccessKey: aws.ToString(out.Credentials.SecretAccessKey),
		SessionToken:    aws.ToString(out.Credentials.SessionToken),
		Source:          "TabardWebIdentity",
		CanExpire:       true,
		Expires:         aws.ToTime(out.Credentials.Expiration),
	}, nil
}

func (x *tokenExchange) token() (string, error) {
	content, err := x.readFile(x.file)
	if err != nil {
		reason := "it cannot be read"
		switch {
		case errors.Is(err, fs.ErrNotExist):
			reason = "there is no such file"
		case errors.Is(err, fs.ErrPermission):
			reason = "this process may not read it"
		}
		return "", &Error{Code: CodeTokenUnreadable, cause: err, Message: fmt.Sprintf(
			"the token file %s of %s: %s; check the pod's projected volume", x.file, envTokenFile, reason)}
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", &Error{Code: CodeTokenUnreadable, Message: fmt.Sprintf(
			"the token file %s of %s is empty; check the pod's projected volume", x.file, envTokenFile)}
	}
	return token, nil
}

// sessionName is what CloudTrail shows behind the role: the environment's name,
// or the pod's, or the second in which the process began.
func sessionName(getenv func(string) string, now time.Time) string {
	if name := getenv(envSessionName); name != "" {
		return name
	}
	suffix := getenv(envHostname)
	if suffix == "" {
		suffix = strconv.FormatInt(now.Unix(), 10)
	}
	name := notInSessionName().ReplaceAllString("tabard-"+suffix, "-")
	return name[:min(len(name), maxSessionName)]
}
