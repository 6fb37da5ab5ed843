package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// query are the parameters of a request. The first that is wrong is kept, so that all can be read before
// one asks.
type query struct {
	values url.Values
	wrong  *Problem
}

// queryOf reads the parameters that an endpoint has. One that it does not have is refused: a filter
// that is passed over would show too much.
func queryOf(r *http.Request, names ...string) *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.refuse("the parameters cannot be read: %v", err)
	}
	for name := range values {
		if !slices.Contains(names, name) {
			q.refuse("there is no parameter %.80q, expected some of %s", name, strings.Join(names, ", "))
		}
	}
	return q
}

func (q *query) refuse(format string, args ...any) {
	if q.wrong == nil {
		q.wrong = &Problem{Status: http.StatusBadRequest, Code: "parameter", Title: "The address cannot be read", Detail: fmt.Sprintf(format, args...)}
	}
}

// err is what is wrong with the parameters; nil for nothing.
func (q *query) err() error {
	if q.wrong == nil {
		return nil
	}
	return q.wrong
}

// text is a parameter that is given once at most.
func (q *query) text(name string) string {
	all := q.values[name]
	if len(all) > 1 {
		q.refuse("the parameter %s is given %d times, expected once", name, len(all))
	}
	return q.values.Get(name)
}

// oneOf is a parameter with one of some values, or none.
func (q *query) oneOf(name string, values ...string) string {
	text := q.text(name)
	if text != "" && !slices.Contains(values, text) {
		q.refuse("the parameter %s is %.80q, expected one of %s", name, text, strings.Join(values, ", "))
	}
	return text
}

// number is a parameter between two numbers, or what it is without one.
func (q *query) number(name string, least, most, without int) int {
	text := q.text(name)
	if text == "" {
		return without
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > most {
		q.refuse("the parameter %s is %.80q, expected a number from %d to %d", name, text, least, most)
	}
	return number
}
