// Command rights searches for ways from one of Tabard's accounts to another, or to
// whatever else an attacker would want, through the rights in manifests and the
// ValidatingAdmissionPolicies beside them. It prints each way step by step, and fails
// if there is one that the table of roots does not give a reason for, or a right that
// it cannot judge. Arguments are manifests, or folders of them:
//
//	cd hack/rights && go run . ../../config/manifests ../../config/rbac
//
// With --each, each argument is an installation of its own. With --planted and --from it says what an
// account could take besides, with one more manifest at a time. With --page it writes
// docs/reference/rights.md instead. What it takes for refused is attacked on a real API
// server by test/rights.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	page := flag.String("page", "", "file to write the table of rights to, instead of searching")
	each := flag.Bool("each", false, "search each argument as an installation of its own, not all as one")
	planted := flag.String("planted", "", "folder of manifests, each of which is added alone; what the account of --from could take is printed, a line each")
	from := flag.String("from", "", "the account of --planted, NAMESPACE/NAME")
	flag.Parse()
	search := func() error { return run(flag.Args(), *page, os.Stdout) }
	if *each {
		search = func() error { return runEach(flag.Args(), os.Stdout) }
	}
	if *planted != "" {
		search = func() error { return runPlanted(flag.Args(), *planted, *from, os.Stdout) }
	}
	if err := search(); err != nil {
		fmt.Fprintln(os.Stderr, "rights:", err)
		os.Exit(1)
	}
}

// runEach searches installations one after the other, all of them also after one with a way.
func runEach(paths []string, out io.Writer) error {
	var failed error
	for _, path := range paths {
		fmt.Fprintf(out, "%s:\n", path)
		if err := run([]string{path}, "", out); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err))
		}
	}
	return failed
}

func run(paths []string, page string, out io.Writer) error {
	if len(paths) == 0 {
		return errors.New("no manifests: name files or folders, such as ../../config/manifests ../../config/rbac")
	}
	texts, err := readFiles(paths)
	if err != nil {
		return err
	}
	w, err := parse(texts)
	if err != nil {
		return err
	}
	if len(w.accounts) == 0 {
		return fmt.Errorf("there is no ServiceAccount in %s: expected the manifests of an installation", strings.Join(paths, ", "))
	}
	if page != "" {
		return os.WriteFile(page, []byte(w.page()), 0o644) //nolint:gosec // a page of the documentation
	}
	found, err := w.search()
	if err != nil {
		return err
	}
	return report(w, found, out)
}

// report prints what was found, and returns an error if a person must look at it.
func report(w *world, found []edge, out io.Writer) error {
	bad := 0
	for _, e := range found {
		reason, ok := reasonFor(e)
		if !ok {
			bad++
			fmt.Fprintf(out, "%s becomes %s:\n  %s\n", e.from, e.to, e.how)
			for _, further := range w.beyond(e, found) {
				fmt.Fprintf(out, "  and then %s: %s\n", further.to, further.how)
			}
			continue
		}
		fmt.Fprintf(out, "%s is the root of %s: %s\n", e.from, e.to, reason)
	}
	for _, stale := range staleRoots(w, found) {
		bad++
		fmt.Fprintf(out, "the table of roots says that %s reaches %s, and it does not: take the line out\n", stale.from, stale.to)
	}
	if bad > 0 {
		return fmt.Errorf("%d ways that there should not be, of %d accounts", bad, len(w.accounts))
	}
	fmt.Fprintf(out, "%d accounts, %d policies: no other way from one to another\n", len(w.accounts), len(w.guards))
	return nil
}
