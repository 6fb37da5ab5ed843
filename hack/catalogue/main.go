// Command catalogue writes a file-based catalogue of operators that do not exist, the same bytes
// for the same flags:
//
//	go run ./hack/catalogue > catalogue.json
//	go run ./hack/catalogue --format yaml --packages 10 --bundles 50 --bytes 500000 > catalogue.yaml
//	go run ./hack/catalogue --format tree --out DIRECTORY
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(2)
	}
}

func run(args []string, stdout io.Writer) error {
	var plan generate.Plan
	flags := flag.NewFlagSet("catalogue", flag.ContinueOnError)
	flags.Uint64Var(&plan.Seed, "seed", 1, "another number makes another catalogue")
	flags.IntVar(&plan.Packages, "packages", 300, "how many packages")
	flags.IntVar(&plan.Bundles, "bundles", 5000, "how many bundles in all")
	flags.IntVar(&plan.Bytes, "bytes", 60_000_000, "about how many bytes as JSON lines")
	format := flags.String("format", "json", "json (lines), yaml or tree")
	out := flags.String("out", "", "the directory for --format tree")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if plan.Packages < 1 || plan.Bundles < plan.Packages || flags.NArg() > 0 {
		return fmt.Errorf("--packages is %d and --bundles %d, expected a package at least and a bundle for each, and no further arguments",
			plan.Packages, plan.Bundles)
	}
	if (*format == "tree") != (*out != "") {
		return fmt.Errorf("--format is %q and --out %q, expected --out with tree, and only with it", *format, *out)
	}
	buffered := bufio.NewWriter(stdout)
	var err error
	switch *format {
	case "json":
		err = plan.JSON(buffered)
	case "yaml":
		err = plan.YAML(buffered)
	case "tree":
		err = plan.Tree(*out)
	default:
		err = fmt.Errorf("--format is %q, expected json, yaml or tree", *format)
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}
