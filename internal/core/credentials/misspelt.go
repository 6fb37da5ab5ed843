package credentials

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/internal/core/spelling"
)

// fields are those of a statement, each with what else it is called: IAM's own policies have
// Condition.
var fields = []struct{ name, other string }{{"effect", "effect"}, {"action", "action"}, {"resource", "resource"}, {"policyCondition", "condition"}}

// unknownFields are the fields of statements that are none, by the place of their statement, sorted.
// Case does not count, as it does not when a statement is decoded.
func unknownFields(providerSpec []byte) map[int][]string {
	var spec struct {
		StatementEntries []map[string]json.RawMessage `json:"statementEntries"`
	}
	if json.Unmarshal(providerSpec, &spec) != nil {
		return nil // which is told where it is decoded
	}
	out := map[int][]string{}
	for i, entry := range spec.StatementEntries {
		for _, name := range slices.Sorted(maps.Keys(entry)) {
			known := false
			for _, field := range fields {
				known = known || strings.EqualFold(field.name, name)
			}
			if !known {
				out[i] = append(out[i], name)
			}
		}
	}
	return out
}

// Misspelt says which field of a statement is meant to be another one; empty for none. It would be
// left out without a word, and a policyCondition that is left out gives more than was asked for.
// Other fields that are not known may be those of a later version, and count for nothing.
func (p Provider) Misspelt() string {
	for _, i := range slices.Sorted(maps.Keys(p.Unknown)) {
		for _, name := range p.Unknown[i] {
			for _, field := range fields {
				if isNear(name, field.name) || isNear(name, field.other) {
					return fmt.Sprintf("spec.providerSpec.statementEntries[%d] has the field %q, expected effect, action, resource and policyCondition: write %s", i, name, field.name)
				}
			}
		}
	}
	return ""
}

// besides names the fields of a statement that are not known, for one that lacks something.
func (p Provider) besides(entry int) string {
	if len(p.Unknown[entry]) == 0 {
		return ""
	}
	return fmt.Sprintf("; it has the field %.100q, which is none of a statement", p.Unknown[entry][0])
}

// parted is an action whose service and name are told apart by something else than a colon, or by
// nothing: services are in lower case, and actions begin with a capital (AWS: Service
// Authorization Reference).
var parted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z][a-z0-9-]*)[ .:/_;,]*([A-Z][A-Za-z0-9]*[*]?)$`)
})

// meantBy is what to write for an action that AWS would not take; empty if that cannot be told.
func meantBy(action string) string {
	parts := parted().FindStringSubmatch(strings.TrimSpace(action))
	if parts == nil {
		return ""
	}
	return ": write " + parts[1] + ":" + parts[2]
}

// listedLike is the action of a ceiling that is spelt nearly as one that it does not allow; empty
// for none. Which actions AWS has is not known here, only what the ceiling lists.
func listedLike(ceiling, action string) string {
	for _, s := range Statements(ceiling) {
		if s.text("Effect") != "Allow" {
			continue
		}
		for _, one := range s.List("Action") {
			if !strings.ContainsAny(one+action, "*?") && isNear(one, action) && !strings.EqualFold(one, action) {
				return one
			}
		}
	}
	return ""
}

// isNear says that two texts differ by at most two letters that are changed, missing or too many.
// Case does not count.
func isNear(a, b string) bool {
	const most = 2
	a, b = strings.ToLower(a), strings.ToLower(b)
	if max(len(a), len(b))-min(len(a), len(b)) > most {
		return false
	}
	return spelling.Distance(a, b) <= most
}
