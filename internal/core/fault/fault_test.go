package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/fault"
)

func TestFaultIsAnError(t *testing.T) {
	tests := map[string]struct {
		fault fault.Fault
		want  string
	}{
		"code and text are told":    {fault.Fault{Service: "S3", Operation: "PutObject", Code: "AccessDenied", Message: "no"}, "S3 PutObject: AccessDenied: no"},
		"what is empty is left out": {fault.Fault{Service: "S3", Operation: "HeadBucket"}, "S3 HeadBucket"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var found fault.Fault
			if !errors.As(fmt.Errorf("wrapped: %w", test.fault), &found) || found != test.fault {
				t.Errorf("the fault is lost in a wrapped error: %+v", found)
			}
			if got := test.fault.Error(); got != test.want {
				t.Errorf("error is %q, want %q", got, test.want)
			}
		})
	}
}

func TestPassing(t *testing.T) {
	passing := map[fault.Class]bool{
		fault.Retry: true, fault.Throttled: true, fault.Changed: true,
		fault.Denied: false, fault.Unauthenticated: false, fault.Invalid: false, fault.Gone: false, fault.Exists: false,
	}
	for class, want := range passing {
		if got := (fault.Fault{Class: class}).Passing(); got != want {
			t.Errorf("%s passes by itself: %v, want %v", class, got, want)
		}
	}
}
