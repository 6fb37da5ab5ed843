package explain_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestWhatIsSaidOfACall: it is allowed, nothing allows it, it is denied, or a boundary lacks it. Policies
// are read for a call alone, and at most thirty of them beside the boundary.
func TestWhatIsSaidOfACall(t *testing.T) {
	const allows = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"ec2:*","Resource":"*"}}`
	for name, each := range map[string]struct {
		words  string
		change func(*cloud)
		code   int
		calls  int
	}{
		"allowed":  {"--action s3:GetObject --resource arn:aws:s3:::orders/today.csv", func(*cloud) {}, 0, 8},
		"lacking":  {"--action s3:PutObject --resource arn:aws:s3:::orders/today.csv", func(*cloud) {}, 1, 8},
		"bounded":  {"--action s3:GetObject --resource arn:aws:s3:::orders/today.csv", func(c *cloud) { c.role.Boundary, c.attached[limit] = limit, allows }, 1, 12},
		"unread":   {"--action s3:PutObject --resource arn:aws:s3:::orders/today.csv", func(c *cloud) { c.unread = []string{"orders", queues} }, 3, 8},
		"unlisted": {"", func(c *cloud) { c.unread = []string{"ListRolePolicies"} }, 3, 5},
		"empty":    {"", func(c *cloud) { c.inline, c.attached = nil, nil }, 1, 5},
		"many": {"--action s3:PutObject --resource arn:aws:s3:::orders/today.csv", func(c *cloud) {
			for i := range 50 {
				c.inline[fmt.Sprint(i)] = allows
			}
		}, 3, 35},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := world("checkout")
			each.change(c)
			code, out, said := typed(t, a, c, append([]string{"pod", "checkout-6d9c", "-n", "shop"}, strings.Fields(each.words)...)...)
			if code != each.code || said != "" || c.calls != each.calls {
				t.Errorf("exit code %d, want %d; %d calls of AWS, want %d: %s", code, each.code, c.calls, each.calls, said)
			}
			at := strings.Index(out, "L11 permission")
			if name == "many" { // each policy that was not read has its words
				if out = out[at:]; !strings.Contains(out, "more than 30 policies of a role are not read") || !strings.Contains(out, "needs a try") {
					t.Error(out)
				}
				return
			}
			file := "testdata/call-" + name + ".txt"
			if os.Getenv("UPDATE") != "" {
				must.Do(t, os.WriteFile(file, []byte(out), 0o600))
			}
			if diff := cmp.Diff(string(must.Get(os.ReadFile(file))(t)), out); diff != "" {
				t.Errorf("-%s +printed:\n%s", file, diff)
			}
		})
	}
}
