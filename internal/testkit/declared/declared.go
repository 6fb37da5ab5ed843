// Package declared reads what the code of a package declares, so that a test of its
// list of explanations cannot forget one.
package declared

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Reasons are the constants of the type Reason in the package under test.
func Reasons(t *testing.T) []condition.Reason {
	t.Helper()
	var found []condition.Reason
	paths := must.Get(filepath.Glob("*.go"))(t)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, is := node.(*ast.ValueSpec); is && isReason(spec.Type) {
				for _, value := range spec.Values {
					found = append(found, reason(t, value))
				}
			}
			return true
		})
	}
	if len(found) == 0 {
		t.Fatalf("found no reason in %s, expected constants of the type Reason or condition.Reason", paths)
	}
	return found
}

// isReason recognises Reason and condition.Reason.
func isReason(kind ast.Expr) bool {
	switch kind := kind.(type) {
	case *ast.Ident:
		return kind.Name == "Reason"
	case *ast.SelectorExpr:
		return kind.Sel.Name == "Reason"
	}
	return false
}

func reason(t *testing.T, value ast.Expr) condition.Reason {
	t.Helper()
	literal, is := value.(*ast.BasicLit)
	if !is {
		t.Fatalf("a reason is %T, expected a text", value)
	}
	text := must.Get(strconv.Unquote(literal.Value))(t)
	return condition.Reason(text)
}
