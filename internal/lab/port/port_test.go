package port

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// few is a range of eight blocks of eight, outside the ranges that labs and tests use.
var few = Range{First: 9000, Last: 9063}

// 64 callers at once want one of eight blocks: eight get one each, no two the same,
// and the others are told.
func TestNoBlockIsClaimedTwice(t *testing.T) {
	var (
		mu      sync.Mutex
		blocks  = map[int]int{}
		refused int
		wait    sync.WaitGroup
	)
	for range 64 {
		wait.Go(func() {
			first, claim, err := few.Claim(t.Context(), 8)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused++
				if !strings.Contains(err.Error(), "no 8 free ports in a row between 9000 and 9063") {
					t.Error(err)
				}
				return
			}
			blocks[first]++
			t.Cleanup(func() { _ = claim.Close() })
		})
	}
	wait.Wait()
	if len(blocks) != 8 || refused != 56 {
		t.Errorf("%d blocks, %d refused: %v", len(blocks), refused, blocks)
	}
	for first, times := range blocks {
		if times != 1 || first%8 != 0 {
			t.Errorf("the block at %d was claimed %d times", first, times)
		}
	}
}

// A server on the last port of a block keeps the whole block taken after its claim ended.
func TestABlockWithAServerIsTaken(t *testing.T) {
	one := Range{First: 9100, Last: 9107}
	first, claim, err := one.Claim(t.Context(), 8)
	if err != nil {
		t.Fatal(err)
	}
	server, err := net.Listen("tcp", address(first+7))
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, claim.Close())
	if again, _, err := one.Claim(t.Context(), 8); err == nil {
		t.Errorf("the block at %d was given again", again)
	}
	must.Do(t, server.Close())
	if _, claim, err = one.Claim(t.Context(), 8); err != nil {
		t.Errorf("a block that is free again is refused: %v", err)
	} else {
		_ = claim.Close()
	}
}
