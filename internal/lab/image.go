package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/lab/node"
)

// ownImage and webhookImage are those that Tabard's manifests name. A lab's are both of
// this program, which takes the webhook's arguments too.
const (
	ownImage     = "ghcr.io/tabard-dev/tabard:devel"
	webhookImage = "ghcr.io/tabard-dev/tabard-webhook:devel"
)

// imageNamespace is where containerd keeps what the kubelet sees.
const imageNamespace = "k8s.io"

// ctr asks the node's runtime. input is what it reads, nil for nothing.
func (lab Lab) ctr(ctx context.Context, input io.Reader, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadWithin)
	defer cancel()
	command := exec.CommandContext(ctx, "ctr", append([]string{"--address", lab.nodeFiles().Socket(), "--namespace", imageNamespace}, arguments...)...)
	command.Stdin = input
	said, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return string(said), nil
}

// LoadImages puts the images of an archive (an OCI layout or what "docker save"
// writes) on the node, and returns what the runtime says of it.
func (lab Lab) LoadImages(ctx context.Context, archive string) (string, error) {
	if lab.Node == nil {
		return "", fmt.Errorf("the lab in %s has no node to load images on; make one with \"tabard lab up --node\"", lab.Dir)
	}
	said, err := lab.ctr(ctx, nil, "images", "import", archive)
	if err != nil {
		return "", fmt.Errorf("load the images of %s: %w", archive, err)
	}
	return said, nil
}

// loadOwnImages puts this program on the node, as what the manifests run and as
// what holds the namespaces of pods. Images that are there already stay.
func (lab Lab) loadOwnImages(ctx context.Context) error {
	there, err := lab.ctr(ctx, nil, "images", "ls", "--quiet")
	if err != nil {
		return fmt.Errorf("list the node's images: %w", err)
	}
	has := func(reference string) bool { return strings.Contains("\n"+there, "\n"+reference+"\n") }
	if has(ownImage) && has(webhookImage) && has(node.SandboxImage) {
		return nil
	}
	reader, writer := io.Pipe()
	archived := make(chan error, 1)
	go func() {
		err := lab.archiveOwnImages(writer)
		archived <- err
		_ = writer.CloseWithError(err) // a pipe's is always nil
	}()
	_, err = lab.ctr(ctx, reader, "images", "import", "-")
	_ = reader.Close() // lets the writer go if nobody read to the end
	if err := errors.Join(<-archived, err); err != nil {
		return fmt.Errorf("put this program on the node: %w", err)
	}
	return nil
}

// archiveOwnImages writes the archive of the program's images, which differ in
// nothing but their names and what the program is told.
func (lab Lab) archiveOwnImages(w io.Writer) error {
	own, err := image.Build(image.Spec{Program: lab.Tabard, Name: "tabard", Architecture: runtime.GOARCH, Version: "lab", Plain: true})
	if err != nil {
		return err
	}
	sandbox, err := image.WithArguments(own, "lab", Pause)
	if err != nil {
		return err
	}
	_, err = image.ArchiveAll(w, image.Named{Reference: ownImage, Images: []v1.Image{own}}, image.Named{Reference: webhookImage, Images: []v1.Image{own}},
		image.Named{Reference: node.SandboxImage, Images: []v1.Image{sandbox}})
	return err
}
