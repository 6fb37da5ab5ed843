package contract_test

import (
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// issuer serves its two documents and signs tokens.
type issuer struct {
	*awstest.Issuer
	t testing.TB
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	return &issuer{awstest.StartIssuer(t, awstest.ECKey(t, "one")), t}
}

// token is good at the given instant.
func (i *issuer) token(subject string, now time.Time) string {
	return i.sign(now, map[string]any{"sub": subject, "aud": []string{audience}})
}

// podToken is that of a pod for EKS, good at the given instant.
func (i *issuer) podToken(namespace, serviceAccount string, now time.Time) string {
	return i.sign(now, map[string]any{
		"sub": "system:serviceaccount:" + namespace + ":" + serviceAccount, "aud": []string{"pods.eks.amazonaws.com"},
		"kubernetes.io": map[string]any{
			"namespace":      namespace,
			"serviceaccount": map[string]string{"name": serviceAccount, "uid": "5a5a"},
			"pod":            map[string]string{"name": serviceAccount + "-7d9f", "uid": "b0b0"},
		},
	})
}

// sign adds the issuer and the times to the claims.
func (i *issuer) sign(now time.Time, claims map[string]any) string {
	claims["iss"], claims["iat"], claims["exp"] = i.Issuer.Issuer(), now.Unix(), now.Add(time.Hour).Unix()
	return i.Sign(i.t, 0, claims)
}
