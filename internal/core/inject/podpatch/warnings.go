package podpatch

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of the warnings of one answer. Kubernetes: a warning should have at
// most 120 characters, is cut by some clients at 256, and all those of a request
// have at most 4096, other webhooks' included.
const (
	maxWarnings = 8
	maxWarning  = 240
)

// Warnings are sentences for the person who creates a pod, one line each.
type Warnings []string

// Add adds one. Values that others have written must be quoted by the format.
// One that is too long is cut; when there are too many, the last one says so.
func (w *Warnings) Add(format string, values ...any) {
	if len(*w) == maxWarnings {
		(*w)[maxWarnings-1] = "and more of the kind; correct these first"
		return
	}
	text := fmt.Sprintf(format, values...)
	if len(text) > maxWarning {
		cut := maxWarning - len("…")
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = strings.ToValidUTF8(text[:cut], "") + "…"
	}
	*w = append(*w, text)
}
