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
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// policyBegins finds policies in pages, manifests and test data.
var policyBegins = regexp.MustCompile(`\{\s*"(Version|Statement)":`)

// trustPolicies are those of a text, wherever they begin in it.
func trustPolicies(text []byte) []string {
	var found []string
	for _, at := range policyBegins.FindAllIndex(text, -1) {
		var raw json.RawMessage
		var members struct{ Statement any }
		if json.NewDecoder(bytes.NewReader(text[at[0]:])).Decode(&raw) != nil || json.Unmarshal(raw, &members) != nil {
			continue
		}
		if members.Statement != nil && bytes.Contains(raw, []byte(`"Principal"`)) && bytes.Contains(raw, []byte(`"sts:AssumeRole`)) {
			found = append(found, string(raw))
		}
	}
	return found
}

// TestOurOwnTrustPoliciesAreClean goes through the repository but for the Go code, the cases of the
// policy library and the page on this command, which have mistakes on purpose.
func TestOurOwnTrustPoliciesAreClean(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	wrong := []string{filepath.Join(root, "iampolicy"), filepath.Join(root, "docs", "policy.md"), filepath.Join(root, ".git")}
	checked, oidc := 0, 0
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(wrong, path) || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || slices.Contains(wrong, path) || !slices.Contains([]string{".json", ".md", ".yaml", ".sh", ".tf"}, filepath.Ext(path)):
			return nil
		}
		for _, document := range trustPolicies(must.Get(os.ReadFile(path))(t)) {
			checked++
			if strings.Contains(document, ":oidc-provider/") {
				oidc++
			}
			for _, text := range everyFinding(document) {
				t.Errorf("%s: %s\n%s", path, text, document)
			}
		}
		return nil
	}))
	if checked < 6 || oidc < 4 {
		t.Errorf("only %d trust policies were found, %d of them with an OIDC provider", checked, oidc)
	}
	own := iampolicy.Document{iampolicy.WebIdentity("arn:aws:iam::111122223333:oidc-provider/i.example.com", "sts.amazonaws.com", "system:serviceaccount:shop:cart")}.String()
	for _, text := range everyFinding(own) {
		t.Errorf("the statement for a ServiceAccount: %s\n%s", text, own)
	}
}

// everyFinding is what is found in a trust policy, warnings too.
func everyFinding(document string) []string {
	var texts []string
	found, _ := mistakes(&request{kind: iampolicy.TrustPolicy}, []byte(document))
	for _, one := range found {
		texts = append(texts, string(one.Code)+": "+one.Message)
	}
	return texts
}
