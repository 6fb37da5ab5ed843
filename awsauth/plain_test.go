package awsauth_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// naming is an STS whose refusals of one action hold what is new each time: request IDs in
// the header and in the text, and a date; or a connection that breaks at another port.
type naming struct {
	action string
	broken bool
	n      atomic.Int64
}

func (s *naming) Do(request *http.Request) (*http.Response, error) {
	if err := request.ParseForm(); err != nil {
		return nil, err
	}
	n, action := s.n.Add(1), request.Form.Get("Action")
	id := fmt.Sprintf("0123-4567-89ab-%06d", n)
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"X-Amzn-Requestid": {id}}, Request: request}
	text := answerOf(action)
	switch {
	case action == s.action && s.broken:
		return nil, &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: 50_000 + int(n)}, Addr: &net.TCPAddr{Port: 443}, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case action == s.action:
		answer.StatusCode = http.StatusForbidden
		text = `<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you, said at 2026-01-01T12:00:0` + fmt.Sprint(n%10) + `Z (Request ID: ` + id +
			`)</Message></Error><RequestId>` + id + `</RequestId></ErrorResponse>`
	}
	answer.Body = io.NopCloser(strings.NewReader(text))
	return answer, nil
}

func answerOf(action string) string {
	return strings.ReplaceAll(`<XResponse><XResult><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>hush</SecretAccessKey>
<SessionToken>hush</SessionToken><Expiration>2026-01-01T13:00:00Z</Expiration></Credentials></XResult></XResponse>`, "X", action)
}

// TestPlainErrorsAreTheSameAtEveryAttempt, one line, with what failed for whom, and neither a
// request ID nor a time nor a local port: those who log an error as it is, or put it into a
// condition, do no harm.
func TestPlainErrorsAreTheSameAtEveryAttempt(t *testing.T) {
	profile := "[default]\nregion = eu-west-1\nrole_arn = " + testRole + "\nweb_identity_token_file = " + writeFile(t, "token", "token") + "\n"
	for key, value := range map[string]string{
		"AWS_CONFIG_FILE": writeFile(t, "config", profile), "AWS_SHARED_CREDENTIALS_FILE": writeFile(t, "credentials", ""), "AWS_CA_BUNDLE": "",
		"AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
	} {
		t.Setenv(key, value)
	}
	own := identity.Identity{Base: identity.Session, Region: "eu-west-1"}
	for _, c := range []struct {
		id             identity.Identity
		action, method string
	}{
		{web, "AssumeRoleWithWebIdentity", "irsa"},
		{web, "GetCallerIdentity", "irsa"},
		{web.Assuming(otherRole), "AssumeRoleWithWebIdentity", "irsa"},
		{web.Assuming(otherRole), "AssumeRole", "irsa"},
		{web.Assuming(otherRole), "GetCallerIdentity", "irsa"},
		{own, "AssumeRoleWithWebIdentity", "session"},
		{own, "GetCallerIdentity", "session"},
		{own.Assuming(otherRole), "AssumeRole", "session"},
	} {
		for _, broken := range []bool{false, true} {
			if broken && len(c.id.Roles.Roles()) == 0 {
				continue // the same path, and each row waits
			}
			t.Run(fmt.Sprintf("%s %s of %d roles, broken %v", c.method, c.action, len(c.id.Roles.Roles()), broken), func(t *testing.T) {
				t.Parallel() // the SDK waits between attempts
				options := webWorld().options()
				options.HTTPClient = &naming{action: c.action, broken: broken}
				auth, err := awsauth.New(options)
				if err != nil {
					t.Fatal(err)
				}
				config, err := auth.Config(t.Context(), c.id)
				if err != nil {
					t.Fatal(err)
				}
				checkPlain(t, c.action, c.method, func() error {
					_, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil)
					return err
				})
				if c.action != "GetCallerIdentity" {
					checkPlain(t, c.action, c.method, func() error {
						_, err := aws.NewCredentialsCache(config.Credentials).Retrieve(t.Context())
						return err
					})
				}
			})
		}
	}
}

func checkPlain(t *testing.T, action, method string, call func() error) {
	t.Helper()
	first := call()
	if first == nil {
		t.Fatal("the call did not fail")
	}
	text := first.Error()
	t.Log(text)
	for _, part := range []string{"0123-4567", "T12:00", "50", "\n", "hush"} {
		if strings.Contains(text, part) {
			t.Errorf("%q is in %s", part, text)
		}
	}
	if !strings.Contains(text, action) || !strings.Contains(text, "authMethod="+method) {
		t.Errorf("neither %s nor the method %s is in %s", action, method, text)
	}
	if !strings.Contains(text, "not you") && !strings.Contains(text, "connection reset") {
		t.Errorf("what AWS said, or what broke, is not in %s", text)
	}
	if again := call(); again == nil || again.Error() != text {
		t.Errorf("the second time it is %v, not %s", again, text)
	}
	if known := fault.Of("", "", first); known.Operation != action || (known.Code != "AccessDenied") != (known.Class == fault.Transient) {
		t.Errorf("the fault is %+v", known)
	}
}
