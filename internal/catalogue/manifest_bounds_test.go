package catalogue_test

import (
	"encoding/json"
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
