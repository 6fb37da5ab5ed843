package workload

import "strings"

// expand replaces $(NAME) by the variable's value, as Kubernetes does in
// environment values, commands and arguments: a reference to an unknown
// variable stays as it is, and $$ stands for one dollar sign, so that $$(NAME)
// is the text $(NAME).
func expand(value string, lookup func(string) (string, bool)) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(value, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			value = after[1:]
		case strings.HasPrefix(after, "("):
			name, rest, closed := strings.Cut(after[1:], ")")
			if !closed { // no end: the rest is text, but may hold references
				out.WriteString("$(")
				value = after[1:]
				continue
			}
			if found, ok := lookup(name); ok {
				out.WriteString(found)
			} else {
				out.WriteString("$(" + name + ")")
			}
			value = rest
		default:
			out.WriteByte('$')
			value = after
		}
	}
}
