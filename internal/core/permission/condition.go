package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
)

// Condition is the condition of a statement in canonical JSON, operators and keys in order,
// values as a sorted set; empty for none. Equal texts are equal conditions.
type Condition string

// conditionOf is the canonical form of a condition. Numbers and truth values are texts, as they
// are to AWS.
func conditionOf(in cloudv1.IAMPolicyCondition) (Condition, error) {
	if len(in) == 0 {
		return "", nil
	}
	out := map[string]map[string][]string{}
	for operator, keys := range in {
		out[operator] = map[string][]string{}
		for key, value := range keys {
			values, isList := value.([]any)
			if !isList {
				values = []any{value}
			}
			texts := []string{}
			for _, one := range values {
				text, ok := textOf(one)
				if !ok {
					return "", fmt.Errorf("%.100q of %.100q is %.100q, expected a text or a list of texts", key, operator, fmt.Sprint(one))
				}
				texts = append(texts, text)
			}
			slices.Sort(texts)
			out[operator][key] = slices.Compact(texts)
		}
	}
	return Condition(encoded(out)), nil
}

// textOf is a value of a condition as text.
func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// Tests are the condition's values by operator and key; nil for none.
func (c Condition) Tests() map[string]map[string][]string {
	var out map[string]map[string][]string
	if c == "" || json.Unmarshal([]byte(c), &out) != nil {
		return nil
	}
	return out
}

// sentence names what must hold.
func (c Condition) sentence() string {
	tests := c.Tests()
	var parts []string
	for _, operator := range slices.Sorted(maps.Keys(tests)) {
		for _, key := range slices.Sorted(maps.Keys(tests[operator])) {
			parts = append(parts, key+" "+operator+" "+strings.Join(tests[operator][key], " or "))
		}
	}
	return strings.Join(parts, ", and ")
}

// MarshalJSON is the condition as an object.
func (c Condition) MarshalJSON() ([]byte, error) {
	if c == "" {
		return []byte("{}"), nil
	}
	return []byte(c), nil
}

// UnmarshalJSON reads a condition as it stands in a policy.
func (c *Condition) UnmarshalJSON(text []byte) error {
	var in cloudv1.IAMPolicyCondition
	err := json.Unmarshal(text, &in)
	if err == nil {
		*c, err = conditionOf(in)
	}
	return err
}

// encoded is JSON in one line, with <, > and & as they are.
func encoded(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("permission: plain data does not encode: " + err.Error())
	}
	return string(bytes.TrimSpace(out.Bytes()))
}
