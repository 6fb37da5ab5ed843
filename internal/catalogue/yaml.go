package catalogue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// mostMarks bounds the nodes of a YAML document before it is parsed: a node takes 200
	// bytes and more, so two bytes of text each would become gigabytes. A bundle has some
	// thousands. Base64 has none of these characters.
	mostMarks = 1 << 18
	// mostSteps bounds the work with aliases, which can name each other.
	mostSteps = 1 << 20
)

// nextYAML is the next document of a YAML stream, as JSON. In YAML the lines "---" and "..." end
// a document wherever they are, even in a text: so a broken one hides nothing after it.
func (d *documents) nextYAML() ([]byte, error) {
	for {
		piece, tooLarge, err := d.piece()
		switch {
		case err != nil:
			return nil, err
		case tooLarge:
			d.number++
			return nil, errTooLarge
		case blank(piece):
			continue
		}
		d.number++
		d.yaml += int64(len(piece))
		if trimmed := bytes.TrimSpace(piece); trimmed[0] == '{' && json.Valid(trimmed) {
			return trimmed, nil
		}
		return jsonOf(piece)
	}
}

// piece is the text up to the next line that ends a document.
func (d *documents) piece() (text []byte, tooLarge bool, err error) {
	d.buffer = append(d.buffer[:0], d.pending...)
	d.pending = d.pending[:0]
	for {
		start := len(d.buffer)
		over, err := d.appendLine()
		switch {
		case atEnd(err) && len(d.buffer) == 0 && !tooLarge:
			return nil, false, err
		case atEnd(err):
			return d.buffer, tooLarge, nil
		case err != nil:
			return nil, false, err
		}
		line := d.buffer[start:]
		if rest, ok := marker(line); ok {
			d.pending = append(d.pending, rest...)
			return d.buffer[:start], tooLarge, nil
		}
		if tooLarge = tooLarge || over; tooLarge {
			d.buffer = d.buffer[:0]
		}
	}
}

// appendLine adds a line to the buffer. It says whether the buffer would become too large; then
// only the beginning of the line is there.
func (d *documents) appendLine() (over bool, err error) {
	begun := false
	for {
		text, err := d.chunk()
		if err != nil {
			if atEnd(err) && begun {
				return over, nil
			}
			return over, err
		}
		begun = true
		n := bytes.IndexByte(text, '\n') + 1
		ended := n > 0
		if !ended {
			n = len(text)
		}
		if len(d.buffer)+n > largest {
			over = true
		} else {
			d.buffer = append(d.buffer, text[:n]...)
		}
		d.take(n)
		if ended {
			return over, nil
		}
	}
}

// marker says whether a line ends a document, and returns what begins the next one.
func marker(line []byte) ([]byte, bool) {
	if len(line) > 3 && !bytes.ContainsRune([]byte(" \t\r\n"), rune(line[3])) {
		return nil, false
	}
	if bytes.HasPrefix(line, []byte("---")) {
		return line[3:], true
	}
	return nil, bytes.HasPrefix(line, []byte("..."))
}

