package awsauth

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awslocal"
)

var errWithdrawn = errors.New("another role is for it now")

// withdrawnAfter says nil so many times.
func withdrawnAfter(times int64) (mayCall func() error, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	return func() error {
		if asked.Add(1) > times {
			return errWithdrawn
		}
		return nil
	}, asked
}

// whoIfAllowed asks who it is with a guard.
func (l *lab) whoIfAllowed(mayCall func() error) error {
	l.t.Helper()
	config, err := l.auth.Config(l.t.Context(), web)
	if err != nil {
		l.t.Fatal(err)
	}
	_, err = sts.NewFromConfig(awsauth.Guarded(config, mayCall)).GetCallerIdentity(l.t.Context(), nil)
	return err
}

// wantWithdrawn demands that a call was not made for want of the role.
func wantWithdrawn(t *testing.T, err error) {
	t.Helper()
	of := fault.Of("", "", err)
	if of == nil || of.Code != fault.CodeRoleWithdrawn || of.Class != fault.Transient || !errors.Is(err, errWithdrawn) {
		t.Errorf("the error is %v (%+v), want the one of a role that was withdrawn", err, of)
	}
}

// TestNoCallIsMadeOnceTheGuardSaysNo: neither the call, nor the exchange for it, nor a
// repetition by the SDK.
func TestNoCallIsMadeOnceTheGuardSaysNo(t *testing.T) {
	const exchange, call = "AssumeRoleWithWebIdentity", "GetCallerIdentity"
	for name, c := range map[string]struct {
		yes    int64
		faults []awslocal.Fault
		want   []string
	}{
		"from the start":              {0, nil, nil},
		"while the role was assumed":  {1, nil, []string{exchange}},
		"while the SDK waited":        {2, []awslocal.Fault{{Operation: call, Code: "InternalFailure"}}, []string{exchange, call}},
		"while the SDK waited longer": {3, []awslocal.Fault{{Operation: call, Code: "InternalFailure"}}, []string{exchange, call, call}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.asWeb()
			l.start()
			for _, f := range c.faults {
				l.aws.Admin().Inject(f)
			}
			mayCall, asked := withdrawnAfter(c.yes)
			l.aws.Admin().ClearJournal()
			wantWithdrawn(t, l.whoIfAllowed(mayCall))
			var got []string
			for _, e := range l.aws.Admin().Journal() {
				got = append(got, e.Operation)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("AWS was asked %v, want %v", got, c.want)
			}
			if got := asked.Load(); got != c.yes+1 {
				t.Errorf("the guard was asked %d times, want %d: a no is not repeated", got, c.yes+1)
			}
		})
	}
}

func TestAGuardThatSaysYesChangesNothing(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.start()
	mayCall, _ := withdrawnAfter(1 << 30)
	if err := l.whoIfAllowed(mayCall); err != nil {
		t.Error(err)
	}
	no, _ := withdrawnAfter(0)
	wantWithdrawn(t, l.whoIfAllowed(no))
	if _, err := l.who(web); err != nil {
		t.Errorf("the configuration itself is guarded, too: %v", err)
	}
}

// TestACallInFlightEndsNormally: the role is taken away when the call has begun, and the
// next call is not made.
func TestACallInFlightEndsNormally(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	l.start()
	mayCall, asked := withdrawnAfter(2) // the exchange, and the call
	if err := l.whoIfAllowed(mayCall); err != nil {
		t.Errorf("the call in flight ended with %v", err)
	}
	if got := asked.Load(); got != 2 {
		t.Errorf("the guard was asked %d times, want 2", got)
	}
	wantWithdrawn(t, l.whoIfAllowed(mayCall))
}
