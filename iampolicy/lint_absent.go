package iampolicy

import (
	"slices"
	"strings"
)

// absentKeys finds ForAllValues on keys that an allowed request need not have: there is no value then
// that could be another (AWS: multivalued context keys, "ForAllValues"). In a Deny such a condition
// denies more, not less.
func (l *linter) absentKeys(s *statement) {
	for i := range s.conditions {
		c := &s.conditions[i]
		if c.set == forAll && len(c.values) > 0 && !s.wantsKey(c.key) && !s.hasOwnFinding(c.key) {
			l.add(c.name, CodeForAllValues, "%s also holds for a request without the key %s, so the statement allows it; to refuse such requests add \"Null\": {\"%s\": \"false\"} to the Condition", c.fullName(), c.name.value, c.name.value)
		}
	}
}

// wantsKey says that a request without the key does not fulfil the statement's conditions on it.
func (s *statement) wantsKey(key string) bool {
	return slices.ContainsFunc(s.conditions, func(c condition) bool { return c.key == key && !c.holds(nil) })
}

// hasOwnFinding says that the key is a token's subject or audience, which a statement that admits
// tokens has to demand of itself: NoSubject and NoAudience.
func (s *statement) hasOwnFinding(key string) bool {
	if s.principals == nil || s.principals.not || !s.speaksOf(actionWebIdentity) {
		return false
	}
	at := strings.LastIndex(key, ":")
	if at < 0 || key[at+1:] != "sub" && key[at+1:] != "aud" {
		return false
	}
	_, own := s.issuers()[key[:at]]
	return own
}
