package image

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// dockerName is the file of a docker-archive that names its images.
const dockerName = "manifest.json"

// Archive reads a tar of an OCI image layout, or a docker-archive as `docker save` and `podman
// save` write it. Either may be compressed by gzip or zstd. Errors are as those of Layout.
func (r Reader) Archive(ctx context.Context, name string) (model.Catalogue, error) {
	return r.read(ctx, "archive", name, func(w *reading) (picture, error) {
		found, err := os.Open(name)
		if err != nil {
			return picture{}, err
		}
		w.disk.closers = append(w.disk.closers, found)
		in, err := w.archive(found)
		if err != nil {
			return picture{}, err
		}
		if _, ok := in.members[indexName]; ok {
			return w.layout(in)
		}
		return w.docker(in)
	})
}

// archive is a tar with the places of its files.
type archive struct {
	in      io.ReaderAt
	members map[string]member
}

// member is a file of an archive, or a link to one.
type member struct {
	part part
	link string
}

// archive looks where the files of an archive are. One that is compressed or no file is copied
// into a temporary file before.
func (w *reading) archive(found *os.File) (*archive, error) {
	info, err := found.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("it is a directory, expected a file; an OCI image layout is read with --catalogue oci:DIR")
	}
	plain, err := w.plain(found)
	if err != nil {
		return nil, err
	}
	section, ok := plain.(*io.SectionReader)
	if !ok {
		copied, err := w.disk.file()
		if err != nil {
			return nil, err
		}
		if _, err := copied.add(&counted{w: w, in: plain}); err != nil {
			return nil, err
		}
		if err := copied.flush(); err != nil {
			return nil, err
		}
		section = io.NewSectionReader(copied, 0, copied.end)
	}
	made := &archive{in: section, members: map[string]member{}}
	return made, w.index(made, section)
}

// plain is the tar: a section of the file if it is one.
func (w *reading) plain(found *os.File) (io.Reader, error) {
	info, err := found.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return decompressed(found)
	}
	section := io.NewSectionReader(found, 0, info.Size())
	in, compressed, err := decompressor(section)
	if err != nil || compressed {
		return in, err
	}
	_, err = section.Seek(0, io.SeekStart)
	return section, err
}

// index remembers where the entries are.
func (w *reading) index(made *archive, section *io.SectionReader) error {
	return w.each(section, func(header *tar.Header, _ io.Reader) error {
		name, err := inside(header.Name)
		if err != nil {
			return fmt.Errorf("the entry %s of the archive: %w", model.Quoted(header.Name), err)
		}
		if sparse(header) {
			return fmt.Errorf("the entry %s of the archive is a sparse file, expected a plain one", model.Quoted(header.Name))
		}
		var at member
		switch header.Typeflag {
		case tar.TypeReg:
			at.part.size = header.Size
			// The reader of tars does not read ahead.
			if at.part.offset, err = section.Seek(0, io.SeekCurrent); err != nil {
				return err
			}
		case tar.TypeSymlink:
			// docker save writes a layer once and links to it.
			at.link = path.Join("/", path.Dir(name), header.Linkname)[1:]
		case tar.TypeLink:
			at.link = path.Join("/", header.Linkname)[1:]
		default:
			return nil
		}
		made.members[name] = at
		return w.keep(len(name) + len(at.link))
	})
}

func (a *archive) open(name string) (io.ReadCloser, int64, error) {
	at := name
	for range mostLinks {
		found, ok := a.members[at]
		if !ok {
			return nil, 0, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		if found.link == "" {
			return io.NopCloser(io.NewSectionReader(a.in, found.part.offset, found.part.size)), found.part.size, nil
		}
		at = found.link
	}
	return nil, 0, fmt.Errorf("%s is a link that leads to itself", model.Quoted(name))
}

// docker finds the image of a docker-archive. Its layers have no digest of their own: what they
// contain is compared with what the config says.
func (w *reading) docker(in *archive) (picture, error) {
	text, err := w.whole(in, dockerName)
	if errors.Is(err, fs.ErrNotExist) {
		return picture{}, fmt.Errorf("it has neither %s nor %s, expected an archive that `skopeo copy`, `docker save` or `podman save` wrote", indexName, dockerName)
	}
	if err != nil {
		return picture{}, err
	}
	var images []struct {
		Config   string   `json:"Config"`
		RepoTags []string `json:"RepoTags"`
		Layers   []string `json:"Layers"`
	}
	if err := json.Unmarshal(text, &images); err != nil {
		return picture{}, fmt.Errorf("%s cannot be read: %w", dockerName, err)
	}
	if len(images) != 1 {
		var names []string
		for _, image := range images {
			names = append(names, append(image.RepoTags, image.Config)[0])
		}
		return picture{}, several(names)
	}
	image := images[0]
	if text, err = w.whole(in, path.Clean(image.Config)); err != nil {
		return picture{}, fmt.Errorf("the config of the image: %w", err)
	}
	labels, contents, err := config(text)
	if err != nil {
		return picture{}, err
	}
	if len(contents) != len(image.Layers) {
		return picture{}, fmt.Errorf("the config of the image has digests of %d layers, and %s names %d layers, expected as many", len(contents), dockerName, len(image.Layers))
	}
	made := picture{labels: labels}
	for i, name := range image.Layers {
		opened, size, err := in.open(path.Clean(name))
		if err != nil {
			return picture{}, fmt.Errorf("layer %d: %w", i+1, err)
		}
		made.layers = append(made.layers, layer{
			open: func() (io.ReadCloser, error) { return opened, nil }, size: size, content: contents[i],
		})
	}
	return made, nil
}
