package console

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The load: so many browsers, each of which reads so many pages of lists of so many rows.
const (
	loadSessions = 50
	loadReads    = 40
	loadPackages = 5000
	loadPods     = 5000
	// listsOfPods is how many requests one look at all pods takes at most, and looksEvery how long a look is
	// good for at least (internal/console/workloads_read.go).
	listsOfPods = loadPods/500 + 1
	looksEvery  = 5 * time.Second
	// mostMemory is what the console may have needed at most, in kB.
	mostMemory = 400_000
)

// Fifty browsers that page through 5,000 operators and 5,000 pods, and follow them, cost the cluster what
// one costs, and a bounded amount of memory.
func TestLongFiftyBrowsersCostTheClusterWhatOneCosts(t *testing.T) {
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{})
	crowd(cluster, loadPods)
	catalogue := filepath.Join(t.TempDir(), "catalog.json")
	file := must.Get(os.Create(catalogue))(t)
	must.Do(t, generate.Plan{Seed: 1, Packages: loadPackages, Bundles: loadPackages, Bytes: 20_000_000}.JSON(file))
	must.Do(t, file.Close())
	c := start(t, "--kubeconfig", cluster.Kubeconfig(cluster.Config), "--catalogue", catalogue)
	browsers := make([]*client, loadSessions)
	for i := range browsers {
		browsers[i] = c.open()
	}
	browsers[0].get("operators", new(any)) // the catalogue is read
	first := memory(t, c.PID, "VmRSS")

	before, begun := listed(cluster), time.Now()
	reads, errs := browse(browsers)
	took, lists := time.Since(begun), listed(cluster)-before
	for _, err := range errs {
		t.Error(err)
	}
	if most := listsOfPods * (2 + int(took/looksEvery)); lists > most || lists == 0 {
		t.Errorf("the API server was asked %d times for pods in %s, want at most %d, and once at least", lists, took, most)
	}
	peak := memory(t, c.PID, "VmHWM")
	if peak > mostMemory {
		t.Errorf("the console needed %d kB at most, want at most %d kB", peak, mostMemory)
	}
	t.Logf("%d sessions: %d reads in %.1f s, which is %.0f a second; %d lists of pods; memory %d MB with the catalogue, %d MB at most",
		len(browsers), reads, took.Seconds(), float64(reads)/took.Seconds(), lists, first/1000, peak/1000)
}

// browse has each browser follow the pods, and read pages of both lists.
func browse(browsers []*client) (reads int64, errs []error) {
	var together sync.WaitGroup
	var done atomic.Int64
	all := make([]error, len(browsers))
	for i, browser := range browsers {
		together.Go(func() {
			all[i] = errors.Join(browser.follows(), browser.pages(&done))
		})
	}
	together.Wait()
	for _, err := range all {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return done.Load(), errs
}

// follows opens the stream of the lists, and waits for its first event. The stream stays open until the test
// ends.
func (c *client) follows() error {
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, c.origin+"/api/v1/events?of=workloads", nil)
	if err != nil {
		return err
	}
	request.Header.Set("X-Tabard-CSRF", c.csrf)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	c.Cleanup(func() { _ = response.Body.Close() })
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "event:") {
			return nil
		}
	}
	return errors.New("the stream has no event")
}

// pages reads pages of both lists in turn, at the rate that a session may.
func (c *client) pages(done *atomic.Int64) error {
	for n := range loadReads {
		path, total := fmt.Sprintf("workloads/pods?page=%d&limit=100", n+1), loadPods
		if n%2 == 0 {
			path, total = fmt.Sprintf("operators?page=%d&limit=100", n+1), loadPackages
		}
		var got struct {
			Total int
			Items []json.RawMessage
		}
		if err := c.tries(path, &got); err != nil {
			return err
		}
		if got.Total != total || len(got.Items) != 100 {
			return fmt.Errorf("%s has %d of %d rows, want 100 of %d", path, len(got.Items), got.Total, total)
		}
		done.Add(1)
	}
	return nil
}

// listed is how often an API server was asked for a list of pods.
func listed(c *testkit.Cluster) int {
	c.Helper()
	text := must.Get(c.Kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(c.Context()))(c)
	out := 0
	for _, found := range regexp.MustCompile(`(?m)^apiserver_request_total\{.*resource="pods".*verb="LIST".*\} (\d+)$`).FindAllSubmatch(text, -1) {
		out += must.Get(strconv.Atoi(string(found[1])))(c)
	}
	return out
}

// memory is a line of what the kernel says of a process, in kB.
func memory(t *testing.T, pid int, name string) int {
	t.Helper()
	text := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("the kernel says no %s of the console", name)
	}
	return must.Get(strconv.Atoi(string(found[1])))(t)
}
