package podidentity

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// All texts of the agent's own errors are here. It has no codes; those below are
// for the journal.
const (
	textEmpty    = "Service account token cannot be empty"
	textNoToken  = "Service account token cannot be parsed: %s"
	textExpired  = "Service account token failed basic claim validations: token is expired"
	textEarly    = "Service account token failed basic claim validations: token is not valid yet"
	textHost     = "Access Denied. Called agent through invalid address, please use an address of the server and not %s"
	textThrottle = "Too Many Requests"
)

func badToken(message string) *call.Fault {
	return &call.Fault{Code: "InvalidToken", Status: http.StatusBadRequest, Message: message}
}

func wrongHost(host string) *call.Fault {
	return &call.Fault{Code: "AccessDenied", Status: http.StatusForbidden, Message: fmt.Sprintf(textHost, strings.ToValidUTF8(host, "?"))}
}

// passedOn is how the agent writes an error of EKS Auth. When it is asked too
// often it answers itself.
func passedOn(c *call.Call, fault *call.Fault) string {
	if fault.Status == http.StatusTooManyRequests {
		return textThrottle
	}
	side := "client"
	if fault.Status >= http.StatusInternalServerError {
		side = "server"
	}
	return fmt.Sprintf("[%s]: (%s): %s, fault: %s", c.ID, fault.Code, fault.Message, side)
}
