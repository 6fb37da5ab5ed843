package conformance_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

func caller(t *testing.T, cfg aws.Config) (string, error) {
	t.Helper()
	answer, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	equal(t, *answer.Account, account)
	return *answer.Arn, nil
}

func demandCaller(t *testing.T, cfg aws.Config, want string) {
	t.Helper()
	got, err := caller(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, want)
}

// operator asks for a session of the role "operator".
func (w *world) operator(t *testing.T) *types.Credentials {
	t.Helper()
	answer, err := sts.NewFromConfig(w.config(t, nil)).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String(role("operator")), RoleSessionName: aws.String("go"), DurationSeconds: aws.Int32(900),
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, *answer.AssumedRoleUser.Arn, session("operator", "go"))
	return answer.Credentials
}

func of(c *types.Credentials) func(*config.LoadOptions) error {
	return static(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken)
}

func (w *world) pod(t *testing.T, token string) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	t.Helper()
	return sts.NewFromConfig(w.config(t, nil)).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String(role("pod")), RoleSessionName: aws.String("go"), WebIdentityToken: &token,
	})
}

var goSTS = map[string]attempt{
	"the caller is the key's user": func(t *testing.T, w *world) {
		demandCaller(t, w.config(t, nil), administrator)
	},
	"a wrong secret is refused": func(t *testing.T, w *world) {
		_, err := caller(t, w.config(t, map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong"}))
		refused(t, err, "SignatureDoesNotMatch")
	},
	"an unknown key is refused": func(t *testing.T, w *world) {
		_, err := caller(t, w.config(t, map[string]string{"AWS_ACCESS_KEY_ID": "AKIAAAAAAAAAAAAAAAAA"}))
		refused(t, err, "InvalidClientTokenId")
	},
	"a role is assumed": func(t *testing.T, w *world) {
		demandCaller(t, w.config(t, nil, of(w.operator(t))), session("operator", "go"))
	},
	"a web identity token becomes a session": func(t *testing.T, w *world) {
		answer := must[*sts.AssumeRoleWithWebIdentityOutput](t)(w.pod(t, w.token))
		equal(t, *answer.SubjectFromWebIdentityToken, subject)
		equal(t, *answer.Audience, audience)
		demandCaller(t, w.config(t, nil, of(answer.Credentials)), session("pod", "go"))
	},
	"a tampered web identity token is refused": func(t *testing.T, w *world) {
		signature := strings.LastIndex(w.token, ".") + 1
		for _, token := range []string{tampered(w.token), w.token[:signature] + tampered(w.token[signature:])} {
			_, err := w.pod(t, token)
			refused(t, err, "InvalidIdentityToken")
		}
	},
	// The session starts ten minutes ago and ends five minutes from now; ten
	// minutes on it has ended, and no signature is older than what is allowed.
	"a session that has expired is refused": func(t *testing.T, w *world) {
		var given *types.Credentials
		w.moved(-10*time.Minute, func() { given = w.operator(t) })
		demandCaller(t, w.config(t, nil, of(given)), session("operator", "go"))
		w.moved(10*time.Minute, func() {
			_, err := caller(t, w.config(t, nil, of(given)))
			equal(t, refused(t, err, "ExpiredToken"), "The security token included in the request is expired")
		})
	},
	"a tampered session token is refused": func(t *testing.T, w *world) {
		given := w.operator(t)
		for _, token := range []string{tampered(*given.SessionToken), ""} {
			_, err := caller(t, w.config(t, nil, static(*given.AccessKeyId, *given.SecretAccessKey, token)))
			refused(t, err, "InvalidClientTokenId")
		}
	},
	"a wrong clock is set right": func(t *testing.T, w *world) {
		w.moved(40*time.Minute, func() {
			_, err := caller(t, w.config(t, nil))
			if text := refused(t, err, "SignatureDoesNotMatch"); !strings.HasPrefix(text, "Signature expired: ") {
				t.Errorf("refused with %s", text)
			}
			demandCaller(t, w.config(t, map[string]string{"AWS_MAX_ATTEMPTS": "2"}), administrator)
		})
	},
	"a presigned GetCallerIdentity is an EKS token": func(t *testing.T, w *world) {
		client := sts.NewPresignClient(sts.NewFromConfig(w.config(t, nil)))
		signed := must[*v4.PresignedHTTPRequest](t)(client.PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}, forCluster("cluster-a")))
		w.verifyEKSToken(t, "k8s-aws-v1."+base64.RawURLEncoding.EncodeToString([]byte(signed.URL)), "cluster-a")
	},
}

// forCluster signs the headers that a cluster's token has.
func forCluster(name string) func(*sts.PresignOptions) {
	return func(o *sts.PresignOptions) {
		o.ClientOptions = append(o.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				return errors.Join(smithyhttp.SetHeaderValue("X-K8s-Aws-Id", name)(stack), smithyhttp.SetHeaderValue("X-Amz-Expires", "60")(stack))
			})
		})
	}
}

// forSTS adds the variable that the SDK's own STS clients look at: they are made
// before AWS_ENDPOINT_URL is taken into account.
func (w *world) forSTS(variables map[string]string) map[string]string {
	variables["AWS_ENDPOINT_URL_STS"] = w.url
	return variables
}

var goChain = map[string]attempt{
	"the default chain takes keys from the environment": func(t *testing.T, w *world) {
		demandCaller(t, w.config(t, nil), administrator)
	},
	"the default chain takes a token file": func(t *testing.T, w *world) {
		demandCaller(t, w.config(t, w.forSTS(w.tokenVariables())), session("pod", "chain"))
	},
	"the default chain follows source_profile": func(t *testing.T, w *world) {
		demandCaller(t, w.config(t, w.forSTS(w.profileVariables(t))), session("operator", "profile"))
	},
	"the default chain asks the container endpoint": func(t *testing.T, w *world) {
		isAgentSession(t, must[string](t)(caller(t, w.config(t, w.agentVariables()))))
	},
	// The exchange is not signed, so the server may be far behind: the session
	// that it gives has ended already by the clock of the SDK.
	"credentials that end are renewed": func(t *testing.T, w *world) {
		cfg := w.config(t, w.forSTS(w.tokenVariables()))
		var old aws.Credentials
		w.moved(-61*time.Minute, func() { old = must[aws.Credentials](t)(cfg.Credentials.Retrieve(t.Context())) })
		if !old.Expires.Before(time.Now()) {
			t.Errorf("the first session ends at %v", old.Expires)
		}
		demandCaller(t, cfg, session("pod", "chain"))
		renewed := must[aws.Credentials](t)(cfg.Credentials.Retrieve(t.Context()))
		if renewed.AccessKeyID == old.AccessKeyID || !renewed.Expires.After(time.Now()) {
			t.Errorf("the second session is %s until %v, the first was %s", renewed.AccessKeyID, renewed.Expires, old.AccessKeyID)
		}
		_, err := caller(t, w.config(t, nil, static(old.AccessKeyID, old.SecretAccessKey, old.SessionToken)))
		refused(t, err, "ExpiredToken")
	},
}
