// Package console proves what people see of "tabard console" in a real browser, headless Chromium,
// against the real program. The scenarios are in internal/console/web/test.
package console

import (
	"os"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/consoletest"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// root is that of the checkout.
const root = "../.."

// console is a running "tabard console".
type console struct{ *consoletest.Console }

// start starts the console with flags, and ends it with the test.
func start(t *testing.T, flags ...string) *console {
	t.Helper()
	return &console{consoletest.Start(t, nil, flags...)}
}

// plays plays a scenario in a browser of its own.
func (c *console) plays(name string, data map[string]string) {
	c.Helper()
	c.Plays(name, data)
}

func TestBrowserShowsTheOperatorsOfACluster(t *testing.T) {
	c := shared(t)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("list", nil)
}
