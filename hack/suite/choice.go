package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// choice says which tests run, as the flags -run and -skip of "go test" do. A pattern of
// nil leaves nothing out.
type choice struct{ run, skip *regexp.Regexp }

func choose(run, skip string) (c choice, err error) {
	for _, each := range []struct {
		flag, pattern string
		into          **regexp.Regexp
	}{{"--run", run, &c.run}, {"--skip", skip, &c.skip}} {
		// One with a slash chooses among the parts of tests.
		if each.pattern == "" || strings.Contains(each.pattern, "/") {
			continue
		}
		if *each.into, err = regexp.Compile(each.pattern); err != nil {
			return c, fmt.Errorf("%s: %w", each.flag, err)
		}
	}
	return c, nil
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)

// anyIn says that a test in a folder is to run. A package without one is not built: linking
// takes longer than most tests do.
func (c choice) anyIn(dir string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return false, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		for _, found := range testFunction.FindAllSubmatch(text, -1) {
			if name := string(found[1]); name != "TestMain" && c.has(name) {
				return true, nil
			}
		}
	}
	return false, nil
}

func (c choice) has(name string) bool {
	return (c.run == nil || c.run.MatchString(name)) && (c.skip == nil || !c.skip.MatchString(name))
}
