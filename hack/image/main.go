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
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tabard-dev/tabard/hack/release/build"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	i := build.Images{Compiler: build.Compiler{Source: ".", Progress: os.Stdout}, Progress: os.Stdout}
	flag.StringVar(&i.Program, "program", "./cmd/tabard-operator", "package of the program")
	flag.StringVar(&i.Repository, "repository", "ghcr.io/tabard-dev/tabard", "the image's name without its tag; its last part names the program")
	flag.StringVar(&i.Description, "description", "", "one sentence about the program, for the image's label")
	flag.StringVar(&i.Version, "version", "devel", "version of the program, and tag of the image")
	flag.StringVar(&i.Revision, "revision", "", "commit that is built, for the image's label and its provenance; empty: no commit")
	flag.StringVar(&i.Compiler.LinkerFlags, "ldflags", "", "what go build gets as -ldflags")
	flag.StringVar(&i.Programs, "out", "bin/image", "folder for the archive and the programs")
	platforms := flag.String("platforms", "linux/amd64,linux/arm64", "platforms that the archive holds an image for")
	flag.Parse()
	i.Platforms = strings.Split(*platforms, ",")
	i.Archive = filepath.Join(i.Programs, filepath.Base(i.Repository)+".tar")
	created, err := build.Creation(os.Getenv("SOURCE_DATE_EPOCH"))
	if err == nil {
		i.Created = created
		_, err = i.Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		return 1
	}
	return 0
}
