package awsauth

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
)

// refusing is STS that refuses a role until it is mended, and counts.
type refusing struct {
	mended bool
	asked  int
}

func (r *refusing) Retrieve(context.Context) (aws.Credentials, error) {
	r.asked++
	if r.mended {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "key"}, nil
	}
	return aws.Credentials{}, &smithy.OperationError{
		ServiceID: "STS", OperationName: "AssumeRole", Err: &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"},
	}
}

// refusedRoles are so many roles of one Auth, at a time that the test moves on.
type refusedRoles struct {
	now   time.Time
	roles []*refusing
	kept  []*keptCredentials
}

func newRefusedRoles(t *testing.T, count int) *refusedRoles {
	t.Helper()
	r := &refusedRoles{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	a, err := New(Options{Now: func() time.Time { return r.now }, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		role := &refusing{}
		kept := a.keep(role, caller{"irsa", fmt.Sprint("role-", i)})
		kept.remembers = true
		r.roles, r.kept = append(r.roles, role), append(r.kept, kept)
	}
	return r
}

// all lets a thing of each role's ask for it.
func (r *refusedRoles) all(ctx context.Context) {
	for _, k := range r.kept {
		_, _ = k.Retrieve(ctx)
	}
}

func (r *refusedRoles) asked() (times int) {
	for _, role := range r.roles {
		times += role.asked
	}
	return times
}

// TestAMendedTrustIsNoticedWithinHalfAMinute however long it was refused before, and by
// one question each half minute, whoever wants the role.
func TestAMendedTrustIsNoticedWithinHalfAMinute(t *testing.T) {
	for _, refused := range []time.Duration{10 * time.Second, 100 * time.Second, 10 * time.Minute, 24 * time.Hour} {
		r := newRefusedRoles(t, 1)
		began, step := r.now, refused/1000
		for range 1000 {
			for range 5 { // resources
				r.all(t.Context())
			}
			r.now = r.now.Add(step)
		}
		if got, most := r.asked(), int(refused/probeAfter)+1; got > most {
			t.Errorf("refused for %v: STS was asked %d times, want at most %d", refused, got, most)
		}
		r.roles[0].mended = true
		mended := r.now
		for {
			if _, err := r.kept[0].Retrieve(t.Context()); err == nil {
				break
			}
			if r.now = r.now.Add(time.Second); r.now.Sub(mended) > time.Hour {
				t.Fatalf("refused for %v: it is never noticed", mended.Sub(began))
			}
		}
		if took := r.now.Sub(mended); took > probeAfter {
			t.Errorf("refused for %v: it was noticed after %v, want %v at the most", refused, took, probeAfter)
		}
	}
}

// TestManyRefusedRolesDoNotFloodSTS: whatever their number, and with everybody asking all
// the time, there are ten questions a second after the first of each.
func TestManyRefusedRolesDoNotFloodSTS(t *testing.T) {
	for count, every := range map[int]time.Duration{100: probeAfter, 300: probeAfter, 1000: 100 * time.Second, 5000: 500 * time.Second} {
		r := newRefusedRoles(t, count)
		r.all(t.Context()) // the first time nobody knows
		first, most := r.asked(), 0
		const watched = 1200
		for range watched { // seconds
			r.now = r.now.Add(time.Second)
			before := r.asked()
			r.all(t.Context())
			most = max(most, r.asked()-before)
		}
		got := float64(r.asked()-first) / watched
		want := float64(count) / every.Seconds()
		if got > want*1.05+0.1 || got < want*0.85 {
			t.Errorf("%d roles: %.2f questions a second, want %.2f", count, got, want)
		}
		if got > 10.1 {
			t.Errorf("%d roles: %.2f questions a second", count, got)
		}
		if count >= 300 && most > 12 {
			t.Errorf("%d roles: %d questions in one second", count, most)
		}
	}
}

func TestARefusalIsToldToWhoWaits(t *testing.T) {
	r := newRefusedRoles(t, 1)
	_, first := r.kept[0].Retrieve(t.Context())
	_, second := r.kept[0].Retrieve(t.Context())
	if r.asked() != 1 || first == nil || !errors.Is(second, first) {
		t.Errorf("STS was asked %d times, and said %v, then %v", r.asked(), first, second)
	}
}
