package catalogue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Icons of 10 MB and descriptions as long are read over, one item at a time, whatever escapes
// they have: the memory of ten packages of 20 MB is that of one without them.
func TestIconsAndDescriptionsAreNotKept(t *testing.T) {
	const packages = 10
	icon := strings.Repeat("QUJD", 10<<20/4)
	plain := offered("p00", "c", `{}`)
	for name, long := range map[string]string{"icon": icon, "escapes": strings.Repeat(`\u001b\"\\`, 1<<20)} {
		var parts []io.Reader
		parts = append(parts, strings.NewReader(`{"items":[`))
		head, tail, _ := strings.Cut(plain, `"displayName"`)
		for i := range packages {
			if i > 0 {
				parts = append(parts, strings.NewReader(","))
			}
			number := fmt.Sprintf("p%02d", i)
			parts = append(parts, strings.NewReader(strings.ReplaceAll(head, "p00", number)+`"icon":[{"base64data":"`), strings.NewReader(long),
				strings.NewReader(`"}],"description":"`), strings.NewReader(long), strings.NewReader(`","displayName"`+strings.ReplaceAll(tail, "p00", number)))
		}
		parts = append(parts, strings.NewReader(`]}`))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := catalogue.Manifests{}.Read(t.Context(), io.MultiReader(parts...))
		runtime.ReadMemStats(&after)
		if err != nil || len(got.Packages) != packages || got.Findings != nil {
			t.Errorf("%s: %d packages, %v, %v", name, len(got.Packages), got.Findings, err)
		}
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 32 {
			t.Errorf("%s: %d MiB were allocated in all, want 32 at most", name, taken)
		} else {
			t.Logf("%s: %d MiB were allocated in all", name, taken)
		}
		if text, err := json.Marshal(got); err != nil || len(text) > 64<<10 {
			t.Errorf("%s: %d bytes are kept, %v", name, len(text), err)
		}
	}
}

// Whatever the bytes are, the reader ends without a panic, says the same however they arrive,
// keeps no more than it read, and its findings and errors are harmless.
func FuzzManifests(f *testing.F) {
	good := offered("p", "c", `{"`+token+`aws":"true","operators.openshift.io/infrastructure-features":"[1]"}`)
	for _, seed := range []string{
		listOf(good), listOf(good, good, `{}`, `"x"`, `1`, `null`, `[[]]`), listOf(strings.ReplaceAll(good, "stable", `\u001b[31m`)), `{"items":[{"status":{"channels":[{}]}}]}`,
		`{"items":[{"status":{"packageName":"p","deprecation":{},"channels":[{"name":"a","entries":[{"name":"b","deprecation":1}]}]}}]}`,
		`{"items":[1 2]}`, `{"items":[,]}`, `{"":`, `{"items":[]}}`, "{\"items\":[\"\\", `{"metadata":{"continue":"\"},"items":null}`, `{"a":{]`, ``,
		`{"items":[{"status":{"packageName":"p"},"metadata":{"labels":{"operatorframework.io/arch.":"supported"}}}],"kind":"List"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := catalogue.Manifests{}.Read(t.Context(), strings.NewReader(string(text)))
		again, errAgain := catalogue.Manifests{}.Read(t.Context(), iotest.OneByteReader(strings.NewReader(string(text))))
		if diff := cmp.Diff(got, again); diff != "" || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("%v and, byte by byte, %v (-whole +byte by byte):\n%s", err, errAgain, diff)
		}
		if kept := bytesOf(got); kept > 4*len(text) {
			t.Errorf("%d bytes are kept of %d", kept, len(text))
		}
		said := fmt.Sprint(err)
		for _, finding := range got.Findings {
			said += finding.String()
		}
		if i := strings.IndexFunc(said, harmful); i >= 0 {
			t.Errorf("it says %q", said)
		}
		if err == nil && !json.Valid(text) && got.Findings == nil && got.Packages == nil && strings.Contains(string(text), "packageName") {
			t.Errorf("nothing is said of what is no JSON: %q", text)
		}
	})
}

// bytesOf are the bytes of all texts that a catalogue has from its authors.
func bytesOf(c model.Catalogue) int {
	size := 0
	for _, p := range c.Packages {
		size += len(p.Name) + len(p.DefaultChannel) + len(p.Deprecation) + len(p.Source.Name) + len(p.Source.Namespace) + len(p.Source.DisplayName) + len(p.Source.Publisher)
		for _, c := range p.Channels {
			size += len(c.Name) + len(c.Deprecation)
		}
		for _, b := range p.Bundles {
			size += len(b.Name) + len(b.Version) + len(b.Deprecation)
			if b.Metadata != nil {
				size += len(b.Metadata.DisplayName) + len(b.Metadata.Provider) + len(strings.Join(b.Metadata.InstallModes, ""))
				for key, value := range b.Metadata.Annotations {
					size += len(key) + len(value)
				}
			}
		}
	}
	return size
}

// A long text is cut, and never inside of an escape: what is left is JSON, wherever the cut is.
func TestALongTextIsCutBetweenEscapes(t *testing.T) {
	const cut = 6*(256<<10) + 6
	for before := range 14 {
		long := strings.Repeat("x", cut-before) + strings.Repeat(`\u00e9\"\\\n`, 10)
		item := strings.Replace(offered("p", "c", `{"`+token+`aws":"true"}`), `"displayName":"P"`, `"description":"`+long+`","displayName":"P"`, 1)
		got := readList(t, listOf(item))
		if head, ok := got.Packages[0].Bundle("p.v1.1.0"); !ok || head.Features.Tokens[model.AWS] != model.Yes || head.Metadata.DisplayName != "P" || got.Findings != nil {
			t.Errorf("%d bytes before the cut: %+v, %v", before, head, got.Findings)
		}
	}
}

