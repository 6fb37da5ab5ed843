package console

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// alone takes away what leads to a cluster.
func alone(t *testing.T) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "nothing"))
	t.Setenv("HOME", t.TempDir())
}

func TestBrowserFiltersTheList(t *testing.T) {
	c := shared(t)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("filters", nil)
}

func TestBrowserShowsWhatOperatorsAskFor(t *testing.T) {
	c := shared(t)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("operator", nil)
}

func TestBrowserReadsACatalogueInAFile(t *testing.T) {
	alone(t)
	start(t, "--catalogue", filepath.Join(root, "examples", "operators", "catalog.json")).plays("file", nil)
}

func TestBrowserWritesSentences(t *testing.T) {
	start(t, "--catalogue", filepath.Join(root, "examples", "operators", "catalog.json")).plays("sentences", nil)
}

func TestBrowserSaysWhichRightIsMissing(t *testing.T) {
	c := shared(t)
	nobody := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.NewNamespace(), Name: "nobody"}}
	c.Make(nobody)
	start(t, "--kubeconfig", c.Kubeconfig(c.Account(nobody.Namespace, nobody.Name))).plays("norights", nil)
}

func TestBrowserSaysHowToBeginAgain(t *testing.T) {
	c := shared(t)
	run := start(t, "--kubeconfig", c.Kubeconfig(c.Config))
	terminal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, run.Another()) }))
	t.Cleanup(terminal.Close)
	run.plays("ended", map[string]string{"terminal": terminal.URL})
}

func TestBrowserReadsOnly(t *testing.T) {
	c := shared(t)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config), "--read-only").plays("readonly", nil)
}

// What a stranger writes into a catalogue is shown as text.
func TestBrowserShowsTextsOfStrangers(t *testing.T) {
	alone(t)
	const turn = "\u202e"
	var text bytes.Buffer
	var names []string
	write := json.NewEncoder(&text)
	write.SetEscapeHTML(false)
	long := strings.Repeat("x", 10_000)
	for name, word := range map[string]string{
		"markup": `<img src=x onerror=alert(1)><script>window.ran=true</script><iframe src="https://elsewhere.example"></iframe>`,
		"script": `javascript:alert(1)`, "turned": "safe" + turn + "gpj.exe", "long": long,
		"linked": `[click](javascript:alert(1)) ![picture](https://elsewhere.example/x.png) https://elsewhere.example/`,
	} {
		names = append(names, name)
		must.Do(t, write.Encode(map[string]any{"schema": "olm.package", "name": name, "defaultChannel": "stable"}))
		must.Do(t, write.Encode(map[string]any{"schema": "olm.channel", "package": name, "name": "stable", "entries": []any{map[string]any{"name": name + ".v1.0.0"}}}))
		must.Do(t, write.Encode(map[string]any{"schema": "olm.bundle", "package": name, "name": name + ".v1.0.0", "image": "registry.example.com/x:1", "properties": []any{
			map[string]any{"type": "olm.package", "value": map[string]any{"packageName": name, "version": "1.0.0"}},
			map[string]any{"type": "olm.csv.metadata", "value": map[string]any{
				"displayName": word, "provider": map[string]any{"name": word}, "description": word + "\n```\n" + word + "\n```\n<b>" + word,
				"annotations": map[string]any{
					"repository": word, "description": word, "categories": word, "capabilities": word,
					"features.operators.openshift.io/token-auth-aws": "true", "operatorframework.io/suggested-namespace": word,
				},
				"installModes": []any{map[string]any{"type": "AllNamespaces", "supported": true}},
			}},
		}}))
	}
	file := filepath.Join(t.TempDir(), "catalog.json")
	must.Do(t, os.WriteFile(file, text.Bytes(), 0o600))
	given := string(must.Get(json.Marshal(names))(t))
	start(t, "--catalogue", file).plays("injected", map[string]string{"names": given, "turn": turn})
}

func TestBrowserRefusesForeignPages(t *testing.T) {
	c := shared(t)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("foreign", nil)
}

func TestBrowserRefusesAnotherHost(t *testing.T) {
	alone(t)
	start(t, "--catalogue", filepath.Join(root, "examples", "operators", "catalog.json")).plays("rebinding", nil)
}

func TestBrowserShowsManyOperators(t *testing.T) {
	generate := exec.CommandContext(t.Context(), "go", "run", "./hack/catalogue", "-packages", "5000", "-bundles", "5000", "-bytes", "20000000")
	generate.Dir = root
	file := filepath.Join(t.TempDir(), "catalog.json")
	must.Do(t, os.WriteFile(file, must.Get(generate.Output())(t), 0o600))
	alone(t)
	start(t, "--catalogue", file).plays("many", nil)
}

func TestBrowserSaysThatTheConsoleIsGone(t *testing.T) {
	c := shared(t)
	run := start(t, "--kubeconfig", c.Kubeconfig(c.Config))
	run.plays("gone", map[string]string{"pid": strconv.Itoa(run.PID)})
}
