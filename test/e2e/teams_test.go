package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestLongThreeTeamsInThreeAccounts runs every command of the role selectors'
// quickstart, in order. What the page says that they print, they print; and each
// account is asked what is in it.
func TestLongThreeTeamsInThreeAccounts(t *testing.T) {
	t.Parallel()
	page := readPage(t, "role-selectors-quickstart.md")
	before, after, found := strings.Cut(page, "## 7. Clean up")
	if !found {
		t.Fatal("the page has no part in which the lab goes")
	}
	r := newReader(t)
	printed := r.follow(before)
	said := testkit.Blocks(page, "text")
	if len(said) != 7 {
		t.Errorf("the page has %d outputs; the test knows 7", len(said))
	}
	for _, part := range said {
		_, rest, isPrinted := strings.Cut(printed, part)
		if !isPrinted {
			t.Errorf("this is not printed, or not in this order:\n%s", part)
			continue
		}
		printed = rest
	}
	for account, want := range map[string][]string{"111111111111": {"team-a-data"}, "222222222222": {"team-b-data"}, "333333333333": nil} {
		if _, got := r.account(account); !slices.Equal(got, want) {
			t.Errorf("the account %s has the buckets %q, want %q", account, got, want)
		}
	}
	if issuer, got := r.account("123456789012"); !slices.Equal(got, []string{issuer}) {
		t.Errorf("the controller's account has the buckets %q, want only the issuer's, %s", got, issuer)
	}
	r.follow(after)
	r.follow(page) // and all of it again
}

// account asks an account for the names of its buckets. The issuer's is that of
// the lab.
func (r *reader) account(id string) (issuer string, buckets []string) {
	r.t.Helper()
	s := must.Get(Programs(root, r.dir, r.t.Output()))(r.t)
	must.Do(r.t, s.ReadEnv(r.t.Context(), "--account", id))
	config := must.Get(s.Config(s.Administrator()))(r.t)
	out := must.Get(s3.NewFromConfig(config).ListBuckets(r.t.Context(), nil))(r.t)
	for _, b := range out.Buckets {
		buckets = append(buckets, aws.ToString(b.Name))
	}
	return s.Env["TABARD_ISSUER_BUCKET"], buckets
}
