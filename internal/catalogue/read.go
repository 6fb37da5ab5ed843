// Package catalogue reads catalogues of operators into the model of core/catalogue. It takes
// what strangers wrote: memory is bounded by one document, a broken document is a finding that
// hides no other, and nothing outside of what was named is opened. Its functions may be used by
// several goroutines at once.
package catalogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/tabard-dev/tabard/internal/core/line"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// slowFrom is after how much YAML Reader.Slow is called.
const slowFrom = 1 << 20

// Reader reads file-based catalogues.
type Reader struct {
	// Stdin is what the path "-" stands for.
	Stdin io.Reader
	// Slow is called once when more than a MiB of YAML was read, with the name of the file: YAML
	// takes several times as long as JSON, and a person should hear so. It may be nil.
	Slow func(file string)
	// Source is where the packages are from. It is zero for files.
	Source model.Source
}

// Read reads a file, a directory with all below it, or "-". The error is that of what was named
// itself, or of a catalogue beyond all bounds; anything wrong in it is a finding.
func (r Reader) Read(ctx context.Context, name string) (model.Catalogue, error) {
	return r.all(ctx, func(work *work) error { return r.read(work, name) })
}

// Stream reads what comes by another way than a file; findings call it by the name. An error of
// in is the error of Stream: what is missing would look as if it were not there. It may be used
// by several goroutines at once, each with its own stream.
func (r Reader) Stream(ctx context.Context, name string, in io.Reader) (model.Catalogue, error) {
	return r.all(ctx, func(work *work) error { return work.stream(name, in) })
}

func (r Reader) all(ctx context.Context, read func(*work) error) (model.Catalogue, error) {
	work := &work{ctx: ctx, slow: r.Slow, source: r.Source}
	work.assembler.builder.From(r.Source)
	if err := read(work); err != nil {
		return model.Catalogue{}, fmt.Errorf("read the catalogue: %w", err)
	}
	return work.assembler.builder.Build(), nil
}

func (r Reader) read(work *work, name string) error {
	if name == "-" {
		return work.stream("-", r.Stdin)
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return work.directory(name)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // It was only read.
	return work.stream(name, file)
}

// Tree is a directory of a catalogue that is not on a disk of its own, as one of an image.
type Tree struct {
	// Files are the directory with all below it, as a ReadLinkFS. Stat of a symbolic link that
	// leads out of the directory is an error.
	Files fs.FS
	// Name is what Files are called in findings.
	Name string
	// Findings are what was wrong before.
	Findings []model.Finding
}

// ReadTree reads a tree as Read does a directory.
func (r Reader) ReadTree(ctx context.Context, tree Tree) (model.Catalogue, error) {
	work := &work{ctx: ctx, slow: r.Slow}
	work.assembler.builder.Find(tree.Findings...)
	if err := work.tree(tree.Files, tree.Name); err != nil {
		return model.Catalogue{}, err
	}
	return work.assembler.builder.Build(), nil
}

// work is the reading of one catalogue.
type work struct {
	ctx       context.Context
	slow      func(file string)
	source    model.Source
	yaml      int64
	assembler assembler
}

func (w *work) find(code model.Code, where model.Where, message string) {
	w.assembler.builder.Find(model.Finding{Code: code, Where: where, Message: message})
}

// stream reads all documents of a file.
func (w *work) stream(name string, in io.Reader) error {
	documents := newDocuments(in)
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		document, err := documents.next()
		where := model.Where{File: name, Source: w.source, Document: documents.number}
		var why *broken
		switch {
		case atEnd(err):
			return nil
		case errors.As(err, &why):
			code := model.DocumentBroken
			if why.tooLarge {
				code = model.DocumentTooLarge
			}
			w.find(code, where, line.Of(why.message))
		case err != nil:
			return fmt.Errorf("%s: %w", model.Quoted(name), err)
		default:
			if err := w.assembler.add(document, where); err != nil {
				return err
			}
		}
		w.saySlow(name, documents)
	}
}

func (w *work) saySlow(name string, documents *documents) {
	w.yaml += documents.yaml
	documents.yaml = 0
	if w.yaml > slowFrom && w.slow != nil {
		w.slow(name)
		w.slow = nil
	}
}

func (w *work) directory(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // It was only read.
	return w.tree(root.FS(), name)
}

// tree reads a directory. Symbolic links are not followed: what one of them names inside the
// directory is read at its own place.
func (w *work) tree(root fs.FS, name string) error {
	pruned := ignores{}
	return fs.WalkDir(root, ".", func(at string, entry fs.DirEntry, err error) error {
		where := model.Where{File: path.Join(name, at)}
		switch {
		case err != nil && at == ".":
			return err
		case err != nil:
			w.find(model.FileNotRead, where, line.Of(err.Error()))
			return nil
		case at != "." && pruned.ignored(at, entry.IsDir()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			pruned[at] = w.ignoring(root, at, name)
			return nil
		case path.Base(at) == ignoreName:
			return nil
		case entry.Type() == fs.ModeSymlink:
			w.link(root, at, where)
			return nil
		case !entry.Type().IsRegular():
			w.find(model.FileNotRead, where, "it is no regular file, which is all that is read of a directory")
			return nil
		}
		return w.file(root, at, where.File)
	})
}

// link names a link that leads out of the directory, or nowhere.
func (w *work) link(root fs.FS, at string, where model.Where) {
	if _, err := fs.Stat(root, at); err != nil {
		w.find(model.FileNotRead, where, "it is a symbolic link that leads out of the directory or nowhere; it was not followed")
	}
}

func (w *work) file(root fs.FS, at, name string) error {
	file, err := root.Open(at)
	if err != nil {
		w.find(model.FileNotRead, model.Where{File: name}, line.Of(err.Error()))
		return nil
	}
	defer func() { _ = file.Close() }() // It was only read.
	err = w.stream(name, file)
	if err == nil || errors.Is(err, errKept) || w.ctx.Err() != nil {
		return err
	}
	w.find(model.FileNotRead, model.Where{File: name}, "the file could be read in part only: "+line.Of(err.Error()))
	return nil
}

// ignoring reads the .indexignore of a directory, if it has one.
func (w *work) ignoring(root fs.FS, dir, name string) ignoring {
	const most = 1 << 20
	at := path.Join(dir, ignoreName)
	where := model.Where{File: path.Join(name, at)}
	info, err := fs.Lstat(root, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	var text []byte
	if err == nil && info.Size() > most {
		err = fmt.Errorf("it has %d bytes, expected %d at most", info.Size(), most)
	}
	if err == nil {
		text, err = fs.ReadFile(root, at)
	}
	if err != nil {
		w.find(model.FileNotRead, where, line.Of(err.Error())+"; it prunes nothing")
		return nil
	}
	rules, wrong := parseIgnore(string(text))
	for _, pattern := range wrong {
		w.find(model.FileNotRead, where, wrongPattern(pattern))
	}
	return rules
}
