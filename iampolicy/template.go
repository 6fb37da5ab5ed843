package iampolicy

import "strings"

// template is a text of a policy that may hold variables. One without any is
// resolved once, when the policy is parsed.
type template struct {
	parts []part
	// fixed is the whole text where there is no variable.
	fixed string
	// broken is a template with a variable that cannot be read: it never
	// resolves.
	broken bool
}

// part is a piece of text, or a variable if key is not empty.
type part struct {
	text string
	// key is the variable's key in lower case, name the same as written.
	key, name string
	fallback  *string
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
		return template{fixed: plain(s)}
	}
	t := template{}
	for {
		before, after, found := strings.Cut(s, "${")
		if before != "" {
			t.parts = append(t.parts, part{text: plain(before)})
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
		return part{key: strings.ToLower(key), name: key}, rest, true
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
	return part{key: strings.ToLower(key), name: key, fallback: &fallback}, rest, ok
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
	return template{fixed: joined.String()}
}

// resolve puts the request's values in. It fails for a variable that is absent
// and has no default, and for one with several values, which AWS does not allow
// as a variable.
func (t *template) resolve(context Context) (string, bool) {
	if t.broken {
		return "", false
	}
	if t.parts == nil {
		return t.fixed, true
	}
	var out strings.Builder
	for _, p := range t.parts {
		if p.key == "" {
			out.WriteString(p.text)
			continue
		}
		switch values := context[p.key]; {
		case len(values) == 1:
			// A value with the bytes that stand for wildcards must not bring
			// wildcards in.
			out.WriteString(strings.ToValidUTF8(values[0], "\uFFFD"))
		case len(values) == 0 && p.fallback != nil:
			out.WriteString(*p.fallback)
		default:
			return "", false
		}
	}
	return out.String(), true
}

// resolves says whether resolve would succeed, at less cost.
func (t *template) resolves(context Context) bool {
	if t.broken {
		return false
	}
	for i := range t.parts {
		p := &t.parts[i]
		if p.key == "" {
			continue
		}
		if count := len(context[p.key]); count > 1 || count == 0 && p.fallback == nil {
			return false
		}
	}
	return true
}

// couldFit says whether the text before the first variable and the first star
// fits the start of a segment. It spares putting a text together that cannot
// match; a pattern of a team's folders mostly differs in its first letters.
func (t *template) couldFit(segment string) bool {
	if len(t.parts) == 0 || t.parts[0].key != "" {
		return true
	}
	piece := t.parts[0].text
	if star := strings.IndexByte(piece, anyText); star >= 0 {
		piece = piece[:star]
	}
	_, ok := cutPiece(piece, segment)
	return ok
}

// fits matches a pattern whose variables all resolve against a text.
func (t *template) fits(segment string, context Context) bool {
	if len(t.parts) == 0 {
		return matchGlob(t.fixed, segment)
	}
	if !t.couldFit(segment) {
		return false
	}
	pattern, ok := t.resolve(context)
	return ok && matchGlob(pattern, segment)
}
