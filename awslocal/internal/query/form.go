// Package query speaks AWS's query protocol, which STS and IAM share: a form
// comes in, XML goes out.
package query

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// maxMembers bounds a list, so that a form of a few bytes cannot ask for much.
const maxMembers = 1000

// Form is the parameters of one call.
type Form struct{ values url.Values }

// Read takes the parameters from the body of a POST or the query of a GET.
func Read(c *call.Call) (Form, *call.Fault) {
	raw := c.HTTP.URL.RawQuery
	if c.HTTP.Method != http.MethodGet {
		raw = string(c.Payload)
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return Form{}, &call.Fault{Code: "MalformedQueryString", Status: http.StatusBadRequest, Message: "The parameters are no valid application/x-www-form-urlencoded text."}
	}
	// What is kept of a form, such as a name, must not keep all of it in memory.
	for _, texts := range values {
		for i, text := range texts {
			texts[i] = strings.Clone(text)
		}
	}
	return Form{values}, nil
}

// NewForm is a form of given values.
func NewForm(values url.Values) Form { return Form{values} }

// Get returns a parameter, or the empty text.
func (f Form) Get(name string) string { return f.values.Get(name) }

// Has says whether a parameter, or a list or structure of that name, is there.
func (f Form) Has(name string) bool {
	for key := range f.values {
		if key == name || strings.HasPrefix(key, name+".") {
			return true
		}
	}
	return false
}

// List returns NAME.member.1, NAME.member.2, … up to the first that is missing.
func (f Form) List(name string) []string {
	list := []string{}
	for i := 1; i <= maxMembers; i++ {
		key := fmt.Sprintf("%s.member.%d", name, i)
		if !f.values.Has(key) {
			break
		}
		list = append(list, f.values.Get(key))
	}
	return list
}

// Tag is a key and its value.
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Structures returns NAME.member.1., NAME.member.2., … up to the first of which
// there is no parameter with that field: what the names of a structure's fields
// begin with.
func (f Form) Structures(name, field string) []string {
	list := []string{}
	for i := 1; i <= maxMembers; i++ {
		prefix := fmt.Sprintf("%s.member.%d.", name, i)
		if !f.values.Has(prefix + field) {
			break
		}
		list = append(list, prefix)
	}
	return list
}

// Tags returns NAME.member.N.Key and NAME.member.N.Value.
func (f Form) Tags(name string) []Tag {
	tags := []Tag{}
	for _, prefix := range f.Structures(name, "Key") {
		tags = append(tags, Tag{Key: f.values.Get(prefix + "Key"), Value: f.values.Get(prefix + "Value")})
	}
	return tags
}

// Int returns a number, or the fallback where the parameter is absent.
func (f Form) Int(name string, fallback int) (int, *call.Fault) {
	text := f.values.Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, &call.Fault{Code: "MalformedInput", Status: http.StatusBadRequest, Message: name + " is no whole number."}
	}
	return n, nil
}
