package issuer

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	movingAccount = "111122223333"
	forAWS        = "sts.amazonaws.com"
)

// moving is a cluster of two API servers whose issuer is moved, and an account that knows
// the old issuer and the new one.
type moving struct {
	*testing.T
	*testkit.Cluster
	servers  map[string]*testkit.APIServer
	aws      *awstest.Lab
	old, new string // issuers
	oldARN   string // provider of the old issuer
}

// startMoving starts it where the move begins badly: b still has the old issuer alone, and a
// signs for the new one already, and accepts both.
func startMoving(t *testing.T) *moving {
	t.Helper()
	var first *testkit.APIServer
	keys := func(ctx context.Context) ([]byte, error) { return first.Keys(ctx) }
	before, after := testkit.ServeIssuer(t, keys), testkit.ServeIssuer(t, keys)
	c := testkit.StartCluster(t, testkit.ClusterOptions{Issuer: before.URL})
	first = c.APIServer
	roots := x509.NewCertPool()
	roots.AddCert(before.Certificate())
	roots.AddCert(after.Certificate())
	m := &moving{T: t, Cluster: c, old: before.URL, new: after.URL,
		servers: map[string]*testkit.APIServer{"a": first.StartAnotherFor(t, after.URL, before.URL), "b": first},
		aws:     awstest.Start(t, awslocal.Options{Accounts: []string{movingAccount}, TrustedCAs: roots}),
	}
	m.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})
	m.oldARN = m.aws.Provider(movingAccount, m.old, forAWS)
	newARN := m.aws.Provider(movingAccount, m.new, forAWS)
	m.aws.Role(movingAccount, "both", both(trust(m.oldARN), trust(newARN)), "")
	m.aws.Role(movingAccount, "old-only", trust(m.oldARN), "")
	return m
}

func trust(provider string) string {
	return awstest.Trust(provider, "system:serviceaccount:default:app", forAWS)
}

// both has the statements of two policies.
func both(one, two string) string {
	type policy struct {
		Version   string
		Statement []json.RawMessage
	}
	var first, second policy
	_, _ = json.Unmarshal([]byte(one), &first), json.Unmarshal([]byte(two), &second)
	first.Statement = append(first.Statement, second.Statement...)
	text, _ := json.Marshal(first)
	return string(text)
}

// token is a new one from an API server, and names the wanted issuer.
func (m *moving) token(server, issuer string, audiences ...string) string {
	m.T.Helper()
	kube := must.Get(kubernetes.NewForConfig(m.servers[server].Config))(m.T)
	made := must.Get(kube.CoreV1().ServiceAccounts("default").CreateToken(m.T.Context(), "app",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}, metav1.CreateOptions{}))(m.T)
	var claims struct{ Iss string }
	payload := must.Get(base64.RawURLEncoding.DecodeString(strings.Split(made.Status.Token, ".")[1]))(m.T)
	must.Do(m.T, json.Unmarshal(payload, &claims))
	if claims.Iss != issuer {
		m.T.Fatalf("the token of API server %s names %s, want %s", server, claims.Iss, issuer)
	}
	return made.Status.Token
}

// wantAccepted demands that an API server takes a token as its ServiceAccount's, or does not.
func (m *moving) wantAccepted(server, token string, want bool) {
	m.T.Helper()
	kube := must.Get(kubernetes.NewForConfig(m.servers[server].Config))(m.T)
	answer := must.Get(kube.AuthenticationV1().TokenReviews().Create(m.T.Context(),
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{}))(m.T)
	if answer.Status.Authenticated != want || want && answer.Status.User.Username != "system:serviceaccount:default:app" {
		m.T.Errorf("API server %s: accepted is %v, want %v: %+v", server, answer.Status.Authenticated, want, answer.Status)
	}
}

func (m *moving) wantAcceptedByBoth(tokens ...string) {
	m.T.Helper()
	for server := range m.servers {
		for _, token := range tokens {
			m.wantAccepted(server, token, true)
		}
	}
}

// wantRole demands that a token may assume a role, or is refused with a code.
func (m *moving) wantRole(role, token, refusal string) {
	m.T.Helper()
	_, err := sts.NewFromConfig(m.aws.As(aws.Credentials{})).AssumeRoleWithWebIdentity(m.T.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String("arn:aws:iam::" + movingAccount + ":role/" + role), RoleSessionName: aws.String("app"), WebIdentityToken: &token,
	})
	switch {
	case refusal == "" && err != nil:
		m.T.Errorf("%s: %v", role, err)
	case refusal != "" && (err == nil || !strings.Contains(err.Error(), refusal)):
		m.T.Errorf("%s: %v, want %s", role, err, refusal)
	}
}

// TestAnIssuerIsMovedOnTwoAPIServers goes the way of docs/moving-an-issuer.md, and shows the
// tokens of each state to both API servers. It begins with what the page warns of: a was
// restarted to sign for the new issuer, though b does not accept it yet.
func TestAnIssuerIsMovedOnTwoAPIServers(t *testing.T) {
	t.Parallel()
	m := startMoving(t)
	b := m.servers["b"]
	old, oldForAWS := m.token("b", m.old), m.token("b", m.old, forAWS)

	early := m.token("a", m.new)
	m.wantAccepted("b", early, false)
	m.wantAccepted("a", early, true)
	m.wantAccepted("a", old, true)

	b.SetIssuers(t, m.old, m.new) // it accepts the new one, and signs as before
	m.token("b", m.old)
	m.wantAcceptedByBoth(early, old) // while a signs for the new issuer, b accepts it

	newForAWS := m.token("a", m.new, forAWS)
	m.wantRole("both", oldForAWS, "")
	m.wantRole("both", newForAWS, "")
	m.wantRole("old-only", oldForAWS, "")
	m.wantRole("old-only", newForAWS, "AccessDenied")

	b.SetIssuers(t, m.new, m.old) // both sign for the new one, and accept both
	m.wantAcceptedByBoth(early, m.token("b", m.new), old)

	b.SetIssuers(t, m.new) // without the old one as the second, every running pod's token is refused
	m.wantAccepted("b", old, false)
	m.wantAcceptedByBoth(early, m.token("b", m.new))
	m.wantRole("both", oldForAWS, "") // the cluster's end of the old issuer is not AWS's
	m.aws.Must(m.aws.IAM(movingAccount).DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &m.oldARN}))
	m.wantRole("both", oldForAWS, "InvalidIdentityToken")
	m.wantRole("both", newForAWS, "")
}
