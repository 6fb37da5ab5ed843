package iampolicy

import (
	"fmt"
	"strings"
)

// Parse reads a policy document of any kind. The error is of type Errors and
// lists all mistakes: broken JSON, duplicate keys, elements, operators and types
// that the policy language does not have. Whether the document is a good one of
// its kind is for Validate to say.
//
// Where the mistakes leave no doubt what was meant elsewhere, the policy is
// returned together with the error, so that a document that AWS accepted can
// still be looked at; statements with a mistake never apply then. The policy is
// nil if the document is not JSON or has a key twice.
func Parse(document []byte) (*Policy, error) {
	root, errs := readJSON(document)
	if root == nil {
		return nil, errs
	}
	ambiguous := len(errs) > 0
	c := &compiler{errs: errs}
	policy := c.policy(root)
	if ambiguous {
		policy = nil
	}
	return policy, c.errs.sorted()
}

// compiler turns JSON into a policy and collects the mistakes.
type compiler struct {
	errs      Errors
	variables bool
}

// fail records a mistake.
func (c *compiler) fail(at text, code Code, subject, format string, args ...any) {
	c.errs = append(c.errs, &Error{
		Line: at.line, Column: at.column, Code: code, Message: fmt.Sprintf(format, args...), subject: subject,
	})
}

// isShape records a mistake if a node is not what it should be.
func (c *compiler) isShape(n *node, name string, want shape) bool {
	if n.shape != want {
		c.fail(n.text, CodeWrongType, name, "%s is %s; it must be %s", name, n.shape, want)
	}
	return n.shape == want
}

// policy compiles the whole document.
func (c *compiler) policy(root *node) *Policy {
	p := &Policy{version: oldVersion, line: root.line, column: root.column}
	if !c.isShape(root, "the policy", shapeObject) {
		return nil
	}
	// The version comes first: it decides what the other texts mean.
	for i := range root.members {
		m := &root.members[i]
		if m.key.value == "Version" && c.isShape(&m.value, "Version", shapeString) {
			p.version = m.value.value
			if p.version != oldVersion && p.version != newVersion {
				c.fail(m.value.text, CodeInvalidVersion, p.version,
					"the Version is %q; it must be %q or %q", p.version, newVersion, oldVersion)
			}
		}
	}
	c.variables = p.version == newVersion
	unreadable := len(c.errs) > 0
	found := false
	for i := range root.members {
		m := &root.members[i]
		switch m.key.value {
		case "Version":
		case "Id":
			c.isShape(&m.value, "Id", shapeString)
		case "Statement":
			found = true
			p.statements = c.statements(&m.value)
		default:
			c.fail(m.key, CodeUnknownElement, m.key.value,
				"a policy has no element %q; it has Version, Id and Statement", m.key.value)
		}
	}
	for i := range p.statements {
		// In a language that is not known no text has a known meaning.
		p.statements[i].broken = p.statements[i].broken || unreadable
	}
	if !found {
		c.fail(root.text, CodeNoStatement, "Statement", "the policy has no element Statement; add it")
	}
	return p
}

// statements compiles a list of statements or a single one.
func (c *compiler) statements(n *node) []statement {
	if n.shape == shapeObject {
		return []statement{c.statement(n)}
	}
	if n.shape != shapeArray {
		c.fail(n.text, CodeWrongType, "Statement", "Statement is %s; it must be an object or a list of objects", n.shape)
		return nil
	}
	all := make([]statement, 0, len(n.members))
	for i := range n.members {
		item := &n.members[i].value
		if c.isShape(item, "a statement", shapeObject) {
			all = append(all, c.statement(item))
		}
	}
	return all
}

// statement compiles one statement.
func (c *compiler) statement(n *node) statement {
	before := len(c.errs)
	s := statement{line: n.line, column: n.column, endLine: n.endLine, endColumn: n.endColumn}
	for i := range n.members {
		c.element(&s, &n.members[i])
	}
	if !s.hasEffect {
		c.fail(n.text, CodeNoEffect, "Effect", `the statement has no Effect; add "Allow" or "Deny"`)
	}
	s.actionPatterns = make([]glob, 0, len(s.actions.values))
	s.resourcePatterns = make([]resourcePattern, 0, len(s.resources.values))
	for _, action := range s.actions.values {
		s.actionPatterns = append(s.actionPatterns, newGlob(activate.Replace(strings.ToLower(action.value))))
	}
	for _, resource := range s.resources.values {
		s.resourcePatterns = append(s.resourcePatterns, compileResource(resource.value, c.variables))
	}
	s.broken = len(c.errs) > before
	return s
}

