package command

import (
	"io"
	"regexp"
	"sync"
)

// Plugin is how people call the program where it is a plugin of kubectl.
const Plugin = "kubectl tabard"

// named finds the program's commands in texts. In a path, a file's name or a word with a
// hyphen the program is not called.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w./-])(?:kubectl )?tabard ((?:--help|--version|awslocal|capacity|completion|console|credentials|decode|eks|explain|help|hub|issuer|lab|migrate|ocm-webhook|operators?|policy|ready|selector|version|webhook)\b)`)
})

// AsPlugin names the commands in a text as people type them where the program is a plugin.
func AsPlugin(text string) string { return named().ReplaceAllString(text, "${1}"+Plugin+" ${2}") }

// PluginWriter does so with what is written, a text at a time.
type PluginWriter struct{ To io.Writer }

// Write implements io.Writer.
func (w PluginWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.To, AsPlugin(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Raw is the stream behind a PluginWriter, for what is data and for other programs.
func Raw(to io.Writer) io.Writer {
	if w, ok := to.(PluginWriter); ok {
		return w.To
	}
	return to
}
