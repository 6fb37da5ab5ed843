package catalogue_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// vendor is a catalogue as large as that of a large vendor.
var vendor = generate.Plan{Seed: 1, Packages: 300, Bundles: 5000, Bytes: 60_000_000}

// Scenario 11: a catalogue of 5,000 bundles and 60 MB. What is asserted is memory; the benchmark
// measures time.
func TestLongScenario11ACatalogueOfFullSizeTakesLittleMemory(t *testing.T) {
	const most = 64 << 20
	file := bytes.Buffer{}
	if err := vendor.JSON(&file); err != nil {
		t.Fatal(err)
	}
	base := live()
	got, err := catalogue.Reader{Stdin: bytes.NewReader(file.Bytes())}.Read(t.Context(), "-")
	if err != nil {
		t.Fatal(err)
	}
	if taken := live() - base; taken > most {
		t.Errorf("%d bytes are alive, want %d at most", taken, most)
	} else {
		t.Logf("%d bytes of %d are alive", taken, file.Len())
	}
	if bundles, found := count(got); bundles != vendor.Bundles || len(got.Packages) != vendor.Packages || found != 0 {
		t.Errorf("%d packages, %d bundles, %d findings: %v", len(got.Packages), bundles, found, got.Findings)
	}
	runtime.KeepAlive(file)
}

// live is what is alive on the heap, in bytes.
func live() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func count(c model.Catalogue) (bundles, findings int) {
	for _, p := range c.Packages {
		bundles += len(p.Bundles)
	}
	return bundles, len(c.Findings)
}

func BenchmarkRead(b *testing.B) {
	for name, write := range map[string]func(generate.Plan, *bytes.Buffer) error{
		"JSON": func(p generate.Plan, out *bytes.Buffer) error { return p.JSON(out) },
		// A tenth, because YAML takes several times as long.
		"YAML tenth": func(p generate.Plan, out *bytes.Buffer) error {
			p.Packages, p.Bundles, p.Bytes = p.Packages/10, p.Bundles/10, p.Bytes/10
			return p.YAML(out)
		},
	} {
		b.Run(name, func(b *testing.B) {
			var file bytes.Buffer
			if err := write(vendor, &file); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(file.Len()))
			b.ReportAllocs()
			before, loops := processor(b), 0
			for b.Loop() {
				loops++
				if _, err := (catalogue.Reader{Stdin: bytes.NewReader(file.Bytes())}).Read(b.Context(), "-"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processor(b)-before)/float64(loops), "cpu-s/op")
		})
	}
}

// processor is how many seconds of processors the process took so far: on a machine that does
// other things it says more than a clock.
func processor(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func BenchmarkList(b *testing.B) {
	var file bytes.Buffer
	if err := vendor.JSON(&file); err != nil {
		b.Fatal(err)
	}
	read, err := catalogue.Reader{Stdin: &file}.Read(b.Context(), "-")
	if err != nil {
		b.Fatal(err)
	}
	yes := model.Yes
	filter := model.Filter{Tokens: &yes, Features: []model.Feature{model.Disconnected}, Category: "storage", Search: "operator example"}
	for b.Loop() {
		if listing := read.List(filter); len(listing.Rows) == 0 {
			b.Fatal("nothing is listed")
		}
	}
}

// A catalogue without end is an error, not the end of the machine's memory.
func TestLongACatalogueWithoutEnd(t *testing.T) {
	value := `{"type":"olm.csv.metadata","value":{"annotations":{"description":"` + strings.Repeat("x", 250<<10) + `"}}}`
	_, err := catalogue.Reader{Stdin: &endless{value: value}}.Read(t.Context(), "-")
	if err == nil || !strings.Contains(err.Error(), "more than 256 MiB") {
		t.Errorf("the error is %v", err)
	}
}

// endless makes one bundle after the other.
type endless struct {
	value string
	rest  []byte
	made  int
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.made++
		e.rest = []byte(bundleWith(fmt.Sprintf("p.v%d", e.made), e.value) + "\n")
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}
