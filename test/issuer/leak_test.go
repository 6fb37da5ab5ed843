package issuer

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/e2e"
)

// TestCommandLineTheLeakedKeyPage types the commands of docs/leaked-signing-key.md, in order, with a
// publisher that is locked out when the leaked key is gone.
func TestCommandLineTheLeakedKeyPage(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "leaked-signing-key.md")))(t)
	blocks := testkit.Blocks(string(text), "sh")
	const wanted = 6
	if len(blocks) != wanted {
		t.Fatalf("the page has %d blocks of commands, the test knows %d", len(blocks), wanted)
	}
	s := open(t, afterOperator)

	seen := strings.Fields(s.follow(blocks[0], ""))
	leaked := seen[0]
	if !slices.Contains(seen[1:], leaked) {
		t.Fatalf("the first line of %q is not one of the others", seen)
	}
	s.follow(blocks[1], leaked)
	s.follow(blocks[2], leaked)
	s.condition(core.TypeKeysInSync, "is out, and the cluster signs with it", is(metav1.ConditionFalse, core.ReasonKeyRevoked))
	s.expectUnpublished(leaked)

	// A publisher that starts now has no session to go on with, and no key to verify its
	// token with is published once AWS asks for the keys again.
	s.stopOperator()
	s.follow(blocks[3], leaked)
	s.must("", s.Kill(t.Context(), "kube-apiserver", "kube-controller-manager"))
	s.repair()
	s.startOperator()
	s.condition(core.TypePublished, "tabard issuer bootstrap", is(metav1.ConditionFalse, core.ReasonNotAuthenticated))
	s.expectUnpublished(leaked)

	s.follow(blocks[4], leaked)
	s.expectUnpublished(leaked)
	s.passKeyCache()
	s.stopOperator()
	s.startOperator()
	s.follow(blocks[5], leaked)
	s.condition(core.TypeReady, "AWS refuses tokens signed with the revoked "+leaked, is(metav1.ConditionTrue, core.ReasonVerified))
	s.expectUnpublished(leaked)
}

// is demands a status and a reason of a condition.
func is(status metav1.ConditionStatus, reason core.Reason) func(metav1.Condition) bool {
	return func(c metav1.Condition) bool { return c.Status == status && c.Reason == string(reason) }
}

// follow runs commands of the page twice, as a reader would who is not sure, on the lab. It
// returns what the second run printed.
func (s scenario) follow(commands, leaked string) string {
	s.Helper()
	for page, here := range map[string]string{
		"/etc/kubernetes/pki/sa": filepath.Join(s.Dir, "pki", "service-account"),
		"oidcissuer cluster":     "oidcissuer " + e2e.IssuerName,
		"oidcissuer/cluster":     "oidcissuer/" + e2e.IssuerName,
		"-f issuer.yaml":         "-f " + s.IssuerManifest(),
		"KEY_ID":                 leaked,
	} {
		commands = strings.ReplaceAll(commands, page, here)
	}
	said := ""
	for range 2 {
		said = s.shell(commands)
		// kubectl restarts a Deployment once a second.
		commands = strings.Replace(commands, "kubectl rollout restart", "sleep 1; kubectl rollout restart", 1)
	}
	return said
}

// shell runs commands on the lab, and returns what they have printed.
func (s scenario) shell(commands string) string {
	s.Helper()
	bin := s.TempDir()
	for name, program := range map[string]string{"kubectl": s.Localkube, "tabard": s.Tabard} {
		must.Do(s, os.Symlink(program, filepath.Join(bin, name)))
	}
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	for name, value := range s.Env {
		if name != "PATH" {
			env = append(env, name+"="+value)
		}
	}
	out, err := s.Exec(s.Context(), env, "bash", "-euo", "pipefail", "-c", commands)
	if err != nil {
		s.Fatalf("the commands failed: %v\n%s\n%s", err, commands, out)
	}
	s.Logf("%s\n%s", commands, out)
	return out
}

// passKeyCache lets the time pass on the local AWS's clock for which it keeps the keys
// that it has fetched; tokens and signatures it judges by the true time all the same.
func (s scenario) passKeyCache() {
	s.Helper()
	const cache, behind = "6m", "-6m"
	clock := map[string]string{"advance": cache, "tokenOffset": behind, "signatureOffset": behind}
	must.Do(s, s.Control(s.Context(), http.MethodPost, "clock", clock, nil))
}

// expectUnpublished looks at the documents as anybody does.
func (s scenario) expectUnpublished(key string) {
	s.Helper()
	client := must.Get(s.Client())(s)
	request := must.Get(http.NewRequestWithContext(s.Context(), http.MethodGet, s.Env["TABARD_ISSUER_URL"]+"/"+core.KeysPath, nil))(s)
	response, err := client.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.Fatalf("GET the keys: %s, %v", response.Status, err)
	}
	if strings.Contains(string(body), key) {
		s.Fatalf("the leaked key %s is published: %s", key, body)
	}
}
