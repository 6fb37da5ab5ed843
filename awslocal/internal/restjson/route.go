package restjson

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Route names an operation by method and path. Parts of the path in braces are
// variables, such as in "/clusters/{name}".
type Route[O any] struct {
	Method, Path, Operation string
	Run                     O
}

// Operations are the names of all operations that the routes lead to, sorted.
func Operations[O any](routes []Route[O]) []string {
	names := make([]string, 0, len(routes))
	for _, route := range routes {
		names = append(names, route.Operation)
	}
	slices.Sort(names)
	return names
}

// Match finds the route of a request and the values of its variables. The path
// is cut before it is decoded: the slashes of an ARN in it come as %2F.
func Match[O any](routes []Route[O], r *http.Request) (Route[O], map[string]string, bool) {
	for _, route := range routes {
		if route.Method != r.Method {
			continue
		}
		if values, ok := match(route.Path, r.URL.EscapedPath()); ok {
			return route, values, true
		}
	}
	return Route[O]{}, nil, false
}

func match(pattern, path string) (map[string]string, bool) {
	wanted, given := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(wanted) != len(given) {
		return nil, false
	}
	values := map[string]string{}
	for i, part := range wanted {
		text, err := url.PathUnescape(given[i])
		if err != nil {
			return nil, false
		}
		if name, open := strings.CutPrefix(part, "{"); open && text != "" {
			values[strings.TrimSuffix(name, "}")] = text
		} else if part != text {
			return nil, false
		}
	}
	return values, true
}
