package iampolicy

import "strings"

// compileOperand makes a condition's value ready for comparison. variables says
// whether the policy's version has them.
type compileOperand func(s string, variables bool) operand

// operator is a condition operator without prefix and suffix.
type operator struct {
	compile compileOperand
	negated bool
	// presence is Null, which asks for the key and not for its values.
	presence bool
}

func equal(order int) bool   { return order == 0 }
func less(order int) bool    { return order < 0 }
func greater(order int) bool { return order > 0 }
func atMost(order int) bool  { return order <= 0 }
func atLeast(order int) bool { return order >= 0 }

// operators are all condition operators of AWS (AWS: condition operators).
var operators = map[string]operator{
	"StringEquals":              {compile: textual(literal)},
	"StringNotEquals":           {compile: textual(literal), negated: true},
	"StringEqualsIgnoreCase":    {compile: compileFolded},
	"StringNotEqualsIgnoreCase": {compile: compileFolded, negated: true},
	"StringLike":                {compile: textual(wildcard)},
	"StringNotLike":             {compile: textual(wildcard), negated: true},

	"NumericEquals":            {compile: ordered(parseDecimal, compareDecimals, equal)},
	"NumericNotEquals":         {compile: ordered(parseDecimal, compareDecimals, equal), negated: true},
	"NumericLessThan":          {compile: ordered(parseDecimal, compareDecimals, less)},
	"NumericLessThanEquals":    {compile: ordered(parseDecimal, compareDecimals, atMost)},
	"NumericGreaterThan":       {compile: ordered(parseDecimal, compareDecimals, greater)},
	"NumericGreaterThanEquals": {compile: ordered(parseDecimal, compareDecimals, atLeast)},

	"DateEquals":            {compile: ordered(parseDate, compareDates, equal)},
	"DateNotEquals":         {compile: ordered(parseDate, compareDates, equal), negated: true},
	"DateLessThan":          {compile: ordered(parseDate, compareDates, less)},
	"DateLessThanEquals":    {compile: ordered(parseDate, compareDates, atMost)},
	"DateGreaterThan":       {compile: ordered(parseDate, compareDates, greater)},
	"DateGreaterThanEquals": {compile: ordered(parseDate, compareDates, atLeast)},

	"Bool":         {compile: compileBool},
	"BinaryEquals": {compile: compileBinary},
	"IpAddress":    {compile: compileRange},
	"NotIpAddress": {compile: compileRange, negated: true},

	"ArnEquals":    {compile: compileARN},
	"ArnLike":      {compile: compileARN},
	"ArnNotEquals": {compile: compileARN, negated: true},
	"ArnNotLike":   {compile: compileARN, negated: true},

	"Null": {compile: compileBool, presence: true},
}

// quantifier says how the values of a request count together (AWS: set operators
// for multivalued context keys).
type quantifier int

const (
	single quantifier = iota
	forAll
	forAny
)

// condition is one key of one operator.
type condition struct {
	operator
	// base is the operator's name without prefix and suffix.
	base     string
	set      quantifier
	ifExists bool
	// name is the key as written, key the same in lower case.
	name     text
	key      string
	operands []operand
	values   []text
}

// readOperator takes an operator's full name apart. Null has no other forms,
// since it is itself the question whether the key exists.
func readOperator(name string) (condition, bool) {
	c := condition{}
	base := name
	if rest, ok := strings.CutPrefix(base, "ForAllValues:"); ok {
		base, c.set = rest, forAll
	} else if rest, ok := strings.CutPrefix(base, "ForAnyValue:"); ok {
		base, c.set = rest, forAny
	}
	base, c.ifExists = strings.CutSuffix(base, "IfExists")
	op, ok := operators[base]
	if op.presence && (c.set != single || c.ifExists) {
		return condition{}, false
	}
	c.operator, c.base = op, base
	return c, ok
}

// holds says whether the request fulfils the condition. Without the key, a
// negated operator and IfExists hold, ForAllValues holds, ForAnyValue does not
// (AWS: condition operators; multivalued context keys).
func (c *condition) holds(context Context) bool {
	values := context[c.key]
	if c.presence {
		absent := "false"
		if len(values) == 0 {
			absent = "true"
		}
		return c.passes(absent, context)
	}
	if len(values) == 0 {
		switch c.set {
		case forAll:
			return true
		case forAny:
			return false
		default:
			return c.ifExists || c.negated
		}
	}
	switch c.set {
	case forAll:
		for _, value := range values {
			if !c.passes(value, context) {
				return false
			}
		}
		return true
	case forAny:
		for _, value := range values {
			if c.passes(value, context) {
				return true
			}
		}
		return false
	default:
		// AWS does not document several values without a set operator; not to
		// match is the careful answer.
		return len(values) == 1 && c.passes(values[0], context)
	}
}

// passes tests one value of the request against all values of the policy: one of
// them for a positive operator, none for a negated one (AWS: conditions with
// multiple context keys or values).
func (c *condition) passes(value string, context Context) bool {
	for _, o := range c.operands {
		matched, ok := o.match(value, context)
		if c.negated && (matched || !ok) {
			return false
		}
		if !c.negated && matched {
			return true
		}
	}
	return c.negated
}
