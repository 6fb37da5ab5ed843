package operators

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// harmless are streams to which nothing is written that controls a terminal or turns the direction
// of writing, whatever a catalogue has in it.
func harmless(streams command.Streams) command.Streams {
	streams.Out, streams.Err = harmlessWriter(streams.Out), harmlessWriter(streams.Err)
	return streams
}

// harmlessWriter stays behind a command.PluginWriter, so that command.Raw still finds it.
func harmlessWriter(to io.Writer) io.Writer {
	if plugin, ok := to.(command.PluginWriter); ok {
		return command.PluginWriter{To: harmlessWriter(plugin.To)}
	}
	return guard{to}
}

// guard is a writer of whole texts: no rune is cut in two.
type guard struct{ to io.Writer }

// Write implements io.Writer.
func (g guard) Write(text []byte) (int, error) {
	if _, err := io.WriteString(g.to, strings.Map(shown, string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// shown is a character that a terminal only shows, or the end of a line, or a tab.
func shown(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
		return r
	}
	return unicode.ReplacementChar
}

// escaped is a document of which the JSON has no characters but those that are shown. Its meaning
// is that of the document.
type escaped struct{ document any }

// MarshalJSON implements json.Marshaler.
func (e escaped) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e.document); err != nil {
		return nil, err
	}
	var escaped strings.Builder
	for _, r := range out.String() {
		switch {
		case r == '\n' || unicode.IsGraphic(r):
			escaped.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&escaped, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&escaped, `\u%04x`, r)
		}
	}
	return []byte(escaped.String()), nil
}

// lines are texts of which each is one line, whatever it has in it.
type lines struct{ strings.Builder }

func (l *lines) say(format string, args ...any) {
	l.WriteString(command.Plain(fmt.Sprintf(format, args...)) + "\n")
}

// sayOn writes one line to a stream. With the stream gone there is nobody to tell.
func sayOn(to io.Writer, format string, args ...any) {
	_, _ = io.WriteString(to, command.Plain(fmt.Sprintf(format, args...))+"\n")
}
