package capacity

import (
	"sync"

	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// memory keeps what one pass over an object leaves for the next. It holds at
// most one entry for each object that exists, and none for most. It is safe for
// concurrent use.
type memory struct {
	mu   sync.Mutex
	kept map[Request]entry
}

type entry struct {
	memory core.Memory
	// mismatch is the last that was told.
	mismatch string
}

func newMemory() *memory { return &memory{kept: map[Request]entry{}} }

func (m *memory) of(request Request) core.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[request].memory
}

// keep takes over what a plan leaves, and returns the mismatch that was told
// before.
func (m *memory) keep(request Request, plan core.Plan) (told string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told = m.kept[request].mismatch
	if next := (entry{plan.Memory, plan.Mismatch}); next != (entry{}) {
		m.kept[request] = next
	} else {
		delete(m.kept, request)
	}
	return told
}

// forget drops what is known of an object that is gone.
func (m *memory) forget(request Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, request)
}
