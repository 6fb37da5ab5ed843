// Command push puts images into a registry, with the documents about them, from the archives
// that make release and make image write. Who it is there says the configuration of docker,
// as docker login, crane and podman write it:
//
//	go run ./hack/push --registry registry.example.com/team dist/*-image_*.tar
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	registry := flag.String("registry", "", "registry, and the path in it if there is one, such as registry.example.com/team")
	replace := flag.Bool("replace", false, "move a tag that names another image")
	flag.Parse()
	to := target{
		registry: *registry, replace: *replace,
		options: []remote.Option{remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithContext(ctx)},
	}
	if err := pushAll(to, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "push:", err)
		return 1
	}
	return 0
}

// pushAll pushes the archives one after another, and says of each what it is now.
func pushAll(to target, archives []string, said io.Writer) error {
	if to.registry == "" {
		return errors.New("no registry: name it, such as REGISTRY=registry.example.com/team")
	}
	if len(archives) == 0 {
		return errors.New("no archives of images: make them with make image; those of make release are pushed by make push DIST=dist")
	}
	for _, archive := range archives {
		reference, err := to.push(archive)
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		fmt.Fprintln(said, reference)
	}
	return nil
}
