package iampolicy

import (
	"slices"
	"strings"
)

// This file says which conditions follow from others. What is not certain does not
// follow.

// implied says whether every request that fulfils the conditions given also fulfils
// those wanted.
func implied(wanted, given []condition) bool {
	for i := range wanted {
		if !slices.ContainsFunc(given, func(g condition) bool { return wanted[i].followsFrom(&g) }) {
			return false
		}
	}
	return true
}

// followsFrom says whether the condition holds wherever the other one does.
func (c *condition) followsFrom(given *condition) bool {
	switch {
	case c.key != given.key:
		return false
	case c.presence && !given.presence:
		return c.asksForKey() && given.needsText()
	case c.presence:
		return c.holdsValuesOf(given) && given.holdsValuesOf(c)
	case c.negated != given.negated || family(c.base) != family(given.base):
		return false
	case given.ifExists && !c.ifExists, !c.countsAs(given):
		return false
	case c.negated:
		return given.holdsValuesOf(c)
	default:
		return c.coversValuesOf(given)
	}
}

// family is the operator, one of those that compare alike. ArnEquals has wildcards as
// ArnLike has (AWS: ARN condition operators).
func family(base string) string {
	switch base {
	case "ArnLike", "ArnNotLike":
		return "Arn"
	case "ArnEquals", "ArnNotEquals":
		return "Arn"
	case "StringEquals", "StringLike":
		return "String"
	default:
		return base
	}
}

// countsAs says whether the values of the request count as in the other condition, or
// so that more requests pass. One value that has to pass is any value that passes.
func (c *condition) countsAs(given *condition) bool {
	if c.set == given.set {
		return c.set == single || c.ifExists == given.ifExists
	}
	return c.set == forAny && given.set == single && !given.negated && !given.ifExists && !c.ifExists
}

// holdsValuesOf says whether all values of the other condition are among those of this
// one, read alike.
func (c *condition) holdsValuesOf(other *condition) bool {
	for i := range other.values {
		if !c.hasValueOf(other, i) {
			return false
		}
	}
	return true
}

// hasValueOf says whether a value of the other condition is one of this.
func (c *condition) hasValueOf(other *condition, i int) bool {
	return slices.ContainsFunc(other.values[i:i+1], func(text) bool {
		for k := range c.values {
			if c.values[k].value == other.values[i].value && sameText(c.operands[k], other.operands[i]) {
				return true
			}
		}
		return false
	})
}

// sameText says whether two operands of the same text mean the same: in one version of
// the language a variable is plain text.
func sameText(a, b operand) bool {
	ta, tb := templateOf(a), templateOf(b)
	if ta == nil || tb == nil {
		return ta == tb
	}
	return len(ta.parts) == len(tb.parts) && ta.broken == tb.broken && ta.fixed.pattern == tb.fixed.pattern
}

// coversValuesOf says whether every text that is among the values of the other
// condition is among those of this one. Both are positive and of one family.
func (c *condition) coversValuesOf(given *condition) bool {
	for i := range given.values {
		if !c.coversValueOf(given, i) {
			return false
		}
	}
	return true
}

// coversValueOf says it of one value of the other condition.
func (c *condition) coversValueOf(given *condition, i int) bool {
	if c.base == given.base || family(c.base) != "String" {
		if c.hasValueOf(given, i) {
			return true
		}
	}
	if c.base != "StringLike" {
		return false
	}
	inner := templateOf(given.operands[i])
	if inner.parts != nil || inner.broken {
		return false
	}
	return slices.ContainsFunc(c.operands, func(o operand) bool {
		outer := templateOf(o)
		return outer.parts == nil && !outer.broken && coversGlob(outer.fixed.pattern, inner.fixed.pattern)
	})
}

// conditionBudget is the work that is spent on a pair of patterns of two conditions.
const conditionBudget = 5000

// coversGlob says whether every text that fits the inner pattern fits the outer one.
func coversGlob(outer, inner string) bool {
	ps := &patterns{made: map[string]*pattern{}}
	left := conditionBudget
	spend := func(n int) bool { left -= n; return left >= 0 }
	a, b := &pattern{}, &pattern{}
	a.text(outer, false)
	b.text(inner, false)
	return includes(a.finish(), b.finish(), ps.everything(), spend)
}

// includes says whether every text that fits both inner patterns fits the outer one.
// It is false, too, where the budget is too small.
func includes(outer, inner, also *pattern, spend func(int) bool) bool {
	if inner.apart(also) {
		return true
	}
	missed := false
	watch := newBundle([]*pattern{outer})
	w := walk{
		must: [2]*pattern{inner, also}, watch: watch, growing: true,
		skip: func(places []int32) bool {
			sure := false
			watch.certain(places, func(int32) { sure = true })
			return sure
		},
		visit: func(places []int32) bool {
			missed = true
			watch.ended(places, func(int32) { missed = false })
			return !missed
		},
	}
	return w.run(spend) && !missed
}

// asksForKey says of Null that it holds wherever the key is there.
func (c *condition) asksForKey() bool {
	return slices.ContainsFunc(c.values, func(v text) bool { return strings.EqualFold(v.value, "false") })
}

// needsText says that the condition holds only where the key has a value that is not
// empty: AWS leaves open whether an empty one counts as present.
func (c *condition) needsText() bool {
	if c.base != "StringEquals" || c.ifExists || c.set == forAll {
		return false
	}
	return !slices.ContainsFunc(c.operands, func(o operand) bool {
		t := templateOf(o)
		return t.parts != nil || t.fixed.pattern == ""
	})
}

// needsKey says that the condition never holds without its key.
func (c *condition) needsKey() bool {
	return !c.presence && !c.negated && !c.ifExists && c.set != forAll
}

// exclusive says that no request fulfils all conditions of both lists.
func exclusive(a, b []condition) bool {
	for i := range a {
		for k := range b {
			if a[i].excludes(&b[k]) || b[k].excludes(&a[i]) {
				return true
			}
		}
	}
	return false
}

// excludes says that the negation of this condition follows from the other one.
func (c *condition) excludes(other *condition) bool {
	if c.key != other.key || c.set != single || other.set != single {
		return false
	}
	if c.base == "Bool" && other.base == "Bool" && !other.ifExists {
		return !slices.ContainsFunc(c.values, func(v text) bool {
			return slices.ContainsFunc(other.values, func(w text) bool { return strings.EqualFold(v.value, w.value) })
		})
	}
	if !c.negated {
		return false
	}
	positive := *c
	positive.negated, positive.ifExists = false, false
	positive.base = strings.Replace(strings.Replace(c.base, "NotIp", "Ip", 1), "Not", "", 1)
	return positive.followsFrom(other)
}
