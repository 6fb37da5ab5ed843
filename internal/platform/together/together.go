// Package together runs functions at the same time. A panic in a goroutine of its own ends the whole program,
// whoever would have recovered it: here it goes on where the functions are waited for.
package together

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is functions that run at the same time. The zero value has none.
type Group struct {
	wait   sync.WaitGroup
	mu     sync.Mutex
	broken *Panic
}

// Panic is the value of a panic that goes on in another goroutine.
type Panic struct {
	// Value is what the function panicked with.
	Value any
	// Stack is where it did.
	Stack string
}

// Error has the stack too: the one that the program prints with the panic is of who waited.
func (p *Panic) Error() string {
	return fmt.Sprintf("%v\n\nthe function that panicked ran in:\n%s", p.Value, p.Stack)
}

// Go runs a function beside the others.
func (g *Group) Go(run func()) {
	g.wait.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				g.breaks(&Panic{Value: value, Stack: string(debug.Stack())})
			}
		}()
		run()
	})
}

// breaks keeps the first panic.
func (g *Group) breaks(p *Panic) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken == nil {
		g.broken = p
	}
}

// Wait returns when all functions have. Where one of them panicked, it panics with the first *Panic.
func (g *Group) Wait() {
	g.wait.Wait()
	if g.broken != nil {
		panic(g.broken)
	}
}
