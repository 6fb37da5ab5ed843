package iampolicy

import (
	"strings"
	"unicode/utf8"
)

// symbol is what a pattern compares at one place: a character, any character that no
// pattern names, or a policy variable, which stands for the same text wherever it is.
type symbol int32

// anyOther is a character that no pattern at hand names. Smaller symbols are variables.
const anyOther symbol = -1

// isVariable says that the symbol stands for a text that only the request has.
func (s symbol) isVariable() bool { return s < anyOther }

// hasNoColon says of a variable that AWS never gives it a value with a colon.
func (s symbol) hasNoColon() bool { return s.isVariable() && s%2 != 0 }

// colonFree are the keys whose values AWS sets itself, to a text without a colon.
var colonFree = set("aws:principalaccount", "aws:resourceaccount", "aws:sourceaccount", "aws:principalorgid", "aws:resourceorgid", "aws:requestedregion")

// tokenKind is what a place of a pattern takes.
type tokenKind uint8

const (
	// takesOne takes its own symbol.
	takesOne tokenKind = iota
	// takesAny takes any character: "?".
	takesAny
	// takesMany takes any text: "*".
	takesMany
	// takesNone is the end of a pattern.
	takesNone
	// fails is a pattern that matches nothing.
	fails
)

// token is one place of a pattern. Its wildcards stay within a part of an ARN where
// within is set.
type token struct {
	kind   tokenKind
	within bool
	symbol symbol
}

// takes says whether the place takes a symbol.
func (t token) takes(s symbol) bool {
	switch t.kind {
	case takesOne:
		return t.symbol == s
	case takesAny:
		return !s.isVariable() && (!t.within || s != ':')
	case takesMany:
		if s.isVariable() {
			return !t.within || s.hasNoColon()
		}
		return !t.within || s != ':'
	default:
		return false
	}
}

// pattern is the pattern of an action or a resource as a sequence of places, which
// ends with takesNone.
type pattern struct {
	tokens []token
	// written is the text in the policy. Patterns with the same key mean the same.
	written, key string
	// head and tail are the texts before the first wildcard and behind the last one.
	// A plain pattern has no wildcard, and its text is the head.
	head, tail string
	plain      bool
	// variables says that it has some.
	variables bool
}

// apart says that no text fits both patterns, as their ends show. False says nothing.
func (p *pattern) apart(other *pattern) bool {
	short := min(len(p.head), len(other.head))
	if p.head[:short] != other.head[:short] {
		return true
	}
	if p.plain && len(p.head) < len(other.head) || other.plain && len(other.head) < len(p.head) {
		return true
	}
	short = min(len(p.tail), len(other.tail))
	return p.tail[len(p.tail)-short:] != other.tail[len(other.tail)-short:]
}

// finish closes the pattern and reads its ends.
func (p *pattern) finish() *pattern {
	var head, tail strings.Builder
	p.plain = true
	for _, t := range p.tokens {
		if t.kind != takesOne || t.symbol.isVariable() {
			p.plain = false
			tail.Reset()
			continue
		}
		if p.plain {
			head.WriteRune(rune(t.symbol))
		}
		tail.WriteRune(rune(t.symbol))
	}
	p.head, p.tail = head.String(), tail.String()
	p.tokens = append(p.tokens, token{kind: takesNone})
	return p
}

// text adds a text in which the bytes of glob.go stand for wildcards.
func (p *pattern) text(s string, within bool) {
	for s != "" {
		switch s[0] {
		case anyText:
			p.many(within)
			s = s[1:]
		case anyChar:
			p.tokens = append(p.tokens, token{kind: takesAny, within: within})
			s = s[1:]
		default:
			char, size := utf8.DecodeRuneInString(s)
			p.tokens = append(p.tokens, token{symbol: symbol(char)})
			s = s[size:]
		}
	}
}

