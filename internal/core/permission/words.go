package permission

import "strings"

// sentence says what changed.
func (c *Change) sentence() string {
	old, added := sentences(c.From), sentences(c.To)
	switch {
	case len(c.FactsFrom)+len(c.FactsTo) > 0:
		return c.factSentence()
	case c.Class == ClassUnknown && len(c.From) > 0:
		return old + "; what the other version asks for is unknown"
	case c.Class == ClassUnknown:
		return added + "; what the other version asks for is unknown"
	case c.Class == ClassAdded:
		return "added: " + added
	case c.Class == ClassRemoved:
		return "removed: " + old
	case c.Class == ClassChanged && c.From[0].Request != c.To[0].Request:
		return "changed: request " + c.To[0].Request + " " + added + ", before request " + c.From[0].Request + " " + old
	default:
		return string(c.Class) + ": " + added + ", before " + old
	}
}

func sentences(atoms []Atom) string {
	var out []string
	for _, atom := range atoms {
		out = append(out, atom.Sentence())
	}
	return strings.Join(out, " and ")
}

// factNouns name the kinds of facts.
var factNouns = map[FactKind]string{
	FactServiceAccount: "ServiceAccount", FactAudience: "audience", FactSecret: "Secret",
	FactTokenPath: "path of the token", FactTokenAuth: "support of tokens",
}

// factSentence says what changed besides permissions, and what follows.
func (c *Change) factSentence() string {
	values := func(facts []Fact) string {
		var out []string
		for _, f := range facts {
			out = append(out, f.Value)
		}
		return strings.Join(out, " and ")
	}
	one := append(append([]Fact{}, c.FactsFrom...), c.FactsTo...)[0]
	out := factNouns[one.Kind]
	if one.Request != "" {
		out += " of request " + one.Request
	}
	switch {
	case len(c.FactsFrom) == 0:
		out += ": " + values(c.FactsTo) + " is new"
	case len(c.FactsTo) == 0:
		out += ": " + values(c.FactsFrom) + " is gone"
	default:
		out += ": " + values(c.FactsTo) + ", before " + values(c.FactsFrom)
	}
	switch c.Class {
	case ClassSubject:
		out += "; the role's trust must change"
	case ClassSupport:
		if len(c.FactsTo) > 0 && c.FactsTo[0].Value == string(NotSupported) || len(c.FactsTo) == 0 {
			out += "; after the upgrade the operator may not use the role"
		}
	case ClassUnknown:
		out += "; what the other version asks for is unknown"
	}
	return out
}

// isAudience says that the change is one of audiences.
func (c *Change) isAudience() bool {
	return len(c.FactsFrom) > 0 && c.FactsFrom[0].Kind == FactAudience || len(c.FactsTo) > 0 && c.FactsTo[0].Kind == FactAudience
}
