package catalogue

import "strings"

// Instructions are the code blocks of an operator's description: what its author tells people to
// type. Nobody has looked at what they do.
type Instructions struct {
	Lines []string
	// More counts the lines that were not kept.
	More int
}

// The bounds of Instructions. Descriptions have up to some thousand bytes.
const (
	mostLines = 100
	mostBytes = 16 << 10
)

// InstructionsOf are the code blocks of a description in Markdown, between fences of three or more
// ` or ~ (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
func InstructionsOf(description string) Instructions {
	var out Instructions
	fence, size := "", 0
	for line := range strings.Lines(description) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(line, " ")
		if fence == "" {
			fence = opening(trimmed)
			continue
		}
		if closing := strings.TrimRight(trimmed, " "); len(closing) >= len(fence) && strings.Trim(closing, fence[:1]) == "" {
			fence = ""
			continue
		}
		if size += len(line); len(out.Lines) == mostLines || size > mostBytes {
			out.More++
			continue
		}
		out.Lines = append(out.Lines, strings.Clone(line))
	}
	return out
}

// opening is the fence with which a line begins a code block; empty if it does not.
func opening(line string) string {
	const least = 3
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if length := len(line) - len(rest); length >= least && (mark == "~" || !strings.Contains(rest, mark)) {
			return line[:length]
		}
	}
	return ""
}
