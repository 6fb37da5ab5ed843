package webhook

import "github.com/tabard-dev/tabard/internal/core/inject/podpatch"

// The memory of the process is divided: a quarter is for connections with what they
// have sent of small reviews, a quarter for large reviews, an eighth for large answers.
// The rest is for what is known of the cluster, and for the runtime.
const (
	// usualMemory is assumed where nobody has set a limit: that of the manifests.
	usualMemory = 256 << 20
	// connectionMemory is what one takes at most, in bytes: of TLS and HTTP about 45
	// KiB, and its small review while that arrives.
	connectionMemory = 128 << 10
	// An API server needs a connection for each review that is not answered.
	leastConnections, mostConnections = 64, 16384
	// observers is how many connections the plain listener has.
	observers = 64
)

// bounds follow from the memory that the process may take.
type bounds struct {
	// connections is how many are open at a time; those with a client certificate
	// are as many more.
	connections int
	// large is for large reviews, in bytes.
	large int64
	// answers is for large answers, in bytes.
	answers int64
}

// boundsOf are those for so much memory in bytes, 0 if that is not limited.
func boundsOf(memory int64, connections int) bounds {
	if memory <= 0 {
		memory = usualMemory
	}
	if connections <= 0 {
		connections = int(min(max(memory/4/connectionMemory, leastConnections), mostConnections))
	}
	return bounds{connections: connections, large: max(memory/4, maxReview), answers: max(memory/8, answerOf(podpatch.MaxContainers))}
}
