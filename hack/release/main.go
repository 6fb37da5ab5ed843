// Command release writes all files of a release into a folder: programs, images, manifests,
// completions, man pages, a manifest for krew, notes, bills of materials, provenance and
// checksums. The same commit built by the same Go gives the same bytes. It is run in the
// checkout's root folder; make release passes the flags:
//
//	go run ./hack/release --version v0.1.0 --ldflags "-s -w"
package main

import (
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/tabard-dev/tabard/hack/release/build"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := release{
		compiler: build.Compiler{Source: ".", Progress: os.Stderr}, progress: os.Stderr,
		commands: commands, programsOfImages: programsOfImages, compression: gzip.BestCompression,
	}
	flag.StringVar(&r.version, "version", "", "version, such as v0.1.0, or v0.2.0-rc.1 before a release")
	flag.StringVar(&r.revision, "revision", "", "commit that is built; empty if the checkout has changes, which only a version such as v0.2.0-rc.1 may have")
	flag.StringVar(&r.compiler.LinkerFlags, "ldflags", "", "what go build gets as -ldflags")
	flag.StringVar(&r.out, "out", "dist", "folder to write")
	flag.StringVar(&r.url, "url", "", "folder that the files will be downloaded from; empty: the version's at github.com/tabard-dev/tabard")
	platforms := flag.String("platforms", "", "platforms of tabard; those of Linux get images too; empty: "+strings.Join(everywhere, ","))
	flag.Parse()
	r.platforms = everywhere
	if *platforms != "" {
		r.platforms = strings.Split(*platforms, ",")
	}
	created, err := build.Creation(os.Getenv("SOURCE_DATE_EPOCH"))
	if err == nil {
		r.created = created
		err = r.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		return 1
	}
	return 0
}
