package webhook

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/controller/injection"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const page = "../../docs/webhook.md"

// TestLongThePagesCommands runs the commands of docs/webhook.md, and applies its
// examples, as a user does.
func TestLongThePagesCommands(t *testing.T) {
	text := must.Get(os.ReadFile(page))(t)
	commands, examples := testkit.Blocks(string(text), "sh"), testkit.Blocks(string(text), "yaml")
	if len(commands) < 2 || len(examples) < 1 {
		t.Fatalf("%s holds %d commands and %d examples; the test has not found them", page, len(commands), len(examples))
	}
	script := strings.Join(commands, "\n") + "\nkubectl apply -f - <<'END'\n" + strings.Join(examples, "\n---\n") + "\nEND\n"
	server := testkit.StartCluster(t, testkit.ClusterOptions{Issuer: "https://issuer.example.com"})
	server.MakeNamespaces("shop")
	server.Shell(script + script)
}

// TestThePagesMetrics finds every metric that docs/webhook.md names in what the
// webhook and the operator's controllers tell.
func TestThePagesMetrics(t *testing.T) {
	c := startCluster(t)
	c.putCertificate(time.Now())
	c.makeAccounts()
	c.writeConfigMap("{")
	r := c.replica("webhook", "--watch-config-map")
	c.awaitReady(r)
	c.createPod(t.Context(), kind{namespace: c.shop, account: "annotated"})
	c.makeAccount("new", "")
	c.createPod(t.Context(), kind{namespace: c.shop, account: "new"}) // looked up live

	registry := prometheus.NewRegistry()
	certificate.NewMetrics(registry)
	injection.NewMetrics(registry)
	told := c.metrics(r)
	descriptions := make(chan *prometheus.Desc, 100)
	registry.Describe(descriptions)
	close(descriptions)
	for description := range descriptions {
		told += description.String() + "\n"
	}
	text := must.Get(os.ReadFile(page))(t)
	names := regexp.MustCompile(`tabard_(webhook|certificate|injection)_[a-z_]+`).FindAllString(string(text), -1)
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < 8 {
		t.Fatalf("%s names %q; the test has not found them", page, names)
	}
	for _, name := range names {
		if !regexp.MustCompile(name + `\b`).MatchString(strings.ReplaceAll(told, "_bucket", "")) {
			t.Errorf("%s names %s, which nobody tells", page, name)
		}
	}
}

// metrics is what a replica tells of itself.
func (c *cluster) metrics(r *replica) string {
	c.t.Helper()
	request := must.Get(http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://127.0.0.1:"+strconv.Itoa(r.metrics)+"/metrics", nil))(c.t)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text := must.Get(io.ReadAll(response.Body))(c.t)
	return string(text)
}
