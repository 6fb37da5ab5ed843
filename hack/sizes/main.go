// Command sizes prints the tables of docs/install.md, "What it takes": how large the images in OCI
// archives are, and what the chart's components ask for. With --cold it prints what make targets take
// with empty caches instead, one after another: they are built in the checkout, with caches in a new
// folder that is removed. It is run in the checkout's root folder:
//
//	go run ./hack/sizes bin/image/*.tar
//	go run ./hack/sizes --cold build,localkube,image
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tabard-dev/tabard/hack/sizes/size"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	targets := flag.String("cold", "", "make targets to build with empty caches, in this order; takes many minutes")
	flag.Parse()
	var err error
	switch {
	case *targets != "":
		err = cold(ctx, strings.Split(*targets, ","), os.Stdout, os.Stderr)
	case flag.NArg() > 0:
		err = tables(flag.Args(), "charts/tabard/values.yaml", os.Stdout)
	default:
		err = errors.New("expected: sizes ARCHIVE..., or sizes --cold TARGET,...; make sizes does the first")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		return 1
	}
	return 0
}

// tables prints what the archives and the chart's values say.
func tables(archives []string, values string, out io.Writer) error {
	images := map[string]map[string]int64{}
	for _, path := range archives {
		pulled, err := pulled(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		images[strings.TrimSuffix(filepath.Base(path), ".tar")] = pulled
	}
	text, err := os.ReadFile(values)
	if err != nil {
		return err
	}
	requests, err := size.Requests(text)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s", size.Images(images), requests)
	return err
}

func pulled(path string) (map[string]int64, error) {
	archive, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer archive.Close() //nolint:errcheck // it is only read
	return size.Pulled(archive)
}
