// Package library calls everything that Tabard's public packages export with nothing
// in hand: nil, and zero values. A slip of a caller's is an answer, and no panic that
// takes a whole controller down.
package library

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// exported are the names of a package's functions, and of its types that have methods
// or are their receivers.
func exported(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries := must.Get(os.ReadDir(filepath.Join(testkit.Root(), dir)))(t)
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(testkit.Root(), dir, entry.Name()), nil, 0))(t)
		for _, declaration := range file.Decls {
			function, is := declaration.(*ast.FuncDecl)
			switch {
			case !is || !function.Name.IsExported():
			case function.Recv == nil:
				names = append(names, function.Name.Name)
			default:
				if name := receiver(function.Recv.List[0].Type); ast.IsExported(name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func receiver(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr: // of a generic type
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// calls are the ways to call something with nothing: a function by itself, and all
// methods of a new value.
func calls(name string, thing any) map[string]func() {
	out := map[string]func(){}
	add := func(name string, function reflect.Value) {
		out[name] = func() {
			arguments := nothing(function.Type())
			results := function.Call(arguments)
			for _, result := range results { // a sequence does its work when it is asked
				if result.Kind() == reflect.Func && !result.IsNil() && result.Type().CanSeq() {
					for range result.Seq() {
						break
					}
				}
			}
		}
	}
	value := reflect.ValueOf(thing)
	if value.Kind() == reflect.Func {
		add(name, value)
		return out
	}
	for i := range value.NumMethod() {
		add(name+"."+value.Type().Method(i).Name, value.Method(i))
	}
	return out
}

// nothing is a zero value for each parameter. A context cannot be nil, as its own
// package says, and this one is over.
func nothing(function reflect.Type) []reflect.Value {
	over, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // it is over at once
	cancel()
	var arguments []reflect.Value
	for i := range function.NumIn() {
		parameter := function.In(i)
		switch {
		case function.IsVariadic() && i == function.NumIn()-1:
		case parameter == reflect.TypeFor[context.Context]():
			arguments = append(arguments, reflect.ValueOf(over))
		default:
			arguments = append(arguments, reflect.Zero(parameter))
		}
	}
	return arguments
}

func TestNothingPanicsOnNothing(t *testing.T) {
	for dir, things := range packages {
		want := exported(t, dir)
		for _, name := range want {
			if _, has := things[name]; !has {
				t.Errorf("%s.%s is not tried: add it to the list", dir, name)
			}
		}
		for name, thing := range things {
			if !slices.Contains(want, name) {
				t.Errorf("%s.%s is tried and is not there", dir, name)
			}
			for i, each := range thing {
				for called, call := range calls(fmt.Sprintf("%s.%s (%d)", dir, name, i), each) {
					if panicked := panics(call); panicked != nil {
						t.Errorf("%s panics: %v", called, panicked)
					}
				}
			}
		}
	}
}

// The test notices what it is there for.
func TestAPanicIsSeen(t *testing.T) {
	var none *struct{ field int }
	if panics(func() { none.field++ }) == nil {
		t.Error("a panic is not seen")
	}
	tried := calls("Builder", new(strings.Builder))
	if _, has := tried["Builder.WriteString"]; !has || len(tried) < 5 {
		t.Errorf("of a builder these are tried: %d", len(tried))
	}
}

func panics(call func()) (panicked any) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprint(r)
		}
	}()
	call()
	return nil
}
