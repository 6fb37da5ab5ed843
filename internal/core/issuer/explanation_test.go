package issuer_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// declaredReasons reads the constants of reason.go, so that a new one cannot be
// forgotten here.
func declaredReasons(t *testing.T) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, is := node.(*ast.ValueSpec); is {
			out[strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)] = true
		}
		return true
	})
	if len(out) < 40 {
		t.Fatalf("read %d reasons from reason.go, expected all of them", len(out))
	}
	return out
}

func TestEveryReasonIsExplainedOnce(t *testing.T) {
	declared := declaredReasons(t)
	explained := map[string]bool{}
	for _, e := range issuer.Reasons {
		name := string(e.Reason)
		if explained[name] {
			t.Errorf("%s is explained twice", name)
		}
		explained[name] = true
		if !declared[name] {
			t.Errorf("%s is explained and not declared", name)
		}
		if e.Conditions == "" || !strings.HasSuffix(e.Meaning, ".") || !strings.HasSuffix(e.Remedy, ".") {
			t.Errorf("%s: conditions %q, meaning %q, remedy %q: expected all three, as sentences", name, e.Conditions, e.Meaning, e.Remedy)
		}
	}
	for name := range declared {
		if !explained[name] {
			t.Errorf("%s has no entry in Reasons", name)
		}
	}
}
