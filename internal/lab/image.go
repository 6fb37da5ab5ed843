package lab

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/lab/node"
)

// ownImage is the image that Tabard's manifests name.
const ownImage = "ghcr.io/tabard-dev/tabard:devel"

// imageNamespace is where containerd keeps what the kubelet sees.
const imageNamespace = "k8s.io"

// ctr asks the node's runtime.
func (lab Lab) ctr(ctx context.Context, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadWithin)
	defer cancel()
	command := exec.CommandContext(ctx, "ctr", append([]string{"--address", lab.nodeFiles().Socket(), "--namespace", imageNamespace}, arguments...)...)
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
	said, err := lab.ctr(ctx, "images", "import", archive)
	if err != nil {
		return "", fmt.Errorf("load the images of %s: %w", archive, err)
	}
	return said, nil
}

// loadOwnImages puts this program on the node, as what the manifests run and as
// what holds the namespaces of pods. Images that are there already stay.
func (lab Lab) loadOwnImages(ctx context.Context) error {
	there, err := lab.ctr(ctx, "images", "ls", "--quiet")
	if err != nil {
		return fmt.Errorf("list the node's images: %w", err)
	}
	for reference, arguments := range map[string][]string{ownImage: nil, node.SandboxImage: {"lab", Pause}} {
		if strings.Contains("\n"+there, "\n"+reference+"\n") {
			continue
		}
		if err := lab.loadProgram(ctx, reference, arguments); err != nil {
			return fmt.Errorf("make the image %s: %w", reference, err)
		}
	}
	return nil
}

// loadProgram loads an image of this program.
func (lab Lab) loadProgram(ctx context.Context, reference string, arguments []string) (err error) {
	built, err := image.Build(image.Spec{
		Program: lab.Tabard, Name: "tabard", Arguments: arguments, Architecture: runtime.GOARCH, Version: "lab",
		Compression: gzip.BestSpeed, // it is unpacked at once, on this machine
	})
	if err != nil {
		return err
	}
	archive, err := os.Create(lab.Path("tmp", filepath.Base(strings.ReplaceAll(reference, ":", "-"))+".tar"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(archive.Name())) }()
	_, err = image.Archive(archive, reference, built)
	if err := errors.Join(err, archive.Close()); err != nil {
		return err
	}
	_, err = lab.LoadImages(ctx, archive.Name())
	return err
}
