package webhook

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// question is what is asked of a collection, at the version of its last object.
type question struct {
	watch bool
	// limit is how many objects a page has, 0 for all; from how many come before it, or
	// what a watch knows already.
	limit, from int
	// initial says that a watch begins with all that there is and a bookmark.
	initial bool
	lasts   time.Duration
}

// answerError is an answer other than 200.
type answerError struct {
	code    int
	problem string
}

func (e *answerError) Error() string { return e.problem }

func invalid(code int, text string, values ...any) *answerError {
	return &answerError{code, fmt.Sprintf(text, values...)}
}

// readQuestion reads a query as an API server does. Kubernetes: API concepts, "Resource
// versions", "Streaming lists" and "Retrieving large results sets in chunks".
func readQuestion(query url.Values, version int, listOnly bool) (asked question, problem *answerError) {
	numbers := map[string]int{"resourceVersion": -1, "limit": 0, "timeoutSeconds": 3600}
	for name := range numbers {
		text := query.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return asked, invalid(http.StatusBadRequest, "%s is %.40q, expected a number from 0", name, text)
		}
		numbers[name] = n
	}
	at := numbers["resourceVersion"]
	if at > version {
		return asked, invalid(http.StatusGatewayTimeout, "Too large resource version: %d, current: %d", at, version)
	}
	asked = question{watch: query.Get("watch") == "1" || query.Get("watch") == "true", limit: numbers["limit"], lasts: time.Duration(numbers["timeoutSeconds"]) * time.Second}
	if asked.watch {
		return asked.watching(query, at, listOnly)
	}
	return asked.listing(query, at, version)
}

// listing: a continued list is of its first page's version. From the cache, which the
// version 0 asks for, all comes in one piece.
func (q question) listing(query url.Values, at, version int) (question, *answerError) {
	match, next := query.Get("resourceVersionMatch"), query.Get("continue")
	switch {
	case next != "" && at >= 0:
		return q, invalid(http.StatusBadRequest, "specifying resource version is not allowed when using continue")
	case match != "" && at < 0:
		return q, invalid(http.StatusUnprocessableEntity, "resourceVersionMatch is forbidden unless resourceVersion is provided")
	case next != "":
		from, err := base64.RawURLEncoding.DecodeString(next)
		if q.from, _ = strconv.Atoi(string(from)); err != nil || q.from <= 0 || q.from >= version {
			return q, invalid(http.StatusBadRequest, "continue key is not valid")
		}
	case at == 0:
		q.limit = 0
	}
	return q, nil
}

// watching: without a version, or with 0, a watch begins with all that there is. Who asks
// for that by name is told when it is over.
func (q question) watching(query url.Values, at int, listOnly bool) (question, *answerError) {
	q.from = max(at, 0)
	if q.initial = query.Get("sendInitialEvents") == "true"; !q.initial {
		return q, nil
	}
	q.from = 0
	switch {
	case listOnly:
		return q, invalid(http.StatusUnprocessableEntity, "sendInitialEvents is forbidden for watch")
	case query.Get("resourceVersionMatch") != "NotOlderThan":
		return q, invalid(http.StatusUnprocessableEntity, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	case query.Get("allowWatchBookmarks") != "true" && query.Get("allowWatchBookmarks") != "1":
		return q, invalid(http.StatusUnprocessableEntity, "sendInitialEvents requires allowWatchBookmarks")
	}
	return q, nil
}

// token is that of the page after so many objects.
func token(from int) string { return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(from))) }
