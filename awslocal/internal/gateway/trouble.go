package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// answerTimeout is how long a client may take to read an answer that came late.
const answerTimeout = 2 * time.Minute

// trouble lets a call wait and fail as a test asked for.
func (g *Gateway) trouble(w http.ResponseWriter, c *call.Call, service string) func(string) *call.Fault {
	return func(operation string) *call.Fault {
		trouble := g.options.Faults.Next(service, operation, c.Region)
		if trouble.Latency > 0 {
			// The connection's deadlines are meant for slow clients, and would end
			// the wait after minutes. Not all connections have some.
			connection := http.NewResponseController(w)
			_ = connection.SetReadDeadline(time.Time{})
			_ = connection.SetWriteDeadline(time.Time{})
			trouble.Wait(c.HTTP.Context())
			_ = connection.SetWriteDeadline(time.Now().Add(answerTimeout))
		}
		if trouble.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(trouble.RetryAfter))
		}
		return trouble.Failure
	}
}
