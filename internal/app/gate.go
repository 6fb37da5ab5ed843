package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// selectorGate is the feature gate of IAMRoleSelectors, by the name that ACK's
// controllers have for it.
const selectorGate = "IAMRoleSelector"

// parseGates reads the value of a flag for feature gates: NAME=true or NAME=false,
// with commas between them. Gates that are not named are not in the result.
func parseGates(flag, text string, known ...string) (map[string]bool, error) {
	gates := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == "" && value == "" {
			continue
		}
		on, err := strconv.ParseBool(value)
		switch {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("--%s=%.200s: there is no feature gate %.80q; there is %s", flag, text, name, strings.Join(known, ", "))
		case err != nil:
			return nil, fmt.Errorf("--%s=%.200s: expected %s=true or %s=false", flag, text, name, name)
		}
		gates[name] = on
	}
	return gates, nil
}
