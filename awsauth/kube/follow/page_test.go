package follow

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

func TestPagesGrowWhileTheyAreShort(t *testing.T) {
	for _, c := range []struct {
		size  pageSize
		bytes int64
		want  pageSize
	}{
		{firstPage, 1, 40},
		{firstPage, shortPage - 1, 40},
		{firstPage, shortPage, firstPage},
		{firstPage, 0, firstPage}, // nobody has measured it
		{400, 1, mostPage},
		{mostPage, 1, mostPage},
		{1, 1, 2},
	} {
		if got := c.size.after(c.bytes); got != c.want {
			t.Errorf("after a page of %d objects and %d bytes come %d, want %d", c.size, c.bytes, got, c.want)
		}
	}
	for size, want := range map[pageSize]pageSize{mostPage: firstPage, 21: firstPage, firstPage: 5, 5: 1, 3: 1, 2: 1, 1: 1} {
		if got := size.smaller(); got != want {
			t.Errorf("after %d objects that were too long come %d, want %d", size, got, want)
		}
	}
}

// crowd is a stand-in for an API server with objects whose annotations are as long as length
// says. It holds none of them, and is below the client in the place of a network, so that the
// memory that is measured is the client's.
type crowd struct {
	count  int
	length func(number int) int
	// json is how custom resources come.
	json  bool
	pages atomic.Int64
	asked atomic.Int64 // objects that it was asked for
}

const longest = 2 << 20

var filling = bytes.Repeat([]byte("x"), longest)

// RoundTrip implements http.RoundTripper.
func (c *crowd) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Has("watch") {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	end := min(from+limit, c.count)
	c.pages.Add(1)
	c.asked.Add(int64(end - from))
	meta := metav1.ListMeta{ResourceVersion: "7"}
	if end < c.count {
		meta.Continue = strconv.Itoa(end)
	}
	kind, text := kruntime.ContentTypeProtobuf, c.protobuf
	if c.json {
		kind, text = kruntime.ContentTypeJSON, c.text
	}
	body := &lazy{}
	body.next, body.stop = iter.Pull(text(meta, from, end))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: body, Request: r}, nil
}

// object is one without its annotation, which is handed out of filling: a copy of it would
// be measured as the client's.
func (c *crowd) object(number int) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Namespace: "crowd", Name: fmt.Sprintf("account-%d", number)}
}

// text is a page in JSON.
func (c *crowd) text(meta metav1.ListMeta, from, end int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield(fmt.Appendf(nil, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"7","continue":%q},"items":[`, meta.Continue)) {
			return
		}
		separator := ""
		for i := from; i < end; i++ {
			object := c.object(i)
			head := fmt.Appendf(nil, `%s{"metadata":{"namespace":%q,"name":%q,"annotations":{"fill":"`, separator, object.Namespace, object.Name)
			if !yield(head) || !yield(filling[:c.length(i)]) || !yield([]byte(`"}}}`)) {
				return
			}
			separator = ","
		}
		yield([]byte("]}"))
	}
}

// protobuf is a page as API servers send what is their own: see runtime.Unknown,
// metav1.PartialObjectMetadataList and metav1.ObjectMeta.
func (c *crowd) protobuf(meta metav1.ListMeta, from, end int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		head := append([]byte("k8s\x00"), with(1, &kruntime.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"})...)
		first := with(1, &meta)
		length := len(first)
		for i := from; i < end; i++ {
			length += len(c.item(i)) + c.length(i)
		}
		if !yield(append(append(head, field(2, length)...), first...)) {
			return
		}
		for i := from; i < end; i++ {
			if !yield(c.item(i)) || !yield(filling[:c.length(i)]) {
				return
			}
		}
	}
}

// item is an object of a list up to the value of its annotation, which is the last of it.
func (c *crowd) item(number int) []byte {
	length := c.length(number)
	entry := append(append(field(1, len("fill")), "fill"...), field(2, length)...)
	object, err := c.object(number).Marshal()
	if err != nil {
		panic(err)
	}
	object = append(append(object, field(12, len(entry)+length)...), entry...)
	object = append(field(1, len(object)+length), object...)
	return append(field(2, len(object)+length), object...)
}

// field is the beginning of a field of so many bytes.
func field(number byte, length int) []byte {
	return binary.AppendUvarint([]byte{number<<3 | 2}, uint64(length))
}

func with(number byte, of interface{ Marshal() ([]byte, error) }) []byte {
	content, err := of.Marshal()
	if err != nil {
		panic(err)
	}
	return append(field(number, len(content)), content...)
}

// lazy is a body that is made as it is read.
type lazy struct {
	next func() ([]byte, bool)
	stop func()
	rest []byte
}

func (l *lazy) Read(into []byte) (int, error) {
	if len(l.rest) == 0 {
		var is bool
		if l.rest, is = l.next(); !is {
			return 0, io.EOF
		}
	}
	count := copy(into, l.rest)
	l.rest = l.rest[count:]
	return count, nil
}

func (l *lazy) Close() error {
	l.stop()
	return nil
}

// names is a sink that counts.
type names struct{ count atomic.Int64 }

func (n *names) Replace(objects []string) { n.count.Store(int64(len(objects))) }
func (n *names) Set(string)               {}
func (n *names) Delete(string)            {}

// read follows a crowd with so many Followers at once until each has read all.
func (c *crowd) read(t *testing.T, followers int, wrap func(http.RoundTripper) http.RoundTripper) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	config := &rest.Config{Host: "http://api.example.com", QPS: -1, Transport: c}
	if wrap != nil {
		config.Wrap(wrap)
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var running []*Follower[string]
	sink := &names{}
	for range followers {
		follower := Of(client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}), Options[string]{
			Sink: sink, Failed: func(err error) {
				if ctx.Err() == nil {
					t.Errorf("it cannot be followed: %v", err)
				}
			},
			Trim: func(o kruntime.Object) (string, error) {
				return strings.Clone(o.(*metav1.PartialObjectMetadata).Name), nil
			},
		})
		running = append(running, follower)
		go follower.Run(ctx)
	}
	for _, each := range running {
		<-each.Read()
	}
	if got := sink.count.Load(); got != int64(c.count) {
		t.Errorf("%d objects were read, want %d", got, c.count)
	}
}

// peak is the most memory, in MiB, that the process holds while something runs.
func peak(run func()) (most int64) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for ticker := time.NewTicker(time.Millisecond); ; {
			metrics.Read(samples)
			most = max(most, int64(samples[0].Value.Uint64()-samples[1].Value.Uint64())>>20)
			select {
			case <-ticker.C:
			case <-ended:
				ticker.Stop()
				return
			}
		}
	}()
	run()
	close(ended)
	<-stopped
	return most
}

