package usage

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// expectedValues are what flags take, by the types that pflag names.
var expectedValues = map[string]string{
	"bool":     "true or false",
	"duration": "a time such as 100ms or 1m30s",
	"int":      "a whole number",
	"int64":    "a whole number",
	"uint64":   "a whole number, not negative",
}

// ExplainFlag names the flag, its value and what it takes. Flags with types of
// their own say that themselves.
func ExplainFlag(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	expected, ok := expectedValues[invalid.GetFlag().Value.Type()]
	if !ok {
		return fmt.Errorf("--%s=%.200s: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("--%s=%.200s: expected %s", invalid.GetFlag().Name, invalid.GetValue(), expected)
}
