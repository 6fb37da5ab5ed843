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
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	envRoleARN     = "AWS_ROLE_ARN"
	envTokenFile   = "AWS_WEB_IDENTITY_TOKEN_FILE"
	envSessionName = "AWS_ROLE_SESSION_NAME"
	envHostname    = "HOSTNAME"
	// The bounds of a RoleSessionName (AWS STS API Reference: AssumeRole).
	minSessionName = 2
	maxSessionName = 64
)

// notInSessionName is what STS refuses in a RoleSessionName.
var notInSessionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\w+=,.@-]`) })

func isSessionName(text string) bool {
	return len(text) >= minSessionName && len(text) <= maxSessionName && !notInSessionName().MatchString(text)
}

// tokenExchange turns a token into credentials. It asks for the token at each
// exchange: the kubelet replaces that of a file long before it expires.
type tokenExchange struct {
	client interface {
		AssumeRoleWithWebIdentity(context.Context, *sts.AssumeRoleWithWebIdentityInput,
			...func(*sts.Options)) (*sts.AssumeRoleWithWebIdentityOutput, error)
	}
	role, session string
	// from is where the token is from, for errors.
	from  string
	token func(context.Context) (string, error)
}

// tokenExchange makes one; an empty session takes the process's own name.
func (a *Auth) tokenExchange(forSTS aws.Config, who caller, role, session, file string) *tokenExchange {
	if session == "" {
		session = a.session
	}
	return &tokenExchange{
		client: sts.NewFromConfig(a.callingAs(forSTS, nil, who)),
		role:   role, session: session, from: file,
		token: func(context.Context) (string, error) { return readToken(a.readFile, file) },
	}
}

// tokenAudience is what the tokens that are requested are for: the one that the SDKs and
// EKS's webhook use.
const tokenAudience = "sts.amazonaws.com"

// accountExchange is the exchange of tokens that are requested for a ServiceAccount.
func (a *Auth) accountExchange(forSTS aws.Config, who caller, account identity.ServiceAccountRef) *tokenExchange {
	x := a.tokenExchange(forSTS, who, account.RoleARN, "", "ServiceAccount "+account.String())
	x.token = func(ctx context.Context) (string, error) {
		token, err := a.tokens.Token(ctx, account.Namespace, account.Name, tokenAudience)
		if err == nil && token == "" {
			err = errors.New("the answer holds no token")
		}
		if err != nil {
			return "", &Error{Code: fault.CodeTokenUnavailable, cause: err, Message: fmt.Sprintf(
				"no token of ServiceAccount %s: %s", account, fault.Clean(err.Error()))}
		}
		return token, nil
	}
	return x
}

// Retrieve does one exchange, and one more if the token had expired and the file
// has another by now. Unlike the SDK's provider it does not repeat a token that
// was refused: whoever calls comes back by itself, and says why meanwhile.
func (x *tokenExchange) Retrieve(ctx context.Context) (aws.Credentials, error) {
	token, err := x.token(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	out, err := x.exchange(ctx, token)
	var expired *types.ExpiredTokenException
	if errors.As(err, &expired) {
		if newer, unread := x.token(ctx); unread == nil && newer != token {
			out, err = x.exchange(ctx, newer)
		}
	}
	doing := "exchanging the token of " + x.from + " for " + x.role
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("%s: %w", doing, err)
	}
	return sessionOf(out.Credentials, doing)
}

func (x *tokenExchange) exchange(ctx context.Context, token string) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	return x.client.AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &x.role, RoleSessionName: &x.session, WebIdentityToken: &token,
	})
}

// readToken reads a projected token. An error is an *Error without the token.
func readToken(readFile func(string) ([]byte, error), file string) (string, error) {
	content, err := readFile(file)
	if err != nil {
		reason := "it cannot be read"
		switch {
		case errors.Is(err, fs.ErrNotExist):
			reason = "there is no such file"
		case errors.Is(err, fs.ErrPermission):
			reason = "this process may not read it"
		}
		return "", &Error{Code: fault.CodeTokenUnreadable, cause: err, Message: fmt.Sprintf(
			"the token file %s: %s; check the pod's projected volume", file, reason)}
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", &Error{Code: fault.CodeTokenUnreadable, Message: fmt.Sprintf(
			"the token file %s is empty; check the pod's projected volume", file)}
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
