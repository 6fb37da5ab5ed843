package operators

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tabard-dev/tabard/internal/core/permission"
)

var errCannotEdit = errors.New("the annotation cannot be put into the file without changing more than that; expected metadata as a mapping, and annotations of its own in it, without aliases")

// annotated is a document with the annotation. The lines of the document stay as they are where
// that is possible; else comments and the order of keys stay. The result is read again: it says
// what the document said, and the annotation, or it is an error.
func annotated(text []byte, value string, decode func([]byte) ([]byte, error)) ([]byte, error) {
	want, err := wanted(text, value, decode)
	if err != nil {
		return nil, err
	}
	edits := []func([]byte, string) []byte{annotatedLines, annotatedNodes}
	if json.Valid(text) {
		edits = []func([]byte, string) []byte{annotatedJSON}
	}
	for _, edit := range edits {
		out := edit(text, value)
		if got, err := fieldsOf(out, decode); out != nil && err == nil && reflect.DeepEqual(got, want) {
			return out, nil
		}
	}
	return nil, errCannotEdit
}

func fieldsOf(text []byte, decode func([]byte) ([]byte, error)) (map[string]any, error) {
	document, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	return out, decoder.Decode(&out)
}

// wanted is what a document is to say.
func wanted(text []byte, value string, decode func([]byte) ([]byte, error)) (map[string]any, error) {
	document, err := fieldsOf(text, decode)
	if err != nil {
		return nil, err
	}
	metadata, ok := document["metadata"].(map[string]any)
	if !ok {
		return nil, errCannotEdit
	}
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		if metadata["annotations"] != nil {
			return nil, errCannotEdit
		}
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[permission.Annotation] = value
	return document, nil
}

// child is the key of a mapping with its value.
func child(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// annotatedLines writes one line into a document in block style, or in the place of those that
// the annotation has. It is nil where that cannot be.
func annotatedLines(text []byte, value string) []byte {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) != 1 {
		return nil
	}
	metadataKey, metadata := child(document.Content[0], "metadata")
	annotationsKey, annotations := child(metadata, "annotations")
	lines := strings.SplitAfter(string(text), "\n")
	end := "\n"
	if strings.Contains(lines[0], "\r\n") || len(lines) > 1 && strings.Contains(lines[1], "\r\n") {
		end = "\r\n"
	}
	entry := func(column int) string {
		return strings.Repeat(" ", column-1) + permission.Annotation + ": '" + strings.ReplaceAll(value, "'", "''") + "'" + end
	}
	insert := func(from, to int, with string) []byte { // lines from, counted from 0, up to to
		return []byte(strings.Join(lines[:from], "") + with + strings.Join(lines[to:], ""))
	}
	block := func(key, value *yaml.Node) bool {
		return value != nil && value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 && len(value.Content) > 0 && value.Content[0].Line > key.Line
	}
	switch old, _ := child(annotations, permission.Annotation); {
	case old != nil && block(annotationsKey, annotations):
		return insert(old.Line-1, after(lines, old), entry(old.Column))
	case annotationsKey != nil && block(annotationsKey, annotations):
		return insert(annotationsKey.Line, annotationsKey.Line, entry(annotations.Content[0].Column))
	case annotationsKey == nil && metadataKey != nil && block(metadataKey, metadata):
		const indent = 2
		column := metadata.Content[0].Column
		return insert(metadataKey.Line, metadataKey.Line, strings.Repeat(" ", column-1)+"annotations:"+end+entry(column+indent))
	}
	return nil
}

// after is the line after the value of a key, which ends where a line is not deeper than the key.
func after(lines []string, key *yaml.Node) int {
	at := key.Line
	for at < len(lines) {
		row := strings.TrimRight(lines[at], "\r\n")
		if deep := len(row) - len(strings.TrimLeft(row, " ")); row != "" && deep < key.Column && strings.TrimSpace(row) != "" {
			break
		}
		at++
	}
	for at > key.Line && strings.TrimSpace(lines[at-1]) == "" {
		at--
	}
	return at
}

// annotatedNodes writes a document anew, with its comments and the order of its keys.
func annotatedNodes(text []byte, value string) []byte {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) != 1 {
		return nil
	}
	_, metadata := child(document.Content[0], "metadata")
	if metadata == nil || metadata.Kind != yaml.MappingNode {
		return nil
	}
	key, annotations := child(metadata, "annotations")
	switch {
	case key == nil:
		annotations = &yaml.Node{Kind: yaml.MappingNode}
		metadata.Content = append(metadata.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "annotations"}, annotations)
	case annotations.Kind == yaml.ScalarNode:
		*annotations = yaml.Node{Kind: yaml.MappingNode, HeadComment: annotations.HeadComment, LineComment: annotations.LineComment, FootComment: annotations.FootComment}
	case annotations.Kind != yaml.MappingNode:
		return nil
	}
	written := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.SingleQuotedStyle, Value: value}
	if _, old := child(annotations, permission.Annotation); old != nil {
		*old = written
	} else {
		annotations.Content = append(annotations.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: permission.Annotation}, &written)
	}
	var out bytes.Buffer
	if bytes.HasPrefix(text, []byte("\n")) || bytes.HasPrefix(text, []byte("\r\n")) {
		out.WriteByte('\n') // behind the line ---
	}
	encoder := yaml.NewEncoder(&out)
	const indent = 2
	encoder.SetIndent(indent)
	if encoder.Encode(&document) != nil || encoder.Close() != nil {
		return nil
	}
	return out.Bytes()
}
