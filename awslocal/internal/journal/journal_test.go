package journal

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestJournalIsBoundedByBytes(t *testing.T) {
	huge := strings.Repeat("é", 1<<20)
	var j Journal
	before := heap()
	for i := range 3000 {
		// The operation is a part of a body that must not live on with it.
		body := strings.Clone(huge[:100<<10])
		j.Add(call.Entry{
			ID: strconv.Itoa(i), Operation: body[1:5], Caller: huge, AccessKeyID: huge, Resource: huge, Region: huge, Service: huge,
			Token:    &call.Token{Issuer: huge, Subject: huge, Audience: slices.Repeat([]string{huge}, 1000)},
			Decision: &call.Decision{Action: huge, Resource: huge, Policy: huge, Sid: huge, Reason: huge},
		})
	}
	all := j.Since("")
	if last := all[len(all)-1].ID; last != "2999" || len(all) < 150 {
		t.Errorf("%d entries are kept, the last is %s", len(all), last)
	}
	if one := all[0]; len(one.Caller) > maxText+3 || !utf8.ValidString(one.Caller) || !strings.HasSuffix(one.Caller, "é…") {
		t.Errorf("a caller of %d bytes ends in %q", len(one.Caller), one.Caller[len(one.Caller)-8:])
	}
	if grown := heap() - before; grown > maxBytes+maxBytes/4 {
		t.Errorf("%d bytes are kept, at most %d may be", grown, maxBytes)
	}
	runtime.KeepAlive(&j)
	for range 2 * limit {
		j.Add(call.Entry{ID: "small", Caller: "anonymous"})
	}
	if all := j.Since(""); len(all) != limit || all[0].ID != "small" || j.bytes > limit*(overhead+20) {
		t.Errorf("after small ones again there are %d entries and %d bytes", len(all), j.bytes)
	}
}

// heap is what is in use after a collection of garbage.
func heap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// BenchmarkAdd adds to a full journal, and to one that is nearly empty.
func BenchmarkAdd(b *testing.B) {
	entry := call.Entry{
		ID: "5fa2d5d6-6c5b-4a54-8bb7-0d9e6bf6b8a1", Service: "sts", Operation: "AssumeRole", Region: "us-east-1",
		Caller: "arn:aws:iam::123456789012:user/administrator", AccessKeyID: "AKIAIOSFODNN7EXAMPLE", Resource: "arn:aws:iam::123456789012:role/app", Status: 200,
	}
	for _, full := range []bool{true, false} {
		b.Run(map[bool]string{true: "full", false: "empty"}[full], func(b *testing.B) {
			var j Journal
			for range limit {
				j.Add(entry)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if !full && i%1000 == 0 {
					j.Clear()
				}
				j.Add(entry)
			}
		})
	}
}
