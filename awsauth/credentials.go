package awsauth

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

const (
	// refreshBefore is how long before their end credentials are replaced, and
	// refreshJitter how much earlier that may be, so that many processes do not
	// ask at once.
	refreshBefore = 5 * time.Minute
	refreshJitter = time.Minute
	// refreshAgain is how long is waited after credentials could not be replaced
	// that are still good.
	refreshAgain = 30 * time.Second
)

// keptCredentials keeps one source's credentials until shortly before they
// expire. Only one exchange runs at a time; whoever waits for it may give up by
// context. Credentials that could not be replaced are used to their end.
type keptCredentials struct {
	source aws.CredentialsProvider
	who    caller
	// remembers says that a refusal is answered to all who ask, for a while: many
	// objects share a role, and each would ask STS for itself.
	remembers bool
	now       func() time.Time
	// chance is a number from 0 to 1.
	chance   func() float64
	observer Observer
	probes   *probes

	// turn holds one value: who takes it may read and write what follows.
	turn  chan struct{}
	value aws.Credentials
	// due is when to replace the value, or when to ask again after a refusal.
	due time.Time
	// refused says that due is for a refusal that is remembered.
	refused bool
	// forgotten says that the value and the refusal count no more. It is set
	// without the turn.
	forgotten atomic.Bool
	// until is when what is kept is worth nothing any more, credentials or a refusal,
	// in nanoseconds since 1970; 0 is not known, or never. It is read without the turn.
	until atomic.Int64
	// trouble is why the last exchange failed, nil if it did not. It is read
	// without the turn.
	trouble atomic.Pointer[fault.Caller]
}

func (a *Auth) keep(source aws.CredentialsProvider, who caller) *keptCredentials {
	k := &keptCredentials{
		source: source, who: who, now: a.now, chance: a.chance, observer: a.observer, probes: &a.probes, turn: make(chan struct{}, 1),
	}
	k.turn <- struct{}{}
	return k
}

// Retrieve returns credentials that are good for a while.
func (k *keptCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	if err := k.take(ctx); err != nil {
		return aws.Credentials{}, err
	}
	defer k.leave()
	now := k.now()
	if k.forgotten.Swap(false) {
		k.value, k.refused = aws.Credentials{}, false
	}
	if k.usable(now) && (!k.value.CanExpire || now.Before(k.due)) {
		return k.used(ctx), nil
	}
	if k.refused && now.Before(k.due) {
		return aws.Credentials{}, k.trouble.Load()
	}
	fresh, err := k.source.Retrieve(ctx)
	k.observer.Refreshed(k.who.method, codeOf(err), expiryOf(fresh))
	if err == nil {
		k.value, k.due, k.refused = fresh, k.dueOf(fresh, now), false
		k.until.Store(nanoseconds(expiryOf(fresh)))
		k.trouble.Store(nil)
		return k.used(ctx), nil
	}
	why := &fault.Caller{Method: k.who.method, Subject: k.who.subject, Err: err}
	k.trouble.Store(why)
	if k.usable(now) {
		k.due = now.Add(refreshAgain)
		return k.used(ctx), nil
	}
	k.remember(why, now)
	return aws.Credentials{}, why
}

// remember sets when to ask again after an exchange that failed: at once, but for
// a role that may not be assumed, or a ServiceAccount that does not exist.
func (k *keptCredentials) remember(why *fault.Caller, now time.Time) {
	of := fault.Of("", "", why)
	rejected := strings.HasPrefix(of.Operation, "AssumeRole") && of.Class == fault.CredentialsRejected
	k.refused = k.remembers && (rejected || errors.Is(why, ErrNotFound))
	if k.refused {
		k.due = k.probes.after(now)
		k.until.Store(nanoseconds(k.due))
	}
}

// isOver says that what is kept is worth nothing any more.
func (k *keptCredentials) isOver(now time.Time) bool {
	until := k.until.Load()
	return until != 0 && until <= nanoseconds(now)
}

// nanoseconds are since 1970; 0 for the zero time.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// drop forgets the credentials with an access key that AWS refused, and says
// whether the next ones can be others. If somebody else dropped them already
// then there are others.
func (k *keptCredentials) drop(ctx context.Context, accessKeyID string) bool {
	if k.take(ctx) != nil {
		return false
	}
	defer k.leave()
	if k.value.AccessKeyID == accessKeyID {
		if !k.value.CanExpire {
			return false
		}
		k.value = aws.Credentials{}
	}
	return true
}

func (k *keptCredentials) take(ctx context.Context) error {
	select {
	case <-k.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *keptCredentials) leave() { k.turn <- struct{}{} }

// used tells the call that asks which key it gets.
func (k *keptCredentials) used(ctx context.Context) aws.Credentials {
	if key, ok := ctx.Value(usedKey{}).(*string); ok {
		*key = k.value.AccessKeyID
	}
	return k.value
}

func (k *keptCredentials) usable(now time.Time) bool {
	return k.value.HasKeys() && (!k.value.CanExpire || now.Before(k.value.Expires))
}

// dueOf is when to replace credentials: not before half of their time is over,
// so that short-lived ones are not replaced at each call.
func (k *keptCredentials) dueOf(fresh aws.Credentials, now time.Time) time.Time {
	early := refreshBefore + time.Duration(k.chance()*float64(refreshJitter))
	due, half := fresh.Expires.Add(-early), now.Add(fresh.Expires.Sub(now)/2)
	if due.Before(half) {
		return half
	}
	return due
}

func expiryOf(c aws.Credentials) time.Time {
	if !c.CanExpire {
		return time.Time{}
	}
	return c.Expires
}

// noAnswer is the code of a call that no service answered.
const noAnswer = "-"

// codeOf is the error's code for an Observer.
func codeOf(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return noAnswer
}
