package iampolicy

import "strings"

// template is a text of a policy that may hold variables. One without any is
// resolved once, when the policy is parsed.
type template struct {
	parts []part
	// fixed is the whole where there is no variable.
	fixed glob
	// broken is a template with a variable that cannot be read: it never
	// resolves.
	broken bool
}

// part is a piece of text, or a variable if key is not empty.
type part struct {
	text string
	// star says that the text has a wildcard for any text.
	star bool
	// key is the variable's key in lower case, name the same as written.
	key, name string
	// many says that the key may have several values.
	many     bool
	fallback *string
}

// mode says how the wildcards of a policy's text are meant.
type mode bool

const (
	literal  mode = false
	wildcard mode = true
)

// compileTemplate reads a text. Variables exist in version 2012-10-17 only
// (AWS: policy variables); before, they are plain text.
func compileTemplate(s string, variables bool, wild mode) template {
	plain := func(s string) string {
		if wild == wildcard {
			return activate.Replace(s)
		}
		return s
	}
	if !variables || !strings.Contains(s, "${") {
		return template{fixed: newGlob(plain(s))}
	}
	t := template{}
	for {
		before, after, found := strings.Cut(s, "${")
		if before != "" {
			text := plain(before)
			t.parts = append(t.parts, part{text: text, star: strings.IndexByte(text, anyText) >= 0})
		}
		if !found {
			return t.simplified()
		}
		variable, rest, ok := readVariable(after)
		if !ok {
			return template{broken: true}
		}
		t.parts = append(t.parts, variable)
		s = rest
	}
}

// readVariable reads what follows "${", up to and with the "}".
func readVariable(s string) (part, string, bool) {
	end := strings.IndexAny(s, ",}")
	if end <= 0 {
		return part{}, "", false
	}
	key, rest := strings.TrimSpace(s[:end]), s[end+1:]
	if key == "" {
		return part{}, "", false
	}
	if s[end] == '}' {
		if key == "*" || key == "?" || key == "$" {
			return part{text: key}, rest, true
		}
		return variable(key, nil), rest, true
	}
	quoted, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), "'")
	if !ok {
		return part{}, "", false
	}
	fallback, rest, ok := strings.Cut(quoted, "'")
	if !ok {
		return part{}, "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), "}")
	return variable(key, &fallback), rest, ok
}

func variable(name string, fallback *string) part {
	key := strings.ToLower(name)
	return part{key: key, name: name, many: isMultivalued(key), fallback: fallback}
}

// simplified joins the parts where none of them is a variable.
func (t template) simplified() template {
	var joined strings.Builder
	for _, p := range t.parts {
		if p.key != "" {
			return t
		}
		joined.WriteString(p.text)
	}
	return template{fixed: newGlob(joined.String())}
}

// value returns what stands for a part in a request. It fails for a variable that
// is absent and has no default, for one with several values, and for one whose key
// may have several, also with a default: such keys cannot be variables (AWS: policy
// variables).
func (p *part) value(context Context) (string, bool) {
	if p.key == "" {
		return p.text, true
	}
	switch values := context[p.key]; {
	case p.many:
		return "", false
	case len(values) == 1:
		// A value with the bytes that stand for wildcards must not bring
		// wildcards in.
		return strings.ToValidUTF8(values[0], "\uFFFD"), true
	case len(values) == 0 && p.fallback != nil:
		return *p.fallback, true
	default:
		return "", false
	}
}

// resolve puts the request's values in.
func (t *template) resolve(context Context) (string, bool) {
	if t.broken {
		return "", false
	}
	if t.parts == nil {
		return t.fixed.pattern, true
	}
	return join(t.parts, context)
}

// join puts parts together, all or none.
func join(parts []part, context Context) (string, bool) {
	if len(parts) == 1 {
		return parts[0].value(context)
	}
	var out strings.Builder
	for i := range parts {
		text, ok := parts[i].value(context)
		if !ok {
			return "", false
		}
		out.WriteString(text)
	}
	return out.String(), true
}

// resolves says whether resolve would succeed, at less cost.
func (t *template) resolves(context Context) bool {
	for i := range t.parts {
		if _, ok := t.parts[i].value(context); !ok {
			return false
		}
	}
	return !t.broken
}

// fits says whether the pattern, its variables resolved, covers the whole of a
// text. The parts before the first star are compared one by one: nothing is put
// together where they do not fit, or where no variable follows.
func (t *template) fits(s string, context Context) bool {
	if t.parts == nil {
		return !t.broken && t.fixed.match(s)
	}
	for i := range t.parts {
		p := &t.parts[i]
		if p.star {
			pattern, ok := join(t.parts[i:], context)
			return ok && matchGlob(pattern, s)
		}
		text, ok := p.value(context)
		if !ok {
			return false
		}
		if p.key == "" {
			s, ok = cutPiece(text, s)
		} else {
			s, ok = strings.CutPrefix(s, text)
		}
		if !ok {
			return false
		}
	}
	return s == ""
}
