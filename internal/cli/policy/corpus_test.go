package policy

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/policycheck"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// policyBegins finds policies in pages, manifests and test data.
var policyBegins = regexp.MustCompile(`\{\s*"(Version|Statement)":`)

// policiesOf are those of a text, wherever they begin in it.
func policiesOf(text []byte) []string {
	var found []string
	for _, at := range policyBegins.FindAllIndex(text, -1) {
		var raw json.RawMessage
		var members struct{ Statement any }
		if json.NewDecoder(bytes.NewReader(text[at[0]:])).Decode(&raw) != nil || json.Unmarshal(raw, &members) != nil {
			continue
		}
		if members.Statement != nil {
			found = append(found, string(raw))
		}
	}
	return found
}

// kindOf is the kind that a policy looks like.
func kindOf(document string) iampolicy.Kind {
	switch {
	case !strings.Contains(document, `"Principal"`):
		return iampolicy.IdentityPolicy
	case strings.Contains(document, `"sts:AssumeRole`):
		return iampolicy.TrustPolicy
	default:
		return iampolicy.ResourcePolicy
	}
}

// TestOurOwnPoliciesAreClean goes through the repository but for the Go code, the cases of the
// policy library and the page on this command, which have mistakes on purpose.
func TestOurOwnPoliciesAreClean(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	wrong := []string{filepath.Join(root, "iampolicy"), filepath.Join(root, "docs", "policy.md"), filepath.Join(root, ".git")}
	checked, oidc := map[iampolicy.Kind]int{}, 0
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(wrong, path) || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || slices.Contains(wrong, path) || !slices.Contains([]string{".json", ".md", ".yaml", ".sh", ".tf"}, filepath.Ext(path)):
			return nil
		}
		for _, document := range policiesOf(must.Get(os.ReadFile(path))(t)) {
			kind := kindOf(document)
			checked[kind]++
			if kind == iampolicy.TrustPolicy && strings.Contains(document, ":oidc-provider/") {
				oidc++
			}
			for _, text := range everyFinding(kind, document) {
				t.Errorf("%s: %s\n%s", path, text, document)
			}
		}
		return nil
	}))
	if checked[iampolicy.TrustPolicy] < 6 || oidc < 4 || checked[iampolicy.IdentityPolicy] < 10 || checked[iampolicy.ResourcePolicy] < 1 {
		t.Errorf("only %v policies were found, %d of them with an OIDC provider", checked, oidc)
	}
	own := iampolicy.Document{iampolicy.WebIdentity("arn:aws:iam::111122223333:oidc-provider/i.example.com", "sts.amazonaws.com", "system:serviceaccount:shop:cart")}.String()
	for _, text := range everyFinding(iampolicy.TrustPolicy, own) {
		t.Errorf("the statement for a ServiceAccount: %s\n%s", text, own)
	}
}

// everyFinding is what is found in a policy, warnings too.
func everyFinding(kind iampolicy.Kind, document string) []string {
	var texts []string
	found, _ := policycheck.Check(kind, iampolicy.LintOptions{}, []byte(document))
	for _, one := range found.Findings {
		texts = append(texts, string(one.Code)+": "+one.Message)
	}
	return texts
}
