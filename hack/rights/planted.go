package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
)

// runPlanted prints what an account could take with each manifest of a folder, alone, beside an
// installation: a line each, of the file and what it takes. Of a file that opens no way there is none.
// What the account takes without it is left out.
func runPlanted(paths []string, folder, name string, out io.Writer) error {
	texts, err := readFiles(paths)
	if err != nil {
		return err
	}
	added, err := readFiles([]string{folder})
	if err != nil {
		return err
	}
	w, err := parse(texts)
	if err != nil {
		return err
	}
	without, err := w.takenBy(name)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(added)) {
		more, err := w.with(map[string][]byte{file: added[file]})
		if err != nil {
			return err
		}
		taken, err := more.takenBy(name)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, e := range taken {
			if !slices.Contains(without, e) {
				fmt.Fprintf(out, "%s: %s: %s\n", filepath.Base(file), e.to, e.how)
			}
		}
	}
	return nil
}

// takenBy is what an account can take in one step.
func (w *world) takenBy(name string) ([]edge, error) {
	at := slices.IndexFunc(w.accounts, func(a account) bool { return a.String() == name })
	if at < 0 {
		return nil, fmt.Errorf("--from is %q, expected an account of the manifests, as NAMESPACE/NAME", name)
	}
	return w.searchFrom(w.accounts[at])
}
