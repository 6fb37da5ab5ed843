package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/test/onlab"
)

// TestCommandLineTheLeakedKeyPage types the commands of docs/leaked-signing-key.md, in order, with a
// publisher that is locked out when the leaked key is gone.
func TestCommandLineTheLeakedKeyPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "leaked-signing-key.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := testkit.Blocks(string(text), "sh")
	const wanted = 6
	if len(blocks) != wanted {
		t.Fatalf("the page has %d blocks of commands, the test knows %d", len(blocks), wanted)
	}
	s := lab(t, afterOperator)

	seen := strings.Fields(s.follow(t, blocks[0], ""))
	leaked := seen[0]
	if !slices.Contains(seen[1:], leaked) {
		t.Fatalf("the first line of %q is not one of the others", seen)
	}
	s.follow(t, blocks[1], leaked)
	s.follow(t, blocks[2], leaked)
	s.awaitCondition(t, core.TypeKeysInSync, metav1.ConditionFalse, core.ReasonKeyRevoked, "is out, and the cluster signs with it")
	s.expectUnpublished(t, leaked)

	// A publisher that starts now has no session to go on with, and no key to verify its
	// token with is published once AWS asks for the keys again.
	s.stop(t, "tabard-issuer")
	s.follow(t, blocks[3], leaked)
	s.kill(t, "kube-apiserver", "kube-controller-manager")
	if out, err := s.RunTabard(t.Context(), "lab", "up", "--dir", s.Dir, "--localkube", s.Localkube); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := s.detachIssuer(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.awaitCondition(t, core.TypePublished, metav1.ConditionFalse, core.ReasonNotAuthenticated, "tabard issuer bootstrap")
	s.expectUnpublished(t, leaked)

	s.follow(t, blocks[4], leaked)
	s.expectUnpublished(t, leaked)
	s.passKeyCache(t)
	s.stop(t, "tabard-issuer")
	if err := s.detachIssuer(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.follow(t, blocks[5], leaked)
	s.awaitCondition(t, core.TypeReady, metav1.ConditionTrue, core.ReasonVerified, "AWS refuses tokens signed with the revoked "+leaked)
	s.expectUnpublished(t, leaked)
}

// follow runs commands of the page as its reader would, on the lab.
func (s *Story) follow(t *testing.T, commands, leaked string) string {
	t.Helper()
	for page, here := range map[string]string{
		"/etc/kubernetes/pki/sa": filepath.Join(s.Dir, "pki", "service-account"),
		"oidcissuer cluster":     "oidcissuer " + issuerName,
		"oidcissuer/cluster":     "oidcissuer/" + issuerName,
		"-f issuer.yaml":         "-f " + s.issuerManifest(),
		"KEY_ID":                 leaked,
	} {
		commands = strings.ReplaceAll(commands, page, here)
	}
	bin := t.TempDir()
	for name, program := range map[string]string{"kubectl": s.Localkube, "tabard": s.Tabard} {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	for name, value := range s.Env {
		if name != "PATH" {
			env = append(env, name+"="+value)
		}
	}
	out, err := s.Exec(t.Context(), env, "bash", "-euo", "pipefail", "-c", commands)
	if err != nil {
		t.Fatalf("the page's commands failed: %v\n%s\n%s", err, commands, out)
	}
	t.Logf("%s\n%s", commands, out)
	return out
}

// passKeyCache lets the time pass on the local AWS's clock for which it keeps the keys
// that it has fetched; tokens and signatures it judges by the true time all the same.
func (s *Story) passKeyCache(t *testing.T) {
	t.Helper()
	const cache, behind = "6m", "-6m"
	clock := map[string]string{"advance": cache, "tokenOffset": behind, "signatureOffset": behind}
	if err := s.Control(t.Context(), http.MethodPost, "clock", clock, nil); err != nil {
		t.Fatal(err)
	}
}

// expectUnpublished looks at the documents as anybody does.
func (s *Story) expectUnpublished(t *testing.T, key string) {
	t.Helper()
	client, err := s.Client()
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Env["TABARD_ISSUER_URL"]+"/"+core.KeysPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET the keys: %s, %v", response.Status, err)
	}
	if strings.Contains(string(body), key) {
		t.Fatalf("the leaked key %s is published: %s", key, body)
	}
}

// awaitCondition waits until a condition is as wanted and says a text.
func (s *Story) awaitCondition(t *testing.T, kind string, status metav1.ConditionStatus, reason core.Reason, says string) {
	t.Helper()
	err := onlab.Eventually(t.Context(), 4*time.Minute, func(ctx context.Context) error {
		issuer, err := s.issuer(ctx)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(issuer.Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != string(reason) || !strings.Contains(c.Message, says) {
			return fmt.Errorf("%s is %+v, want %s %s saying %q", kind, c, status, reason, says)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
