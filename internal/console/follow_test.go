package console

import (
	"context"
	"errors"
	"testing"
)

// An install that is followed again ends the earlier following, whose own end leaves the later one alone. What
// has ended is not kept.
func TestWhatIsFollowedNoLongerIsForgotten(t *testing.T) {
	var f following
	first, endFirst := f.begin(t.Context(), "shop/p")
	second, endSecond := f.begin(t.Context(), "shop/p")
	other, endOther := f.begin(t.Context(), "bank/p")
	if !errors.Is(first.Err(), context.Canceled) || second.Err() != nil || len(f.all) != 2 {
		t.Errorf("followed again: %v, %v, %d are kept", first.Err(), second.Err(), len(f.all))
	}
	endFirst()
	if second.Err() != nil || len(f.all) != 2 {
		t.Errorf("the end of the earlier one: %v, %d are kept", second.Err(), len(f.all))
	}
	third, endThird := f.begin(t.Context(), "shop/p")
	if !errors.Is(second.Err(), context.Canceled) || third.Err() != nil {
		t.Errorf("followed a third time: %v, %v", second.Err(), third.Err())
	}
	endSecond()
	endThird()
	if other.Err() != nil || len(f.all) != 1 {
		t.Errorf("the end of the last one: %v, %d are kept", other.Err(), len(f.all))
	}
	if endOther(); len(f.all) != 0 {
		t.Errorf("%d are kept", len(f.all))
	}
}
