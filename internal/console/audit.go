package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// audit notes a write in one line: who, what, of which digest, by which verdict, why a risk was taken, and
// whether it was done. No value of a role's is in it.
func (s *Server) audit(verb, kind, namespace, name, digest string, going installing.Going, err error) {
	done := "done"
	if err != nil {
		done = problemOf(err).Code
	}
	said := []any{"user", s.World.User, "verb", verb, "kind", kind, "namespace", namespace, "name", name, "digest", digest, "verdict", string(going.Verdict)}
	if going.Verdict == operator.VerdictOverridden && going.Reason != "" {
		said = append(said, "reason", going.Reason)
	}
	s.Audit.Info("audit", append(said, "result", done)...)
}

// versionBy is a digest that is cut to what tells the versions of a document apart.
func versionBy(digest []byte) string { return hex.EncodeToString(digest[:8]) }

// digestOf is one of plain values.
func digestOf(values ...any) string {
	text, _ := json.Marshal(values) // texts, numbers and maps of them have JSON
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