// TestMemoryIsBoundedByBytes: whatever the objects' lengths and order, and with several
// Followers at once.
func TestMemoryIsBoundedByBytes(t *testing.T) {
	const most = 64 // MiB, a quarter of what the manifests allow
	// Tabard's programs run with such a limit (see their flag --memory-limit). It makes the
	// garbage collector keep up on a busy machine, and changes nothing about what is held.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(most * 3 / 4 << 20))
	long := func(int) int { return 250 << 10 }
	for name, c := range map[string]*struct {
		followers int
		crowd
	}{
		"all are long":               {1, crowd{count: 5000, length: long}},
		"all are long, in JSON":      {1, crowd{count: 500, length: long, json: true}},
		"of several Followers":       {12, crowd{count: 50, length: long}},
		"each is as long as can be":  {16, crowd{count: 20, length: func(int) int { return longest }}},
		"short ones come first":      {1, crowd{count: 4000, length: func(i int) int { return max(0, i-3500) / max(1, i-3500) * 250 << 10 }}},
		"now short ones, now a long": {1, crowd{count: 6000, length: func(i int) int { return i % 600 / 599 * longest }}},
	} {
		t.Run(name, func(t *testing.T) {
			took := peak(func() { c.read(t, c.followers, Bounded) })
			t.Logf("%d MiB; %d pages, %d objects asked for", took, c.pages.Load(), c.asked.Load())
			if took > most {
				t.Errorf("it took %d MiB, want at most %d", took, most)
			}
			// What is read in vain is bounded too.
			if asked, there := c.asked.Load(), int64(c.followers*c.count); asked > 3*there {
				t.Errorf("%d objects were asked for, of which there are %d", asked, there)
			}
		})
	}
}

// TestPagesThatNobodyMeasuresStaySmall: a client whose transport is not Bounded.
func TestPagesThatNobodyMeasuresStaySmall(t *testing.T) {
	c := crowd{count: 10 * firstPage, length: func(int) int { return 0 }}
	c.read(t, 1, nil)
	if got := c.pages.Load(); got != 10 {
		t.Errorf("it took %d pages, want 10", got)
	}
	c.pages.Store(0)
	c.read(t, 1, Bounded)
	if got := c.pages.Load(); got != 4 { // 20 + 40 + 80 + 60
		t.Errorf("where it is measured it took %d pages, want 4", got)
	}
}

// TestAListWaitsForItsTurnNoLongerThanAPageMayTake.
func TestAListWaitsForItsTurnNoLongerThanAPageMayTake(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	body := &boundedBody{io.NopCloser(bytes.NewReader(filling)), ctx, &reading{bytes: freely}}
	turn <- struct{}{}
	defer func() { <-turn }()
	cancel(context.DeadlineExceeded)
	if _, err := io.ReadAll(body); err == nil || !strings.Contains(err.Error(), "wait until another long list has been read") {
		t.Errorf("got %v", err)
	}
	body.page.end() // it has none to give back
	if len(turn) != 1 {
		t.Error("another's turn was ended")
	}
}
