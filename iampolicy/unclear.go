package iampolicy

import "fmt"

// Unclear finds conditions whose meaning AWS does not state, in a policy of any kind: a
// condition key that one operator has twice in different case, though keys compare without
// regard to case; a key whose list of values is empty; an operator without keys (AWS: IAM
// JSON policy elements, Condition; grammar of the IAM JSON policy language). Who gives or
// compares rights by such a policy may read it otherwise than AWS does. The error is of type
// Errors, in the order of the places. Statements that Parse refuses are left out.
func (p *Policy) Unclear() error { return p.allUnclear().sorted() }

func (p *Policy) allUnclear() Errors {
	var all Errors
	for i := range p.statements {
		if s := &p.statements[i]; !s.broken {
			all = append(all, s.unclear...)
		}
	}
	return all
}

// unclear judges the element Condition, which has been compiled.
func unclear(element *node, conditions []condition) Errors {
	var found Errors
	add := func(at text, code Code, format string, args ...any) {
		found = append(found, &Error{Line: at.line, Column: at.column, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	for i := range element.members {
		if m := &element.members[i]; m.value.shape == shapeObject && len(m.value.members) == 0 {
			add(m.key, CodeEmptyCondition, "the operator %s has no condition key, and AWS does not state what that means; give it a key with values, or leave it out", m.key.value)
		}
	}
	type place struct{ operator, key string }
	first := map[place]string{}
	for i := range conditions {
		c := &conditions[i]
		operator, name := c.fullName(), c.name.value
		if len(c.values) == 0 {
			add(c.name, CodeEmptyCondition, "the condition key %q under %s has no value, and AWS does not state what that means; give it the values that are meant, or leave the key out", name, operator)
		}
		at := place{operator, c.key}
		if known, is := first[at]; is && known != name {
			add(c.name, CodeRepeatedKey, "the condition key %q is under %s as %q too, case does not tell keys apart, and AWS does not state which of them counts; write the key once, with the values that are meant", name, operator, known)
		} else {
			first[at] = name
		}
	}
	return found
}

// certain are the statement's conditions, none if AWS does not state what they mean.
func (s *statement) certain() []condition {
	if len(s.unclear) > 0 {
		return nil
	}
	return s.conditions
}

// unclearIn is the answer where a statement of either policy has a condition that cannot be
// compared, because AWS does not state its meaning.
func unclearIn(outer, inner *Policy) (answer Containment, is bool) {
	for i := range inner.statements {
		if s := &inner.statements[i]; s.applicable() && len(s.unclear) > 0 {
			return Containment{
				Answer: Undecidable, Statement: i, Sid: s.sid.value, Action: s.actions.values[0].value, Resource: s.resources.values[0].value,
				Reason: nameOf(inner, i) + " cannot be compared: " + s.unclear[0].Message,
			}, true
		}
	}
	for i := range outer.statements {
		if s := &outer.statements[i]; s.applicable() && len(s.unclear) > 0 {
			return Containment{Answer: Undecidable, Statement: -1, Reason: "the outer policy's " + nameOf(outer, i) + " cannot be compared: " + s.unclear[0].Message}, true
		}
	}
	return Containment{}, false
}
