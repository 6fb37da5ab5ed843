package awsauth

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// refreshBefore is how long before their end credentials are replaced.
const refreshBefore = 5 * time.Minute

// keptCredentials keeps one source's credentials until shortly before they
// expire. Only one exchange runs at a time; whoever waits for it may give up by
// context. Credentials that could not be replaced are used to their end.
type keptCredentials struct {
	source aws.CredentialsProvider
	now    func() time.Time
	// turn holds one value: who takes it may read and write value.
	turn  chan struct{}
	value aws.Credentials
}

func newKeptCredentials(source aws.CredentialsProvider, now func() time.Time) *keptCredentials {
	k := &keptCredentials{source: source, now: now, turn: make(chan struct{}, 1)}
	k.turn <- struct{}{}
	return k
}

// Retrieve returns credentials that are good for a while.
func (k *keptCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	select {
	case <-k.turn:
	case <-ctx.Done():
		return aws.Credentials{}, ctx.Err()
	}
	defer func() { k.turn <- struct{}{} }()
	if k.goodFor(refreshBefore) {
		return k.value, nil
	}
	fresh, err := k.source.Retrieve(ctx)
	if err == nil {
		k.value = fresh
		return fresh, nil
	}
	if k.goodFor(0) {
		return k.value, nil
	}
	return aws.Credentials{}, err
}

// goodFor says whether the kept credentials hold at least that long.
func (k *keptCredentials) goodFor(d time.Duration) bool {
	return k.value.HasKeys() && (!k.value.CanExpire || k.value.Expires.Sub(k.now()) > d)
}
