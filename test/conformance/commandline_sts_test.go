package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// whoami are the arguments that print the caller's ARN.
var whoami = []string{"sts", "get-caller-identity", "--query", "Arn", "--output", "text"}

// sessionOf reads STS's answer as variables for the next command.
func sessionOf(t *testing.T, answer string) map[string]string {
	t.Helper()
	var given struct {
		Credentials struct{ AccessKeyID, SecretAccessKey, SessionToken string }
	}
	if err := json.Unmarshal([]byte(answer), &given); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	c := given.Credentials
	return map[string]string{"AWS_ACCESS_KEY_ID": c.AccessKeyID, "AWS_SECRET_ACCESS_KEY": c.SecretAccessKey, "AWS_SESSION_TOKEN": c.SessionToken}
}

func (w *world) assume(t *testing.T) map[string]string {
	t.Helper()
	return sessionOf(t, w.answers(t, nil, "sts", "assume-role", "--role-arn", role("operator"), "--role-session-name", "cli", "--duration-seconds", "900"))
}

func exchange(token string) []string {
	return []string{"sts", "assume-role-with-web-identity", "--role-arn", role("pod"), "--role-session-name", "cli", "--web-identity-token", token}
}

var commandLineSTS = map[string]attempt{
	"the caller is the key's user": func(t *testing.T, w *world) {
		equal(t, w.answers(t, nil, whoami...), administrator)
	},
	"a wrong secret is refused": func(t *testing.T, w *world) {
		w.refuses(t, map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong"}, "SignatureDoesNotMatch", whoami...)
	},
	"an unknown key is refused": func(t *testing.T, w *world) {
		w.refuses(t, map[string]string{"AWS_ACCESS_KEY_ID": "AKIAAAAAAAAAAAAAAAAA"}, "InvalidClientTokenId", whoami...)
	},
	"a role is assumed": func(t *testing.T, w *world) {
		equal(t, w.answers(t, w.assume(t), whoami...), session("operator", "cli"))
	},
	"a web identity token becomes a session": func(t *testing.T, w *world) {
		equal(t, w.answers(t, sessionOf(t, w.answers(t, nil, exchange(w.token)...)), whoami...), session("pod", "cli"))
	},
	"a tampered web identity token is refused": func(t *testing.T, w *world) {
		signature := strings.LastIndex(w.token, ".") + 1
		w.refuses(t, nil, "InvalidIdentityToken", exchange(tampered(w.token))...)
		w.refuses(t, nil, "InvalidIdentityToken", exchange(w.token[:signature]+tampered(w.token[signature:]))...)
	},
	// The session starts ten minutes ago and ends five minutes from now; ten
	// minutes on it has ended, and no signature is older than what is allowed.
	"a session that has expired is refused": func(t *testing.T, w *world) {
		var given map[string]string
		w.moved(-10*time.Minute, func() { given = w.assume(t) })
		equal(t, w.answers(t, given, whoami...), session("operator", "cli"))
		w.moved(10*time.Minute, func() { w.refuses(t, given, "ExpiredToken", whoami...) })
	},
	"a tampered session token is refused": func(t *testing.T, w *world) {
		given := w.assume(t)
		given["AWS_SESSION_TOKEN"] = tampered(given["AWS_SESSION_TOKEN"])
		w.refuses(t, given, "InvalidClientTokenId", whoami...)
		given["AWS_SESSION_TOKEN"] = ""
		w.refuses(t, given, "InvalidClientTokenId", whoami...)
	},
	"eks get-token makes a token for a cluster": func(t *testing.T, w *world) {
		token := w.answers(t, nil, "eks", "get-token", "--cluster-name", "cluster-a", "--query", "status.token", "--output", "text")
		w.verifyEKSToken(t, token, "cluster-a")
	},
}

// verifyEKSToken does what a cluster does with a token: it takes the URL out of
// it, and asks there with its own name.
func (w *world) verifyEKSToken(t *testing.T, token, cluster string) {
	t.Helper()
	const prefix = "k8s-aws-v1."
	url, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, prefix))
	if err != nil || !strings.HasPrefix(token, prefix) {
		t.Fatalf("the token is %q, error %v", token, err)
	}
	if !strings.HasPrefix(string(url), w.url) {
		t.Fatalf("the token's URL is %s, want one of %s", url, w.url)
	}
	ask := func(cluster string) (int, string) {
		return w.ask(t, http.MethodGet, string(url), "", http.Header{"Accept": {"application/json"}, "X-K8s-Aws-Id": {cluster}})
	}
	if status, body := ask(cluster); status != http.StatusOK || !strings.Contains(body, `"Arn":"`+administrator+`"`) {
		t.Errorf("the token is answered %d %s", status, body)
	}
	if status, body := ask("another"); status != http.StatusForbidden || !strings.Contains(body, "SignatureDoesNotMatch") {
		t.Errorf("the token for another cluster is answered %d %s", status, body)
	}
}

var commandLineChain = map[string]attempt{
	"the default chain takes keys from the environment": func(t *testing.T, w *world) {
		equal(t, w.answers(t, nil, whoami...), administrator)
	},
	"the default chain takes a token file": func(t *testing.T, w *world) {
		equal(t, w.answers(t, w.tokenVariables(), whoami...), session("pod", "chain"))
	},
	"the default chain follows source_profile": func(t *testing.T, w *world) {
		equal(t, w.answers(t, w.profileVariables(t), whoami...), session("operator", "profile"))
	},
	"the default chain asks the container endpoint": func(t *testing.T, w *world) {
		isAgentSession(t, w.answers(t, w.agentVariables(), whoami...))
	},
	"the endpoint is given by a flag": func(t *testing.T, w *world) {
		equal(t, w.answers(t, map[string]string{"AWS_ENDPOINT_URL": ""}, append([]string{"--endpoint-url", w.url}, whoami...)...), administrator)
	},
}