// blank says that a piece has comments and directives only.
func blank(piece []byte) bool {
	for line := range bytes.Lines(piece) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// jsonOf is one YAML document as JSON.
func jsonOf(piece []byte) ([]byte, error) {
	marks := 0
	for _, c := range piece {
		switch c {
		// The last three end the line breaks that only Unicode has.
		case ',', '\n', '\r', ':', '[', '{', '-', '?', 0x85, 0xa8, 0xa9:
			marks++
		}
	}
	if marks > mostMarks {
		return nil, &broken{tooLarge: true, message: fmt.Sprintf(
			"the YAML document may have %d values, expected %d at most; write it as JSON to have it read", marks, mostMarks)}
	}
	var node yaml.Node
	if err := yaml.Unmarshal(piece, &node); err != nil {
		return nil, brokenf("the document is no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if node.Kind != yaml.DocumentNode || len(node.Content) != 1 {
		return nil, brokenf("the YAML document is empty")
	}
	var c converter
	if err := c.value(node.Content[0], 0); err != nil {
		return nil, err
	}
	return c.out.Bytes(), nil
}

// converter writes YAML as JSON. Aliases become what they stand for, within bounds.
type converter struct {
	out   bytes.Buffer
	steps int
}

func (c *converter) step(depth int) error {
	c.steps++
	switch {
	case depth > deepest:
		return brokenf("the document is deeper than %d values, or one of its aliases is within what it stands for", deepest)
	case c.steps > mostSteps || c.out.Len() > largest:
		return &broken{tooLarge: true, message: fmt.Sprintf("with its aliases the YAML document has more than %d values or %d MiB", mostSteps, largest>>20)}
	}
	return nil
}

func (c *converter) value(node *yaml.Node, depth int) error {
	if err := c.step(depth); err != nil {
		return err
	}
	switch node.Kind {
	case yaml.AliasNode:
		return c.value(node.Alias, depth+1)
	case yaml.MappingNode:
		return c.mapping(node, depth)
	case yaml.SequenceNode:
		c.out.WriteByte('[')
		for i, item := range node.Content {
			if i > 0 {
				c.out.WriteByte(',')
			}
			if err := c.value(item, depth+1); err != nil {
				return err
			}
		}
		c.out.WriteByte(']')
		return nil
	}
	return c.scalar(node)
}

func (c *converter) scalar(node *yaml.Node) error {
	switch tag := node.ShortTag(); {
	case tag == "!!null":
		c.out.WriteString("null")
		return nil
	case tag == "!!bool":
		c.out.WriteString(map[bool]string{true: "true", false: "false"}[strings.EqualFold(node.Value, "true")])
		return nil
	case (tag == "!!int" || tag == "!!float") && json.Valid([]byte(node.Value)):
		c.out.WriteString(node.Value)
		return nil
	}
	return c.text(node.Value)
}

func (c *converter) text(value string) error {
	encoder := json.NewEncoder(&c.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

func (c *converter) mapping(node *yaml.Node, depth int) error {
	pairs, err := c.pairs(node, map[string]bool{}, false, depth)
	if err != nil {
		return err
	}
	c.out.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			c.out.WriteByte(',')
		}
		if err := c.text(pairs[i].Value); err != nil {
			return err
		}
		c.out.WriteByte(':')
		if err := c.value(pairs[i+1], depth+1); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

// pairs are keys and values of a mapping. Those that "<<" merges come behind the mapping's own,
// which win. A key that stands twice in one mapping comes twice, for the reader to refuse.
func (c *converter) pairs(node *yaml.Node, seen map[string]bool, merged bool, depth int) ([]*yaml.Node, error) {
	var pairs, merges []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if err := c.step(depth); err != nil {
			return nil, err
		}
		for hops := 0; key.Kind == yaml.AliasNode && hops < deepest; hops++ {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, brokenf("a key in line %d is no text", key.Line)
		case key.ShortTag() == "!!merge":
			merges = append(merges, value)
		case !merged || !seen[key.Value]:
			pairs = append(pairs, key, value)
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		seen[pairs[i].Value] = true
	}
	for _, value := range merges {
		more, err := c.merge(value, seen, depth+1)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	return pairs, nil
}

// merge are the pairs of one value of "<<": a mapping, or a list of them.
func (c *converter) merge(value *yaml.Node, seen map[string]bool, depth int) ([]*yaml.Node, error) {
	if err := c.step(depth); err != nil {
		return nil, err
	}
	switch value.Kind {
	case yaml.AliasNode:
		return c.merge(value.Alias, seen, depth+1)
	case yaml.MappingNode:
		return c.pairs(value, seen, true, depth)
	case yaml.SequenceNode:
		var pairs []*yaml.Node
		for _, item := range value.Content {
			more, err := c.merge(item, seen, depth+1)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, more...)
		}
		return pairs, nil
	}
	return nil, brokenf(`the value of "<<" in line %d is no mapping`, value.Line)
}
