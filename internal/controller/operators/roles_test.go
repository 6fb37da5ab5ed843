package operators

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const first = "arn:aws:iam::111122223333:role/first"

// counted are roles that AWS answers about, and how often it was asked.
func counted(keep time.Duration) (r *roles, asked *int) {
	asked = new(int)
	r = newRoles(Options{Recheck: keep, Roles: func(_ context.Context, arn string) (sufficiency.Documents, error) {
		*asked++
		if *asked > 10_000 {
			return sufficiency.Documents{}, errors.New("asked too often")
		}
		return sufficiency.Documents{ARN: arn}, nil
	}})
	r.limit = rate.NewLimiter(rate.Inf, 1)
	r.begin()
	return r, asked
}

func TestARoleIsReadOnceInAWhile(t *testing.T) {
	r, asked := counted(time.Hour)
	for range 3 {
		if documents, why, err := r.of(t.Context(), first); err != nil || why != "" || documents.ARN != first {
			t.Fatalf("%+v, %q, %v", documents, why, err)
		}
	}
	if *asked != 1 {
		t.Errorf("AWS was asked %d times, want once", *asked)
	}
	r.known[first] = known{documents: r.known[first].documents, until: time.Now()}
	_, _, err := r.of(t.Context(), first)
	must.Do(t, err)
	if *asked != 2 {
		t.Errorf("after a while AWS was asked %d times, want twice", *asked)
	}
}

// TestACrowdOfRoles: a pass asks for a number of them, and so many are remembered.
func TestACrowdOfRoles(t *testing.T) {
	r, asked := counted(time.Hour)
	crowd := 2*mostRoles + 1
	for i := range crowd {
		arn := fmt.Sprintf("%s-%d", first, i)
		_, _, err := r.of(t.Context(), arn)
		if errors.Is(err, errBusy) != (i > 0 && i%rolesPerPass == 0) {
			t.Fatalf("role %d of the pass: %v", i, err)
		}
		if err != nil {
			r.begin()
			_, _, err = r.of(t.Context(), arn)
			must.Do(t, err)
		}
	}
	if *asked != crowd || len(r.known) != mostRoles {
		t.Errorf("AWS was asked %d times for %d roles, and %d are remembered, want %d", *asked, crowd, len(r.known), mostRoles)
	}
	if _, is := r.known[first+"-0"]; is {
		t.Error("the oldest is remembered")
	}
}

// TestNoCallForWhatIsNoRole, nor without an identity.
func TestNoCallForWhatIsNoRole(t *testing.T) {
	r, asked := counted(time.Hour)
	for _, arn := range []string{"", "x", "arn:aws:iam::111122223333:user/a", "arn:aws:sts::111122223333:assumed-role/a/b"} {
		if documents, why, err := r.of(t.Context(), arn); documents != nil || why == "" || err != nil {
			t.Errorf("%q: %+v, %q, %v", arn, documents, why, err)
		}
	}
	r.read, r.without = nil, "nobody"
	if documents, why, err := r.of(t.Context(), first); documents != nil || why != "nobody" || err != nil {
		t.Errorf("without an identity: %+v, %q, %v", documents, why, err)
	}
	if *asked != 0 {
		t.Errorf("AWS was asked %d times", *asked)
	}
}
