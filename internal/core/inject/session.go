package inject

import (
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// maxSessionName is how long a role session's name may be. STS:
// AssumeRoleWithWebIdentity, RoleSessionName, 2 to 64 of [\w+=,.@-].
const maxSessionName = 64

// How Kubernetes makes a name of generateName: it cuts that and appends random
// characters.
const (
	maxGeneratedBase = 58
	generatedSuffix  = 5
)

// podNameVariable is the pod's name in the environment, for one whose name is
// not yet made when it is admitted.
const podNameVariable = "TABARD_POD_NAME"

// sessionName names the role session NAMESPACE.POD. A pod's name has only
// characters that STS accepts, and a namespace has no dot. Where both together
// are too long the namespace is cut, and left out if nothing remains of it; a
// name that is too long by itself is cut.
func sessionName(pod Pod, namespace string) []podpatch.Variable {
	if name := pod.Metadata.Get("name").Text(); name != "" {
		value := sessionPrefix(namespace, len(name)) + name
		return []podpatch.Variable{{Name: sessionVariable, Value: value[:min(len(value), maxSessionName)]}}
	}
	base := pod.Metadata.Get("generateName").Text()
	if base == "" {
		return nil
	}
	prefix := sessionPrefix(namespace, min(len(base), maxGeneratedBase)+generatedSuffix)
	if prefix == "" {
		return []podpatch.Variable{{Name: sessionVariable, Field: "metadata.name"}}
	}
	return []podpatch.Variable{
		{Name: podNameVariable, Field: "metadata.name"},
		{Name: sessionVariable, Value: prefix + "$(" + podNameVariable + ")"},
	}
}

// sessionPrefix is what of the namespace, and a dot, fits before a name.
func sessionPrefix(namespace string, nameLength int) string {
	room := maxSessionName - nameLength - len(".")
	if room <= 0 || namespace == "" {
		return ""
	}
	return namespace[:min(len(namespace), room)] + "."
}
