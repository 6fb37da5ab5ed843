package iampolicy

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// small makes small policies over a small alphabet, and all requests that can tell them
// apart.
type small struct{ *rand.Rand }

func newSmall(seed, more uint64) small { return small{rand.New(rand.NewPCG(seed, more))} }

func (g small) one(words ...string) string { return words[g.IntN(len(words))] }

func (g small) chance(percent int) bool { return g.IntN(100) < percent }

var (
	smallVariables = []string{"${aws:u}", "${aws:U}", "${aws:u, 'a'}", "${aws:u,'b'}", "${aws:tagkeys}", "${aws:PrincipalAccount}", "${*}", "${?}", "${"}
	smallOperators = []string{"StringEquals", "StringNotEquals", "StringLike", "StringNotLike", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase",
		"ArnLike", "ArnEquals", "ArnNotLike", "Bool", "Null", "NumericEquals", "NumericLessThan", "NumericNotEquals", "IpAddress", "NotIpAddress", "StringEquals", "StringLike", "StringNotEquals"}
	smallValues = []string{"a", "b", "A", "ab", "a*", "*", "?", "", "true", "false", "1", "2", "arn:a:b:c:d:e", "arn:a:b:c:d:*", "10.0.0.0/8", "10.1.1.1", "${aws:u}"}
	smallKeys   = []string{"k", "K", "aws:u", "m"}
)

// run is a text of a few characters and wildcards.
func (g small) run(most int, more ...string) string {
	var out strings.Builder
	for range g.IntN(most + 1) {
		out.WriteString(g.one(append([]string{"a", "b", "*", "?", "*", "a", "A"}, more...)...))
	}
	return out.String()
}

func (g small) action() string {
	switch n := g.IntN(10); {
	case n < 1:
		return "*"
	case n < 8:
		return g.one("s", "s", "S", "?", "t") + ":" + g.run(3)
	default:
		return g.run(4, ":", "s")
	}
}

// resource is a pattern of an ARN with short parts, mostly whole.
func (g small) resource() string {
	more := []string{"/", ":"}
	if g.chance(15) {
		more = append(more, smallVariables...)
	}
	switch n := g.IntN(20); {
	case n < 2:
		return "*"
	case n < 14:
		return "n:p:s:::" + g.run(4, more...)
	case n < 17:
		return "n:p:s:" + g.run(1, smallVariables[:6]...) + ":" + g.run(2, smallVariables[:6]...) + ":" + g.run(2, more...)
	case n < 19:
		return "n:" + g.run(3, ":", ":", "p") + g.one("", "*")
	default:
		return g.run(5, more...)
	}
}

func (g small) some(most int, makeOne func() string) []string {
	out := []string{makeOne()}
	for range g.IntN(most) {
		out = append(out, makeOne())
	}
	return out
}

func (g small) conditions() map[string]any {
	out := map[string]any{}
	for range 1 + g.IntN(4)/3 {
		operator := g.one(smallOperators...)
		if operator != "Null" && g.chance(30) {
			operator = g.one("", "ForAllValues:", "ForAnyValue:") + operator + g.one("", "IfExists")
		}
		values := g.some(2, func() string { return g.one(smallValues...) })
		if g.chance(3) {
			values = []string{}
		}
		out[operator] = map[string]any{g.one(smallKeys...): values}
	}
	return out
}

func (g small) statement() map[string]any {
	s := map[string]any{"Effect": g.one("Allow", "Allow", "Allow", "Deny")}
	s[g.one("Action", "Action", "Action", "Action", "Action", "NotAction")] = g.some(2, g.action)
	s[g.one("Resource", "Resource", "Resource", "Resource", "Resource", "NotResource")] = g.some(2, g.resource)
	if g.chance(25) {
		s["Condition"] = g.conditions()
	}
	return s
}

func (g small) document() *document {
	d := &document{Version: g.one(newVersion, newVersion, newVersion, newVersion, "")}
	for range 1 + g.IntN(3) {
		d.Statement = append(d.Statement, g.statement())
	}
	return d
}

// near is a document that is like another one: where it is wider, it often contains it.
func (g small) near(d *document) *document {
	out := &document{Version: d.Version}
	if g.chance(5) {
		out.Version = g.one(newVersion, "")
	}
	for _, s := range d.Statement {
		if g.chance(90) {
			out.Statement = append(out.Statement, g.changed(s))
		}
		if g.chance(15) {
			out.Statement = append(out.Statement, g.changed(s))
		}
		if g.chance(15) {
			out.Statement = append(out.Statement, g.statement())
		}
	}
	if len(out.Statement) == 0 {
		out.Statement = []map[string]any{g.statement()}
	}
	g.Shuffle(len(out.Statement), func(i, k int) { out.Statement[i], out.Statement[k] = out.Statement[k], out.Statement[i] })
	return out
}

