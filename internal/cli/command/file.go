package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// File is a file or a folder that a flag or an argument names.
type File struct {
	// By is the flag or the argument, such as -f or FILE.
	By string
	// Path is its value; where a command opens a file, - is the standard input.
	Path string
	// Expected says what should be there, such as "CredentialsRequests in YAML or JSON".
	Expected string
}

// Open opens the file. Errors are those of Refuse.
func (f File) Open(in io.Reader) (io.ReadCloser, error) {
	if f.Path == "-" {
		return io.NopCloser(in), nil
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, f.Refuse(err)
	}
	if about, err := file.Stat(); err == nil && about.IsDir() {
		_ = file.Close() // it was only read
		return nil, f.Refuse(&fs.PathError{Op: "read", Path: f.Path, Err: syscall.EISDIR})
	}
	return file, nil
}

// Read reads the file. Errors are those of Refuse; one that has nothing in it is refused.
func (f File) Read(in io.Reader) ([]byte, error) {
	file, err := f.Open(in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(file)
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = errEmpty
	}
	if err != nil {
		return nil, f.Refuse(err)
	}
	return text, nil
}

var errEmpty = errors.New("it is empty")

// Refuse says why the file cannot be used: the flag, what was seen and what was expected. err
// is of the file system or about the content, and is what the result wraps.
func (f File) Refuse(err error) error {
	if _, said := errors.AsType[*refusal](err); said {
		return err
	}
	text := fmt.Sprintf("%s is %q: %s", f.By, f.Path, Cause(err))
	if f.Expected != "" {
		text += "; expected " + f.Expected
	}
	return usage.Wrong(&refusal{text: text, err: err})
}

// refusal has a text of its own, without those of the errors that it wraps.
type refusal struct {
	text string
	err  error
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.err }

// Cause is an error of the file system, or of the decoders of YAML and JSON, in words for
// people: without the name of the call that failed, and without Go's types.
func Cause(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		return "you have no permission to use it"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of its path is a file, not a folder"
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder, not a file"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := "it"
		if mismatch.Field != "" {
			what = mismatch.Field
		}
		return fmt.Sprintf("%s is %s, not %s", what, seenAs(mismatch.Value), nameOf(mismatch.Type))
	}
	text := decoders.Replace(err.Error())
	if seen := notAnObject().FindStringSubmatch(text); seen != nil {
		return "it is " + seenAs(seen[1]) + ", not an object"
	}
	return otherKind().ReplaceAllString(text, `it has apiVersion "$2" and kind "$1"`)
}

// What libraries say that do not wrap the error of the decoder.
var (
	notAnObject = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)(?:couldn't get version/kind; json parse error: )?cannot unmarshal (\w+) into Go value of type .*`)
	})
	otherKind = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`no kind "([^"]*)" is registered for version "([^"]*)" in scheme "[^"]*"`)
	})
)

// decoders are what the libraries put before the text that says something.
var decoders = strings.NewReplacer("error converting YAML to JSON: ", "", "error unmarshaling JSON: ", "", "while decoding JSON: ", "", "json: ", "", "yaml: ", "")

// seenAs is the type of a value that was read, as people call it.
func seenAs(value string) string {
	switch value, _, _ := strings.Cut(value, " "); value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	default:
		return "a " + value
	}
}

// nameOf is the type of a value as the field's standard calls it.
func nameOf(of reflect.Type) string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map, reflect.Interface:
		return "an object"
	default:
		return "a number"
	}
}
