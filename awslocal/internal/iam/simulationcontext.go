package iam

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// listSuffix ends the types of keys that may have several values.
const listSuffix = "List"

// valueChecks say whether a text is a value of a type (IAM: data type
// ContextEntry, ContextKeyType).
var valueChecks = map[string]func(string) bool{
	"string":  func(string) bool { return true },
	"numeric": func(text string) bool { _, err := strconv.ParseFloat(text, 64); return err == nil },
	"boolean": func(text string) bool { return strings.EqualFold(text, "true") || strings.EqualFold(text, "false") },
	"ip":      isAddress,
	"binary":  func(text string) bool { _, err := base64.StdEncoding.DecodeString(text); return err == nil },
	"date":    isDate,
}

func isAddress(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	_, err := netip.ParsePrefix(text)
	return err == nil
}

func isDate(text string) bool {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return true
	}
	return slices.ContainsFunc([]string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly}, func(layout string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	})
}

// readContext reads ContextEntries. A key that comes twice, ignoring case, would
// leave open which of the two counts.
func readContext(form query.Form) iampolicy.Context {
	context := iampolicy.NewContext()
	for _, prefix := range form.Structures("ContextEntries", "ContextKeyName") {
		name := form.Get(prefix + "ContextKeyName")
		if _, twice := context.Get(name); twice || len(name) < 5 || len(name) > 256 {
			call.Refuse(badContextKey(name))
		}
		values, typed := form.List(prefix+"ContextKeyValues"), form.Get(prefix+"ContextKeyType")
		single := strings.TrimSuffix(typed, listSuffix)
		check, known := valueChecks[single]
		if !known {
			call.Refuse(badContextType(name, typed))
		}
		if typed == single && len(values) != 1 || !allOf(values, check) {
			call.Refuse(badContextValues(name, typed))
		}
		context.Set(name, values...)
	}
	return context
}

func allOf(values []string, check func(string) bool) bool {
	return !slices.ContainsFunc(values, func(value string) bool { return !check(value) })
}
