package measure

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

func TestWhatFailsIsCountedApart(t *testing.T) {
	calls := 0
	got, err := Ask(t.Context(), 1, 20*time.Millisecond, func(context.Context) error {
		if calls++; calls%2 == 0 {
			return errors.New("refused")
		}
		return nil
	})
	if err != nil || got.Answered+got.Failed != calls || got.Answered-got.Failed > 1 || got.Answered < got.Failed || got.Rate <= 0 {
		t.Errorf("of %d calls, every second of which failed, it says %+v, error %v", calls, got, err)
	}
	if got, err := Ask(t.Context(), 1, time.Millisecond, func(context.Context) error { return errors.New("refused") }); err == nil {
		t.Errorf("where nothing is answered it says %+v and no error", got)
	}
}

func TestProcessesTellWhatTheyTook(t *testing.T) {
	got, err := Of(os.Getpid())
	if err != nil || got.Anonymous <= 0 || got.Resident < got.Anonymous || got.Peak < got.Resident {
		t.Errorf("this process took %+v, error %v", got, err)
	}
	if got, err := Of(-1); err == nil {
		t.Errorf("a process that is not there took %+v", got)
	}
}
