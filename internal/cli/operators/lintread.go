package operators

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/bundle"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// Bounds of a bundle that is read: in bytes for one file and for all, and in files of a folder.
const (
	largestManifest = 4 << 20
	largestBundle   = 64 << 20
	mostManifests   = 500
)

const (
	metadataFile = "metadata/annotations.yaml"
	// folderKey names the folder of the manifests, and requestsKey that of CredentialsRequests.
	folderKey   = "operators.operatorframework.io.bundle.manifests.v1"
	requestsKey = "operators.tabard.dev/bundle.credentials-requests.v1"
)

// authored is what an author gives: a bundle, a folder of manifests, or a file.
type authored struct {
	bundle.Bundle
	// path is as it was typed, and root the folder below which the files are.
	path, root string
	// whole says that it is a bundle, of which requests can move.
	whole  bool
	decode func([]byte) ([]byte, error)
	size   int
}

// readAuthored reads a bundle directory, a directory of manifests, a file, or the standard input.
// Links that lead out are not followed.
func readAuthored(in io.Reader, at string, decode func([]byte) ([]byte, error)) (*authored, error) {
	a := &authored{path: at, decode: decode}
	a.Fix = "tabard operators annotate --write --requests FILE " + line.Argument(at) + " (FILE is a new file, outside the manifests, to which you move the request)"
	refuse := command.File{By: "BUNDLE|CSV", Path: at, Expected: "a bundle directory with manifests/, a directory of manifests, or a ClusterServiceVersion in YAML or JSON"}.Refuse
	if at == "-" {
		if err := a.one(in, "standard input"); err != nil {
			return nil, refuse(err)
		}
		return a, nil
	}
	info, err := os.Stat(at)
	switch {
	case err != nil:
	case info.IsDir():
		err = a.folder()
	case !info.Mode().IsRegular():
		err = errors.New("it is no regular file")
	default:
		var file *os.File
		if file, err = os.Open(at); err == nil {
			defer func() { _ = file.Close() }() // it was only read
			a.root = filepath.Dir(at)
			err = a.one(file, filepath.Base(at))
		}
	}
	if err != nil {
		return nil, refuse(err)
	}
	return a, nil
}

func (a *authored) one(in io.Reader, name string) error {
	text, err := a.bounded(in)
	if err != nil {
		return err
	}
	a.Manifests = []bundle.File{bundle.ReadFile(name, text, a.decode)}
	if len(a.Manifests[0].Documents) == 0 {
		return errors.New("it is empty")
	}
	return nil
}

func (a *authored) bounded(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, largestManifest+1))
	if a.size += len(text); err == nil && len(text) > largestManifest {
		err = fmt.Errorf("it is larger than %d MiB", largestManifest>>20)
	}
	if err == nil && a.size > largestBundle {
		err = fmt.Errorf("the files before it have more than %d MiB together", largestBundle>>20)
	}
	return text, err
}

func (a *authored) folder() error {
	root, err := os.OpenRoot(a.path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	a.root = a.path
	a.RequestsFolder = "credentials-requests"
	if text, err := a.fileOf(root, metadataFile); err == nil {
		a.Metadata = bundle.ReadFile(metadataFile, text, a.decode)
	} else if !errors.Is(err, fs.ErrNotExist) {
		a.Unread = append(a.Unread, bundle.Unread{Name: metadataFile, Why: command.Cause(err)})
	}
	whole, manifests, err := a.folders(root)
	if err != nil {
		return err
	}
	a.whole = whole
	a.Manifests = a.files(root, manifests)
	if a.whole {
		a.Fix = "tabard operators annotate --write " + line.Argument(a.path)
		a.Requests = a.files(root, a.RequestsFolder)
	} else if base := filepath.Base(a.path); base == "manifests" {
		a.Fix = "tabard operators annotate --write " + line.Argument(filepath.Dir(filepath.Clean(a.path)))
	}
	if len(a.Manifests) == 0 && len(a.Unread) == 0 {
		return fmt.Errorf("there is no file in %s that ends in .yaml, .yml or .json", path.Join(filepath.ToSlash(a.path), manifests))
	}
	return nil
}

// folders are those of the manifests and the requests: what metadata/annotations.yaml says, or
// the usual ones. Neither leads out of the bundle, nor are requests among the manifests.
func (a *authored) folders(root *os.Root) (whole bool, manifests string, err error) {
	named := a.Metadata.Annotations()
	manifests = "manifests"
	for key, into := range map[string]*string{folderKey: &manifests, requestsKey: &a.RequestsFolder} {
		if value := named[key]; value != "" {
			*into = path.Clean(value)
			if !filepath.IsLocal(value) || *into == "." {
				return false, "", fmt.Errorf("%s says %s is %q, expected a folder in the bundle", metadataFile, key, value)
			}
		}
	}
	if a.RequestsFolder == manifests || strings.HasPrefix(a.RequestsFolder, manifests+"/") {
		return false, "", fmt.Errorf("%s says %s is %q, which OLM takes for manifests: expected a folder outside %s", metadataFile, requestsKey, a.RequestsFolder, manifests)
	}
	if info, err := root.Stat(manifests); err == nil && info.IsDir() {
		return true, manifests, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, "", fmt.Errorf("%s: %s", manifests, command.Cause(err))
	}
	return false, ".", nil
}

// files are those of a folder in YAML and JSON. One that cannot be read is in Unread.
func (a *authored) files(root *os.Root, folder string) []bundle.File {
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.Unread = append(a.Unread, bundle.Unread{Name: folder, Why: command.Cause(err)})
		}
		return nil
	}
	var out []bundle.File
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name))) {
			continue
		}
		if len(out) == mostManifests {
			a.Unread = append(a.Unread, bundle.Unread{Name: folder, Why: fmt.Sprintf("it has more than %d files in YAML or JSON", mostManifests)})
			break
		}
		text, err := a.fileOf(root, name)
		if err != nil {
			a.Unread = append(a.Unread, bundle.Unread{Name: name, Why: command.Cause(err)})
			continue
		}
		out = append(out, bundle.ReadFile(name, text, a.decode))
	}
	return out
}

func (a *authored) fileOf(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return a.bounded(file)
}
