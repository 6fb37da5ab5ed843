// Command image builds the container image of Tabard, or of another program of
// this module, and writes it as an OCI archive below bin/image. It needs no
// container engine, and the same source built by the same Go gives the same
// digest everywhere. It is run in the checkout's root folder:
//
//	go run ./hack/image --version devel
//
// A creation time other than 1970 comes from SOURCE_DATE_EPOCH.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/tabard-dev/tabard/internal/image"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	j := job{source: ".", progress: os.Stdout}
	flag.StringVar(&j.program, "program", "./cmd/tabard-operator", "package of the program")
	flag.StringVar(&j.repository, "repository", "ghcr.io/tabard-dev/tabard", "the image's name without its tag; its last part names the program")
	flag.StringVar(&j.version, "version", "devel", "version of the program, and tag of the image")
	flag.StringVar(&j.linkerFlags, "ldflags", "", "what go build gets as -ldflags")
	flag.StringVar(&j.folder, "out", "bin/image", "folder for the archive and the programs")
	platforms := flag.String("platforms", "linux/amd64,linux/arm64", "platforms that the archive holds an image for")
	flag.Parse()
	j.platforms = strings.Split(*platforms, ",")
	if err := j.run(ctx, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		return 1
	}
	return 0
}

// job is what is to be built.
type job struct {
	// source is the root folder of the module.
	source                                            string
	program, repository, version, linkerFlags, folder string
	platforms                                         []string
	progress                                          io.Writer
}

// run builds the program and its image for each platform, and writes the archive.
func (j job) run(ctx context.Context, getenv func(string) string) error {
	created, err := creation(getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	started := time.Now()
	title := filepath.Base(j.repository)
	var images []v1.Image
	for _, platform := range j.platforms {
		architecture, isLinux := strings.CutPrefix(platform, "linux/")
		if !isLinux {
			return fmt.Errorf("no images are made for %q: a platform is linux/amd64 or linux/arm64", platform)
		}
		program, err := filepath.Abs(filepath.Join(j.folder, "linux-"+architecture, title))
		if err != nil {
			return err
		}
		fmt.Fprintf(j.progress, "image: compiling %s for %s (the first time takes minutes; packages are listed as they are compiled)\n", j.program, platform)
		if err := j.compile(ctx, architecture, program); err != nil {
			return err
		}
		fmt.Fprintf(j.progress, "image: compiled after %.0f s; packing it\n", time.Since(started).Seconds())
		built, err := image.Build(image.Spec{
			Program: program, Name: title, Architecture: architecture, Version: j.version, Created: created,
		})
		if err != nil {
			return err
		}
		images = append(images, built)
	}
	return j.write(filepath.Join(j.folder, title+".tar"), images, started)
}

// compile builds the program so that the same source gives the same bytes: without
// the checkout's path and state, and for the plainest processor of each kind.
func (j job) compile(ctx context.Context, architecture, target string) error {
	command := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", j.linkerFlags, "-o", target, j.program)
	command.Dir = j.source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off",
		"GOOS=linux", "GOARCH="+architecture, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off")
	command.Stderr = j.progress
	if err := command.Run(); err != nil {
		return fmt.Errorf("go build %s for linux/%s: %w", j.program, architecture, err)
	}
	return nil
}

// write puts the archive at its place when it is complete, and tells of it.
func (j job) write(path string, images []v1.Image, started time.Time) error {
	reference := j.repository + ":" + j.version
	part, err := os.Create(path + ".part")
	if err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	// The rename is the only way an archive appears at its place.
	defer func() {
		_ = part.Close()
		_ = os.Remove(part.Name())
	}()
	digest, err := image.Archive(part, reference, images...)
	if err != nil {
		return err
	}
	info, err := part.Stat()
	if err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return fmt.Errorf("put the archive at its place: %w", err)
	}
	for i, built := range images {
		if err := j.tell(j.platforms[i], built); err != nil {
			return err
		}
	}
	fmt.Fprintf(j.progress, "image: %s@%s\nimage: %s, %.1f MB, after %.0f s\n",
		reference, digest, path, megabytes(info.Size()), time.Since(started).Seconds())
	return nil
}

// tell writes the digest of one platform's image, and how much is pulled of it.
func (j job) tell(platform string, built v1.Image) error {
	digest, err := built.Digest()
	if err != nil {
		return err
	}
	layers, err := built.Layers()
	if err != nil {
		return err
	}
	var pulled int64
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return err
		}
		pulled += size
	}
	fmt.Fprintf(j.progress, "image: %s %s, %.1f MB to pull\n", platform, digest, megabytes(pulled))
	return nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// creation reads a time in seconds since 1970, as reproducible builds pass it.
func creation(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, expected seconds since 1970", epoch)
	}
	return time.Unix(seconds, 0), nil
}
