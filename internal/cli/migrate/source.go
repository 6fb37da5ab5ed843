package migrate

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/cli/manifest"
)

// source is where objects come from.
type source interface {
	// objects are all but the config maps.
	objects(context.Context) ([]unstructured.Unstructured, error)
	// configMaps are the role maps of system namespaces.
	configMaps(ctx context.Context, namespaces []string) ([]unstructured.Unstructured, error)
}

// files are files and folders of YAML or JSON.
type files struct {
	paths []string
	in    io.Reader
}

// configMaps are among the objects already.
func (*files) configMaps(context.Context, []string) ([]unstructured.Unstructured, error) {
	return nil, nil
}

func (f *files) objects(context.Context) ([]unstructured.Unstructured, error) {
	return manifest.Read(f.paths, f.in)
}