// A list without end is an error, not the end of the machine's memory, though each item is small.
func TestLongPackageManifestsWithoutEnd(t *testing.T) {
	annotations := `{"description":"` + strings.Repeat("x", 250<<10) + `"}`
	made := 0
	in := &parts{next: func() string {
		if made++; made == 1 {
			return `{"items":[` + offered("p", "c", `{}`)
		}
		return "," + offered(fmt.Sprintf("p%d", made), "c", annotations)
	}}
	got, err := catalogue.Manifests{}.Read(t.Context(), in)
	if !errors.Is(err, catalogue.ErrTooLarge) || !strings.Contains(err.Error(), "more than 256 MiB of names") || got.Packages != nil {
		t.Errorf("%d packages and the error %v", len(got.Packages), err)
	}
}

// parts reads one part after the other.
type parts struct {
	next func() string
	rest string
}

func (p *parts) Read(into []byte) (int, error) {
	if p.rest == "" {
		p.rest = p.next()
	}
	n := copy(into, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// BenchmarkManifests reads as many packages as a large vendor has, each with some channels.
func BenchmarkManifests(b *testing.B) {
	const size, channels = 300, 5
	text := strings.Builder{}
	text.WriteString(`{"items":[`)
	for i := range size {
		item := offered(fmt.Sprintf("p%d", i), "c", `{"`+token+`aws":"true","alm-examples":"`+strings.Repeat(`{\n  \"a\": 1}`, 2500)+`"}`)
		channel := item[strings.Index(item, `{"name":"stable"`):strings.LastIndex(item, "]}}")]
		for j := range channels - 1 {
			item = strings.Replace(item, `"channels":[`, `"channels":[`+strings.Replace(channel, "stable", fmt.Sprintf("fast-%d", j), 1)+",", 1)
		}
		text.WriteString(map[bool]string{true: ","}[i > 0] + item)
	}
	text.WriteString("]}")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	before, loops := processor(b), 0
	for b.Loop() {
		loops++
		if got, err := (catalogue.Manifests{}).Read(b.Context(), strings.NewReader(text.String())); err != nil || len(got.Packages) != size || got.Findings != nil {
			b.Fatal(err, got.Findings)
		}
	}
	b.ReportMetric((processor(b)-before)/float64(loops), "cpu-s/op")
}
