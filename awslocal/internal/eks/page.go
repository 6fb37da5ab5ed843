package eks

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

const largestPage = 100

// page cuts the items, sorted by name, to the page that the call asks for, and
// returns the token of the next, empty for the last. The token is the last name
// shown, so that items that come and go between two pages do no harm.
func page[T any](r *request, items []T, name func(T) string) ([]T, string) {
	size := largestPage
	if text := r.query.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > largestPage {
			call.Refuse(invalidParameter(textBadSize, text))
		}
		size = n
	}
	slices.SortFunc(items, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	if token := r.query.Get("nextToken"); token != "" {
		after, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			call.Refuse(invalidParameter(textBadNextToken))
		}
		items = slices.DeleteFunc(items, func(item T) bool { return name(item) <= string(after) })
	}
	if len(items) <= size {
		return items, ""
	}
	return items[:size], base64.RawURLEncoding.EncodeToString([]byte(name(items[size-1])))
}
