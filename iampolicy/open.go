package iampolicy

import (
	"net/netip"
	"slices"
	"strings"
)

// This file finds where a question that AWS's documentation leaves open decides
// about an element. It is asked by Explain only.

// openResource returns the questions that decide about a statement's resources.
func (q *query) openResource(s *statement) []Question {
	var found []Question
	for i := range s.resourcePatterns {
		p := &s.resourcePatterns[i]
		var open []Question
		matched := p.match(&q.resource, q.Context)
		if s.resources.not && !p.resolves(q.Context) {
			open = append(open, QuestionUnresolvedVariable)
		}
		for k := range p.parts {
			if p.parts[k].emptyDefault(q.Context) {
				open = append(open, QuestionEmptyDefault)
			}
			if p.parts[k].bringsColon(q.Context) {
				open = append(open, QuestionColonInVariable)
			}
		}
		if matched && p.starsOverColons(&q.resource, q.Context) {
			open = append(open, QuestionStarOverColons)
		}
		if matched && len(open) == 0 {
			return nil
		}
		found = append(found, open...)
	}
	return found
}

// emptyDefault says that a variable has a default and its key is empty.
func (t *template) emptyDefault(context Context) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool {
		values := context[p.key]
		return p.fallback != nil && !p.many && len(values) == 1 && values[0] == ""
	})
}

// bringsColon says that the value of a variable has a colon.
func (t *template) bringsColon(context Context) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool {
		values := context[p.key]
		return p.key != "" && !p.many && len(values) == 1 && strings.Contains(values[0], ":")
	})
}

// starsOverColons says that the last part of a resource that matches has colons
// that only a star can have covered.
func (p *resourcePattern) starsOverColons(resource *arn, context Context) bool {
	if p.all || len(p.parts) < arnParts {
		return false
	}
	last, resolved := p.parts[arnParts-1].resolve(context)
	return resolved && last != string([]byte{anyText}) && strings.Count(resource.part(arnParts-1), ":") > strings.Count(last, ":")
}

// openPrincipal returns the question that decides how a statement names the
// caller, and how it would with the other answer.
func (q *query) openPrincipal(s *statement, names strength) (Question, strength) {
	p := s.principals
	switch {
	case p.wild && !p.not && q.Principal.Kind == Federated && names == unnamed:
		return QuestionEveryoneFederated, everyone
	case p.wild && !p.not && q.Principal.Kind == Federated && names == everyone:
		return QuestionEveryoneFederated, p.strength(&q.Principal)
	case p.wild && !p.not && q.Principal.Kind == Service && names == everyone && !p.bare():
		return QuestionEveryoneService, unnamed
	case p.not && s.deny && !q.bounded && p.strength(&q.Principal) == byRole:
		return QuestionExceptRole, exact
	default:
		return "", names
	}
}

// bare says that "*" stands without a type.
func (p *principals) bare() bool {
	return slices.ContainsFunc(p.entries, func(e principalEntry) bool { return e.kind == TypeAny })
}

// open returns the questions that decide about a condition.
func (c *condition) open(context Context) []Question {
	values, present := context[c.key]
	switch {
	case present && len(values) == 0:
		return []Question{QuestionEmptyList}
	case len(values) == 0:
		return nil
	case c.presence:
		if len(values) == 1 && values[0] == "" {
			return []Question{QuestionEmptyValue}
		}
		return nil
	case c.set == single && len(values) > 1:
		return []Question{QuestionManyValues}
	}
	var found []Question
	for _, value := range values {
		found = append(found, c.openValue(value, context)...)
	}
	return found
}

// openValue returns the questions that decide about one value of the request:
// none if one of the policy's values matches beyond doubt.
func (c *condition) openValue(value string, context Context) []Question {
	var found []Question
	for i, o := range c.operands {
		matched, ok := o.match(value, context)
		question := c.openOperand(o, c.values[i].value, value, context, ok)
		if matched && question == "" {
			return nil
		}
		if question != "" {
			found = append(found, question)
		}
	}
	return found
}

// openOperand returns the question that decides about a pair of values. readable
// says that the comparison could be made.
func (c *condition) openOperand(o operand, want, value string, context Context, readable bool) Question {
	if t := templateOf(o); t != nil {
		switch {
		case !t.resolves(context) && c.negated:
			return QuestionUnresolvedVariable
		case !t.resolves(context):
			return ""
		case t.emptyDefault(context):
			return QuestionEmptyDefault
		}
	}
	if !readable {
		return QuestionUnreadableValue
	}
	if addresses, ok := o.(*rangeOperand); ok {
		if have, err := netip.ParseAddr(value); err == nil && have.Unmap().Is4() != addresses.want.Addr().Is4() {
			return QuestionAddressFamilies
		}
	}
	if strings.HasPrefix(c.base, "Date") {
		_, wantSeconds := parseEpoch(want)
		if _, haveSeconds := parseEpoch(value); wantSeconds != haveSeconds {
			return QuestionDateForms
		}
	}
	return ""
}