// many adds a star. Two in a row are one; the wider one stays.
func (p *pattern) many(within bool) {
	if last := len(p.tokens) - 1; last >= 0 && p.tokens[last].kind == takesMany {
		p.tokens[last].within = p.tokens[last].within && within
		return
	}
	p.tokens = append(p.tokens, token{kind: takesMany, within: within})
}

// reading is how the parts of a pattern are read on which a request, or AWS,
// decides otherwise than its text alone.
type reading uint8

const (
	// readLeast reads what the pattern matches beyond doubt: a variable matches itself.
	// One that AWS may refuse or complete matches nothing.
	readLeast reading = iota
	// readMost reads all that it may match: anything may follow an ARN with parts missing
	// (AWS: an incomplete ARN is completed with wildcards). A variable matches itself.
	readMost
	// readAnything is readMost, with any text for a variable.
	readAnything
)

// patterns makes patterns, each once, and numbers the variables.
type patterns struct {
	made      map[string]*pattern
	variables map[string]symbol
}

// variable is the symbol of a variable with its default.
func (ps *patterns) variable(p *part) symbol {
	key := p.key
	if p.fallback != nil {
		key += "\x00" + *p.fallback
	}
	s, known := ps.variables[key]
	if !known {
		s = anyOther - 1 - symbol(2*len(ps.variables))
		if colonFree[p.key] && p.fallback == nil {
			s--
		}
		ps.variables[key] = s
	}
	return s
}

// once returns what was made for a key, or makes it.
func (ps *patterns) once(key string, makeOne func() *pattern) *pattern {
	p, known := ps.made[key]
	if !known {
		p = makeOne()
		p.key = key[1:]
		ps.made[key] = p
	}
	return p
}

// action is the pattern of an action.
func (ps *patterns) action(g *glob, written string) *pattern {
	return ps.once("a"+g.pattern, func() *pattern {
		p := &pattern{written: written}
		p.text(g.pattern, false)
		return p.finish()
	})
}

// everything is the pattern that fits every text.
func (ps *patterns) everything() *pattern {
	return ps.once("e*", func() *pattern {
		p := &pattern{written: "*"}
		p.many(false)
		return p.finish()
	})
}

// resource is the pattern of a resource. Its key has the language's version where
// that decides what the text means.
func (ps *patterns) resource(from *resourcePattern, written string, variables bool, as reading) *pattern {
	key := string([]byte{'0' + byte(as), 'p'})
	if variables && strings.Contains(written, "${") {
		key = string([]byte{'0' + byte(as), 'v'})
	}
	return ps.once(key+written, func() *pattern {
		p := &pattern{written: written}
		if from.all {
			p.many(false)
			return p.finish()
		}
		last := len(from.parts) - 1
		complete := from.open || last == arnParts-1
		for i := range from.parts {
			if i > 0 {
				p.tokens = append(p.tokens, token{symbol: ':'})
			}
			ps.part(p, &from.parts[i], i < last && complete, as)
		}
		if !complete && as == readLeast {
			return (&pattern{written: written, tokens: []token{{kind: fails}}, variables: p.variables}).finish()
		}
		if !complete {
			p.many(false)
		}
		return p.finish()
	})
}

// part adds one part of an ARN.
func (ps *patterns) part(p *pattern, t *template, within bool, as reading) {
	if t.broken {
		if as == readLeast {
			p.tokens = append(p.tokens, token{kind: fails})
			return
		}
		p.many(false)
		return
	}
	if t.parts == nil {
		p.text(t.fixed.pattern, within)
		return
	}
	for i := range t.parts {
		piece := &t.parts[i]
		switch {
		case piece.key == "":
			p.text(piece.text, within)
			continue
		case piece.many && as == readLeast:
			p.tokens = append(p.tokens, token{kind: fails})
		case as == readAnything:
			p.many(false)
		default:
			p.tokens = append(p.tokens, token{symbol: ps.variable(piece)})
		}
		p.variables = true
	}
}
