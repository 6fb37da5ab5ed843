package controller

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAPIServersAreAskedAtOnce has servers that never answer among those that do.
func TestAPIServersAreAskedAtOnce(t *testing.T) {
	tests := map[string]struct {
		prompt, silent int
		want           time.Duration
	}{
		"all answer": {prompt: 20},
		"one that does not takes its own time only": {prompt: 20, silent: 1, want: 5 * time.Second},
		"as many as are asked at once do":           {prompt: 20, silent: 8, want: 5 * time.Second},
		"ten thousand take no longer than all may":  {prompt: 20, silent: 10000, want: 15 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				asked, now, most := 0, 0, 0
				enter := func(by int) {
					mu.Lock()
					defer mu.Unlock()
					now += by
					most = max(most, now)
					asked += max(by, 0)
				}
				start := time.Now()
				EachAPIServer(t.Context(), make([]APIServer, test.prompt+test.silent), func(ctx context.Context, i int, _ APIServer) {
					enter(1)
					defer enter(-1)
					if i >= test.prompt {
						<-ctx.Done()
					}
				})
				if took := time.Since(start); took != test.want {
					t.Errorf("it took %s, want %s", took, test.want)
				}
				if all := test.prompt + test.silent; asked != all || most > 8 {
					t.Errorf("%d of %d were asked, %d at once, want at most 8", asked, all, most)
				}
			})
		})
	}
}
