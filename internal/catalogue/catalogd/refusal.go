package catalogd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// refusal is an answer that is no catalogue, by its status.
type refusal struct {
	code int
	// said is what the server says, in one harmless line.
	said string
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("the server answers %d %s", r.code, http.StatusText(r.code))
	if r.said != "" {
		text += ": " + r.said
	}
	return text + r.next()
}

func (r *refusal) next() string {
	switch {
	case r.code == http.StatusNotFound:
		return ""
	case r.code == http.StatusUnauthorized || r.code == http.StatusForbidden || r.code == http.StatusProxyAuthRequired:
		return "; catalogd itself asks for no credentials: look at what is between, or reach it with kubectl port-forward"
	case r.code == http.StatusTooManyRequests || r.code >= http.StatusInternalServerError:
		return "; try again, and if it stays so look at the log of catalogd"
	}
	return "; expected 200 of catalogd: check the URL"
}

// isCode says whether the server answered with this status.
func isCode(err error, code int) bool {
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.code == code
}

// refused reads the beginning of what the server says.
func (r *Reader) refused(response *http.Response, watch *watch) error {
	const most = 16 << 10
	refusal := &refusal{code: response.StatusCode}
	if isPage(response.Header.Get("Content-Type")) {
		refusal.said = "an HTML page"
		return refusal
	}
	body, err := r.unpack(response, watch)
	if err != nil {
		return refusal
	}
	text, _ := io.ReadAll(io.LimitReader(body, most)) // What was read of it is better than nothing.
	var status struct{ Message string }
	if json.Unmarshal(text, &status) == nil && status.Message != "" {
		text = []byte(status.Message)
	}
	refusal.said = line.Of(string(text))
	return refusal
}

// said is what the server says in an error of it.
func said(err error) string {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return "the API server says: " + refused.said
	}
	return line.Of(err.Error())
}
