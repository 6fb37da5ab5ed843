package workload

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// tokens are the tokens of one pod, renewed when a kubelet would renew them.
// It is used by one goroutine at a time.
type tokens struct {
	objects Objects
	now     func() time.Time
	held    map[tokenKey]heldToken
}

type tokenKey struct {
	audience string
	seconds  int64
}

type heldToken struct {
	token string
	renew time.Time
}

// longestUse is how long a kubelet uses a token whatever its life is.
const longestUse = 24 * time.Hour

// renewAt is when a token is to be replaced: at 80 % of its life, and at the
// latest a day after it was made. life is what the API server granted, which
// may differ from what was asked.
func renewAt(expires time.Time, life time.Duration) time.Time {
	made := expires.Add(-life)
	return made.Add(min(life*4/5, longestUse))
}

// get returns a token, a new one if that held is due. While a new one cannot be
// had, the one held is used and the error returned too.
func (tokens *tokens) get(ctx context.Context, audience string, seconds *int64) (string, error) {
	key := tokenKey{audience: audience}
	if seconds != nil {
		key.seconds = *seconds
	}
	held := tokens.held[key]
	if held.token != "" && tokens.now().Before(held.renew) {
		return held.token, nil
	}
	answer, err := tokens.objects.Token(ctx, audience, seconds)
	if err != nil {
		return held.token, err
	}
	life, err := lifeOf(answer)
	if err != nil {
		return held.token, err
	}
	if tokens.held == nil {
		tokens.held = map[tokenKey]heldToken{}
	}
	tokens.held[key] = heldToken{token: answer.Status.Token, renew: renewAt(answer.Status.ExpirationTimestamp.Time, life)}
	return answer.Status.Token, nil
}

func lifeOf(answer *authenticationv1.TokenRequest) (time.Duration, error) {
	if answer.Status.Token == "" || answer.Spec.ExpirationSeconds == nil {
		return 0, fmt.Errorf("the API server's answer to a TokenRequest has no token or no expirationSeconds")
	}
	return time.Duration(*answer.Spec.ExpirationSeconds) * time.Second, nil
}

// next is when the first of the tokens is due; the zero time if none is held.
func (tokens *tokens) next() time.Time {
	var first time.Time
	for _, held := range tokens.held {
		if first.IsZero() || held.renew.Before(first) {
			first = held.renew
		}
	}
	return first
}
