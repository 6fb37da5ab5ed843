package eks_test

import (
	"maps"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// claims are those of a good token of a pod of team-a/app.
func (l *lab) claims() map[string]any {
	now := l.Admin().Now().Unix()
	return map[string]any{
		"iss": issuer, "sub": "system:serviceaccount:team-a:app", "aud": []string{"pods.eks.amazonaws.com"}, "iat": now, "nbf": now, "exp": now + 86400,
		"kubernetes.io": map[string]any{
			"namespace":      "team-a",
			"serviceaccount": map[string]any{"name": "app", "uid": "5a5a"},
			"pod":            map[string]any{"name": "app-7d9f", "uid": "b0b0"},
		},
	}
}

// token is a good token with some claims replaced; nil takes one away.
func (l *lab) token(other map[string]any) string {
	l.t.Helper()
	return awstest.SignToken(l.t, l.key, l.changed(other))
}

func (l *lab) changed(other map[string]any) map[string]any {
	claims := l.claims()
	maps.Copy(claims, other)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}