// element compiles one element of a statement.
func (c *compiler) element(s *statement, m *member) {
	name, value := m.key.value, &m.value
	switch name {
	case "Sid":
		if c.isShape(value, name, shapeString) {
			s.sid = value.text
		}
	case "Effect":
		s.hasEffect = true
		c.effect(s, value)
	case "Principal", "NotPrincipal":
		if s.principals != nil {
			c.conflict(m.key, "Principal")
		}
		s.principals = newPrincipals(c.principals(value, name), name == "NotPrincipal", m.key.line, m.key.column)
	case "Action", "NotAction":
		if s.actions.present {
			c.conflict(m.key, "Action")
		}
		s.actions = element{present: true, not: name == "NotAction", values: c.texts(value, name)}
	case "Resource", "NotResource":
		if s.resources.present {
			c.conflict(m.key, "Resource")
		}
		s.resources = element{present: true, not: name == "NotResource", values: c.texts(value, name)}
	case "Condition":
		s.conditions = c.conditions(value)
		s.unclear = unclear(value, s.conditions)
	default:
		c.fail(m.key, CodeUnknownElement, name, "a statement has no element %q; look for a slip in its spelling or case", name)
	}
}

// conflict records an element next to its own negation. It is one too if the
// same element comes twice, which is reported as a duplicate key already.
func (c *compiler) conflict(at text, name string) {
	c.fail(at, CodeConflict, name, "the statement has %s and Not%s, or one of them twice; keep one", name, name)
}

// effect compiles Effect.
func (c *compiler) effect(s *statement, n *node) {
	if !c.isShape(n, "Effect", shapeString) {
		return
	}
	s.deny = n.value == "Deny"
	if !s.deny && n.value != "Allow" {
		c.fail(n.text, CodeInvalidEffect, n.value, `the Effect is %q; it must be "Allow" or "Deny", in this case`, n.value)
	}
}

// texts reads a string or a list of strings.
func (c *compiler) texts(n *node, name string) []text {
	if n.shape == shapeString {
		return []text{n.text}
	}
	if n.shape != shapeArray {
		c.fail(n.text, CodeWrongType, name, "%s is %s; it must be a string or a list of strings", name, n.shape)
		return nil
	}
	all := make([]text, 0, len(n.members))
	for i := range n.members {
		item := &n.members[i].value
		if c.isShape(item, "an entry of "+name, shapeString) {
			all = append(all, item.text)
		}
	}
	return all
}

// principals reads "*" or an object of lists by type.
func (c *compiler) principals(n *node, name string) []principalEntry {
	if n.shape == shapeString && n.value == "*" {
		return []principalEntry{{text: n.text, kind: TypeAny}}
	}
	if n.shape != shapeObject {
		c.fail(n.text, CodeWrongType, name, `%s is %s; it must be "*" or an object such as {"AWS": "arn:..."}`, name, n.shape)
		return nil
	}
	var entries []principalEntry
	for i := range n.members {
		m := &n.members[i]
		kind := PrincipalType(m.key.value)
		switch kind {
		case TypeAWS, TypeFederated, TypeService, TypeCanonicalUser:
		default:
			c.fail(m.key, CodeUnknownElement, m.key.value,
				"%s has no type %q; it has AWS, Service, Federated and CanonicalUser", name, m.key.value)
			continue
		}
		for _, value := range c.texts(&m.value, m.key.value) {
			entries = append(entries, principalEntry{text: value, kind: kind})
		}
	}
	return entries
}

// conditions reads operators, their keys and the keys' values.
func (c *compiler) conditions(n *node) []condition {
	if !c.isShape(n, "Condition", shapeObject) {
		return nil
	}
	count := 0
	for i := range n.members {
		count += len(n.members[i].value.members)
	}
	all := make([]condition, 0, count)
	for i := range n.members {
		m := &n.members[i]
		form, ok := readOperator(m.key.value)
		if !ok {
			c.fail(m.key, CodeUnknownOperator, m.key.value,
				"there is no condition operator %q; look for a slip in its spelling or case", m.key.value)
			continue
		}
		if !c.isShape(&m.value, m.key.value, shapeObject) {
			continue
		}
		for k := range m.value.members {
			key, one := &m.value.members[k], form
			one.name, one.key = key.key, strings.ToLower(key.key.value)
			one.values = c.conditionValues(&key.value, key.key.value)
			one.operands = make([]operand, 0, len(one.values))
			for _, value := range one.values {
				one.operands = append(one.operands, one.compile(value.value, c.variables))
			}
			all = append(all, one)
		}
	}
	return all
}

// conditionValues reads one value or a list; numbers and booleans count as
// their texts.
func (c *compiler) conditionValues(n *node, key string) []text {
	items := []member{{value: *n}}
	if n.shape == shapeArray {
		items = n.members
	}
	all := make([]text, 0, len(items))
	for i := range items {
		item := &items[i].value
		switch item.shape {
		case shapeString, shapeNumber, shapeBool:
			all = append(all, item.text)
		default:
			c.fail(item.text, CodeWrongType, key, "a value of the condition key %q is %s; it must be a string, a number or a boolean", key, item.shape)
		}
	}
	return all
}
