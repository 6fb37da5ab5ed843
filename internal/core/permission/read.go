package permission

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// Bounds of what is read. Beyond them the rest is left out, which is a finding.
const (
	// maxAnnotation is what the API server takes as all annotations of an object, in bytes.
	maxAnnotation = 256 << 10
	// maxDocuments is the size of one file, in bytes.
	maxDocuments = 1 << 20
	// maxRequests, maxStatements and maxAtoms are those of one Set. A role's policies hold fewer.
	maxRequests   = 100
	maxStatements = 1000
	maxAtoms      = 2000
	// maxValues is the number of names, audiences and the like of one request.
	maxValues   = 100
	maxFindings = 100
	// maxAction and maxText are lengths in bytes: AWS's resources have at most 2,048.
	maxAction, maxText = 256, 2048
)

// ReadAnnotations reads what a CSV declares by Annotation. A CSV without the annotation says
// nothing; one whose annotation cannot be read does not either, and has findings. ref names the
// CSV for people.
func ReadAnnotations(subject Subject, ref string, annotations map[string]string) Set {
	value, declared := annotations[Annotation]
	if !declared {
		return Nothing(subject)
	}
	r := newReader(subject, Source{Kind: SourceAnnotation, Ref: ref})
	if len(value) > maxAnnotation {
		r.find(CodeTooLong, "", "the annotation has %d bytes, expected at most %d", len(value), maxAnnotation)
		return r.done()
	}
	switch list, err := listOf([]byte(value)); {
	case err != nil:
		r.find(CodeInvalidJSON, "", "the annotation %s is no JSON list of CredentialsRequests: %s", Annotation, clean(err.Error()))
	default:
		r.answered = true
		r.list("", list)
	}
	return r.done()
}

// listOf reads a JSON list, which may be empty and is not null.
func listOf(text []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, errors.New("it is null, expected a list: [] declares that nothing is asked for")
	}
	return list, nil
}

// File is a file of YAML documents or JSON.
type File struct {
	Name string
	Text []byte
}

// ReadFiles reads CredentialsRequests, Lists of them and plain lists from documents. Documents of
// other kinds are left out with a finding. Files without any request say nothing, unless one
// holds an empty list. ref names the files for people.
func ReadFiles(subject Subject, kind SourceKind, ref string, files []File) Set {
	r := newReader(subject, Source{Kind: kind, Ref: ref})
	for _, file := range files {
		if !r.full {
			r.file(file)
		}
	}
	if !r.answered && len(r.set.Findings) == 0 {
		r.find(CodeNoRequests, "", "there is no CredentialsRequest, expected one at least, or an empty list to declare that nothing is asked for")
	}
	return r.done()
}

// file reads the documents of one file.
func (r *reader) file(file File) {
	name := clean(file.Name)
	if len(file.Text) > maxDocuments {
		r.lose(CodeTooLong, name, "the file has %d bytes, expected at most %d", len(file.Text), maxDocuments)
		return
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file.Text)))
	for number := 1; ; number++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		path := fmt.Sprintf("%s document %d", name, number)
		if err == nil && hasAliases(text) {
			err = errors.New("it has anchors and aliases, which can make it as long as one likes: write out what they stand for")
		}
		if err == nil {
			text, err = yaml.ToJSON(text)
		}
		switch {
		case err != nil:
			r.lose(CodeInvalidYAML, path, "the document cannot be read: %s", clean(err.Error()))
		case len(bytes.TrimSpace(text)) > 0 && string(bytes.TrimSpace(text)) != "null":
			r.document(path, bytes.TrimSpace(text))
		}
		if r.full || len(r.set.Findings) > maxFindings {
			r.set.Incomplete = true
			return
		}
	}
}

// anchor and alias are what begins like those of YAML. In JSON neither stands at such a place.
var (
	anchor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[\s\[{,:?-])&[^\s]`) })
	alias  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[\s\[{,:?-])\*[^\s]`) })
)

// hasAliases says that a document may repeat parts of itself.
func hasAliases(text []byte) bool { return anchor().Match(text) && alias().Match(text) }

// document reads one document, in JSON.
func (r *reader) document(path string, text []byte) {
	if text[0] == '[' {
		list, err := listOf(text)
		if err != nil {
			r.lose(CodeInvalidJSON, path, "the list cannot be read: %s", clean(err.Error()))
			return
		}
		r.answered = true
		r.list(path+" ", list)
		return
	}
	var head struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		r.lose(CodeInvalidRequest, path, "the document cannot be read: %s", clean(err.Error()))
		return
	}
	switch {
	case strings.HasSuffix(head.Kind, "List") && head.Items != nil:
		r.answered = true
		r.list(path+" items", head.Items)
	case head.Kind != requestKind:
		r.find(CodeWrongKind, path, "the document is of kind %.100q, expected %s: it is left out", head.Kind, requestKind)
	case !r.isFull(path):
		r.answered = true
		r.request(path+" ", text)
	}
}

// isFull says that no more requests are read, of which the path names the first.
func (r *reader) isFull(path string) bool {
	if len(r.requests) < maxRequests && len(r.set.Findings) <= maxFindings {
		return false
	}
	if !r.full {
		r.lose(CodeTooMany, path, "there are more than %d requests, or too many findings: the rest is left out", maxRequests)
	}
	r.full = true
	return true
}

// list reads requests. The path ends where the index follows.
func (r *reader) list(path string, list []json.RawMessage) {
	for i, one := range list {
		if r.isFull(path + index(i)) {
			return
		}
		r.request(path+index(i)+".", one)
	}
}

// reader collects a Set.
type reader struct {
	subject  Subject
	set      Set
	requests []Request
	// answered says that the source says something, be it that nothing is asked for.
	answered bool
	// full says that requests were left out.
	full              bool
	statements, atoms int
}

func newReader(subject Subject, source Source) *reader {
	return &reader{subject: subject, set: subject.set(source), requests: []Request{}}
}

// find adds a finding.
func (r *reader) find(code Code, path, format string, args ...any) {
	switch {
	case len(r.set.Findings) < maxFindings:
		r.set.Findings = append(r.set.Findings, Finding{code, path, fmt.Sprintf(format, args...)})
	case len(r.set.Findings) == maxFindings:
		r.set.Findings = append(r.set.Findings, Finding{CodeTooMany, "", fmt.Sprintf("there are more than %d findings: mend these first", maxFindings)})
	}
}

// lose adds a finding of something that is left out of the Set.
func (r *reader) lose(code Code, path, format string, args ...any) {
	r.set.Incomplete = true
	r.find(code, path, format, args...)
}

// done is what was read. Where all that was said is left out, nothing is known.
func (r *reader) done() Set {
	if !r.answered || r.set.Incomplete && len(r.requests) == 0 {
		return r.set
	}
	if r.set.Source.Kind == SourceManifests && len(r.requests) > 0 {
		r.find(CodeBundleUninstallable, "", "OLM installs no bundle with a %s among its manifests: move it to the CSV's annotation %s", requestKind, Annotation)
	}
	if set := r.set.with(r.requests); r.subject.Cloud != "" {
		return set.ForCloud(r.subject.Cloud)
	}
	return r.set.with(r.requests)
}

// index is [i].
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// isPlain says that a text has characters only that a terminal shows as what they are.
func isPlain(text string) bool {
	return len(text) <= maxText && !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) || c == unicode.ReplacementChar })
}

// clean is a text for a message: short, and without characters that a terminal acts on.
func clean(text string) string {
	const most = 200
	text = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