// changed is a statement that is like another one.
func (g small) changed(from map[string]any) map[string]any {
	s := maps.Clone(from)
	for name, element := range s {
		texts, ok := element.([]string)
		if !ok {
			continue
		}
		texts = slices.Clone(texts)
		for i := range texts {
			if g.chance(35) {
				texts[i] = g.altered(texts[i])
			}
		}
		if g.chance(20) {
			texts = append(texts, g.altered(texts[g.IntN(len(texts))]))
		}
		if len(texts) > 1 && g.chance(10) {
			texts = texts[1:]
		}
		s[name] = texts
	}
	switch n := g.IntN(30); {
	case n < 2:
		delete(s, "Condition")
	case n < 4:
		s["Condition"] = g.conditions()
	case n < 9 && s["Condition"] != nil:
		s["Condition"] = g.likeConditions(s["Condition"].(map[string]any))
	case n == 10:
		s["Effect"] = g.one("Allow", "Deny")
	}
	return s
}

// likeConditions are conditions like others: with other forms of their operators, and with
// other values.
func (g small) likeConditions(from map[string]any) map[string]any {
	out := map[string]any{}
	for operator, keys := range from {
		switch n := g.IntN(12); {
		case n < 2 && operator != "Null":
			operator = g.one("", "ForAllValues:", "ForAnyValue:") + strings.TrimPrefix(strings.TrimPrefix(operator, "ForAllValues:"), "ForAnyValue:")
		case n < 4 && operator != "Null":
			operator = strings.TrimSuffix(operator, "IfExists") + g.one("", "IfExists")
		case n < 6:
			operator = strings.NewReplacer("Like", "Equals").Replace(operator)
		case n < 7:
			operator = strings.NewReplacer("NotEquals", "Equals", "NotLike", "Like", "NotIp", "Ip").Replace(operator)
		case n < 8:
			operator = strings.NewReplacer("StringEquals", "StringLike").Replace(operator)
		case n < 9:
			operator = "Null"
		}
		changed := map[string]any{}
		for key, values := range keys.(map[string]any) {
			texts := slices.Clone(values.([]string))
			if g.chance(40) {
				texts = append(texts, g.one(smallValues...))
			}
			if len(texts) > 1 && g.chance(30) {
				texts = texts[1:]
			}
			changed[key] = texts
		}
		out[operator] = changed
	}
	return out
}

// altered is a text with one character changed, mostly to a wildcard.
func (g small) altered(s string) string {
	if s == "" {
		return "*"
	}
	runes := []rune(s)
	i := g.IntN(len(runes))
	if g.chance(60) && len(runes) > 6 {
		i = len(runes) - 1 - g.IntN(min(4, len(runes)))
	}
	return string(runes[:i]) + g.one("*", "*", "*", "?", "a", "b", "A", "", "${aws:u}") + string(runes[i+g.IntN(2):])
}

// concrete is a text that fits a pattern, mostly.
func (g small) concrete(pattern string) string {
	for _, variable := range smallVariables {
		pattern = strings.ReplaceAll(pattern, variable, g.one("a", "b", "", "ab", "a:b", "*", "1", "x"))
	}
	var out strings.Builder
	for _, char := range pattern {
		switch char {
		case '*':
			for range g.IntN(4) {
				out.WriteString(g.one("a", "b", "A", "x", "/", "ab", ":", "*"))
			}
		case '?':
			out.WriteString(g.one("a", "b", "A", "x", "/", "é", ":"))
		default:
			if g.chance(98) {
				out.WriteRune(char)
			}
		}
	}
	return out.String()
}

// request is a request that one of the documents may be about.
func (g small) request(documents ...*document) *Request {
	d := documents[g.IntN(len(documents))]
	s := d.Statement[g.IntN(len(d.Statement))]
	pick := func(name string, other func() string) string {
		if texts, ok := s[name].([]string); ok {
			return g.concrete(texts[g.IntN(len(texts))])
		}
		return g.concrete(other())
	}
	context := NewContext()
	for _, key := range []string{"k", "m", "aws:u", "aws:tagkeys", "aws:PrincipalAccount"} {
		if g.chance(55) {
			context.Set(key, g.some(1+g.IntN(4)/3, func() string {
				return g.one("a", "b", "ab", "A", "x", "", "a:b", "*", "?", "true", "1", "2", "arn:a:b:c:d:e", "10.1.1.1", "1.1.1.1", "n:p")
			})...)
		} else if g.chance(5) {
			context.Set(key)
		}
	}
	r := &Request{Principal: Principal{Kind: User, ARN: alice, AccountID: account}, ResourceAccountID: account, Context: context,
		Action: pick("Action", g.action), Resource: pick("Resource", g.resource)}
	if strings.EqualFold(r.Action, "sts:GetCallerIdentity") || needsTrust(strings.ToLower(r.Action)) {
		r.Action = "s:a"
	}
	return r
}
