package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// step is an entry of a channel; its names are versions.
type step struct {
	version, replaces string
	skips             []string
	skipRange         string
}

// drawnPackage is a package of a file-based catalogue with channels.
func drawnPackage(t *testing.T, write *json.Encoder, name, defaultChannel string, channels map[string][]step) {
	t.Helper()
	csv := func(version string) string {
		if version == "" {
			return ""
		}
		return name + ".v" + version
	}
	must.Do(t, write.Encode(map[string]any{"schema": "olm.package", "name": name, "defaultChannel": defaultChannel}))
	has := map[string]bool{}
	for channel, steps := range channels {
		var entries []any
		for _, one := range steps {
			skips := []any{}
			for _, version := range one.skips {
				skips = append(skips, csv(version))
			}
			entries = append(entries, map[string]any{"name": csv(one.version), "replaces": csv(one.replaces), "skips": skips, "skipRange": one.skipRange})
			if has[one.version] {
				continue
			}
			has[one.version] = true
			must.Do(t, write.Encode(map[string]any{"schema": "olm.bundle", "package": name, "name": csv(one.version), "image": "registry.example.com/x:1", "properties": []any{
				map[string]any{"type": "olm.package", "value": map[string]any{"packageName": name, "version": one.version}},
			}}))
		}
		must.Do(t, write.Encode(map[string]any{"schema": "olm.channel", "package": name, "name": channel, "entries": entries}))
	}
}

func TestBrowserDrawsTheUpgradesOfAChannel(t *testing.T) {
	alone(t)
	var text bytes.Buffer
	write := json.NewEncoder(&text)
	drawnPackage(t, write, "grown", "stable", map[string][]step{
		"stable": {
			{version: "1.0.0"}, {version: "1.1.0", replaces: "1.0.0"}, {version: "1.2.0", replaces: "1.1.0", skips: []string{"1.0.0", "0.9.0"}},
			{version: "1.3.0", replaces: "1.3.0"}, {version: "1.4.0", replaces: "1.2.0"},
		},
		"circle": {{version: "1.0.0", replaces: "1.1.0"}, {version: "1.1.0", replaces: "1.0.0"}},
	})
	name := func(n int) string { return fmt.Sprintf("2.0.%d-%s", n, strings.Repeat("candidate", 8)) }
	long := []step{{version: name(0)}}
	for n := 1; n < 104; n++ {
		long = append(long, step{version: name(n), replaces: name(n - 1), skips: []string{name(n - n%5 - 3)}})
	}
	long = append(long, step{version: "2.1.0", replaces: name(103), skipRange: ">=2.0.90 <2.1.0"})
	drawnPackage(t, write, "vast", "long", map[string][]step{"long": long})
	file := filepath.Join(t.TempDir(), "catalog.json")
	must.Do(t, os.WriteFile(file, text.Bytes(), 0o600))
	start(t, "--catalogue", file).plays("graph", nil)
}
