package controller_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestEveryControllerHasTheBackoff reads the sources of all programs and of the worked
// example: controller-runtime's own rate limiter, which it takes where none is named,
// waits up to 1,000 seconds.
func TestEveryControllerHasTheBackoff(t *testing.T) {
	found := 0
	for _, root := range []string{".", "../platform", "../app", "../webhook"} {
		must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			isShell := strings.HasSuffix(path, ".go") && (!strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "worked/"))
			if err != nil || entry.IsDir() || !isShell || path == "backoff.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			made, problems := limits(file)
			found += made
			for _, problem := range problems {
				t.Errorf("%s: %s", path, problem)
			}
			return nil
		}))
	}
	if found < 8 {
		t.Errorf("%d controllers were found, want at least eight: the test does not see how they are made", found)
	}
}

// limits counts the controllers that a file makes, and says which lack the limiter.
func limits(file *ast.File) (made int, problems []string) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CompositeLit:
			keys := keysOf(n)
			if !slices.Contains(keys, "Reconciler") {
				return true
			}
			if made++; !slices.Contains(keys, "RateLimiter") {
				problems = append(problems, "options have a Reconciler and no RateLimiter: give both by controller.Measured")
			}
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "Run":
				if of, is := n.X.(*ast.Ident); is && of.Name == "controller" {
					made++
				}
			case "Complete", "Build":
				problems = append(problems, "a controller is made by "+n.Sel.Name+": use controller.Run")
			case "DefaultTypedControllerRateLimiter", "DefaultTypedItemBasedRateLimiter":
				problems = append(problems, "a queue has client-go's own rate limiter: use controller.Backoff")
			}
		}
		return true
	})
	return made, problems
}

func keysOf(literal *ast.CompositeLit) (out []string) {
	for _, each := range literal.Elts {
		if pair, is := each.(*ast.KeyValueExpr); is {
			if key, is := pair.Key.(*ast.Ident); is {
				out = append(out, key.Name)
			}
		}
	}
	return out
}

// TestAMissingBackoffIsNoticed plants each way to leave it out.
func TestAMissingBackoffIsNoticed(t *testing.T) {
	for name, source := range map[string]string{
		"options":     `package a; var o = controller.Options{Reconciler: r}`,
		"a builder":   `package a; var err = ctrl.NewControllerManagedBy(mgr).Complete(r)`,
		"build alone": `package a; var c, err = ctrl.NewControllerManagedBy(mgr).Build(r)`,
		"a queue":     `package a; var q = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())`,
	} {
		if _, problems := limits(must.Get(parser.ParseFile(token.NewFileSet(), "a.go", source, 0))(t)); len(problems) != 1 {
			t.Errorf("%s: the problems are %q, want one", name, problems)
		}
	}
}
