package call

import "testing"

func TestAnOperationEndsAtItsFirstFault(t *testing.T) {
	first, second := &Fault{Code: "First"}, &Fault{Code: "Second"}
	reached := 0
	step := func(fault *Fault) int {
		reached++
		return Must(reached, fault)
	}
	for name, c := range map[string]struct {
		operation func() any
		result    any
		fault     *Fault
		reached   int
	}{
		"none":                {func() any { return step(nil) + step(nil) }, 3, nil, 2},
		"a fault":             {func() any { return step(nil) + step(first) + step(second) }, nil, first, 2},
		"a fault of a branch": {func() any { Refuse(second); return step(nil) }, nil, second, 0},
		"no result":           {func() any { Check(nil); return nil }, nil, nil, 0},
		"one in another": {func() any {
			_, fault := Answer(func() any { return step(first) })
			return fault.Code
		}, "First", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			reached = 0
			if result, fault := Answer(c.operation); result != c.result || fault != c.fault || reached != c.reached {
				t.Errorf("answered %v, %v after %d steps, want %v, %v after %d", result, fault, reached, c.result, c.fault, c.reached)
			}
		})
	}
}

func TestAPanicIsNoFault(t *testing.T) {
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("recovered %v", got)
		}
	}()
	_, fault := Answer(func() any { panic("broken") })
	t.Errorf("a panic is answered with %v", fault)
}
