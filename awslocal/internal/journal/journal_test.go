package journal

import (
	"strconv"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

func TestJournalKeepsTheLastCallsInOrder(t *testing.T) {
	var j Journal
	for i := range limit + 5 {
		j.Add(call.Entry{ID: strconv.Itoa(i)})
	}
	all := j.Since("")
	if len(all) != limit || all[0].ID != "5" || all[limit-1].ID != strconv.Itoa(limit+4) {
		t.Errorf("%d entries from %s to %s", len(all), all[0].ID, all[len(all)-1].ID)
	}
	if rest := j.Since(strconv.Itoa(limit + 2)); len(rest) != 2 || rest[0].ID != strconv.Itoa(limit+3) {
		t.Errorf("after an entry there are %v", rest)
	}
	if gone := j.Since("0"); len(gone) != limit {
		t.Errorf("after a forgotten entry there are %d", len(gone))
	}
	j.Clear()
	if left := j.Since(""); len(left) != 0 {
		t.Errorf("after a clear there are %d", len(left))
	}
}
