package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// audit notes a write in one line: who, what, of which digest, by which verdict, and whether it was done.
// No value of a role's is in it.
func (s *Server) audit(verb, kind, namespace, name, digest, verdict string, err error) {
	done := "done"
	if err != nil {
		done = problemOf(err).Code
	}
	s.Audit.Info("audit", "user", s.World.User, "verb", verb, "kind", kind, "namespace", namespace, "name", name, "digest", digest, "verdict", verdict, "result", done)
}

// versionBy is a digest that is cut to what tells the versions of a document apart.
func versionBy(digest []byte) string { return hex.EncodeToString(digest[:8]) }

// digestOf is one of plain values.
func digestOf(values ...any) string {
	text, _ := json.Marshal(values) // texts, numbers and maps of them have JSON
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
