package iam

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

const (
	defaultPage = 100
	maxPage     = 1000
	maxMarker   = 320
)

// page cuts the items, sorted by name, to the page that the call asks for. The
// marker is the last name shown, so that items that come and go between two
// pages do no harm.
func page[T any](r *request, items []T, name func(T) string) ([]T, pageEnd, *call.Fault) {
	size, fault := r.form.Int("MaxItems", defaultPage)
	if fault != nil {
		return nil, pageEnd{}, fault
	}
	var v query.Validation
	v.Number("MaxItems", size, 1, maxPage)
	marker := v.Optional(r.form, "Marker", 1, maxMarker, nil)
	if fault := v.Fault(); fault != nil {
		return nil, pageEnd{}, fault
	}
	slices.SortFunc(items, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	if marker != "" {
		after, err := base64.RawURLEncoding.DecodeString(marker)
		if err != nil {
			return nil, pageEnd{}, badMarker()
		}
		items = slices.DeleteFunc(items, func(item T) bool { return name(item) <= string(after) })
	}
	if len(items) <= size {
		return items, pageEnd{}, nil
	}
	last := base64.RawURLEncoding.EncodeToString([]byte(name(items[size-1])))
	return items[:size], pageEnd{IsTruncated: true, Marker: last}, nil
}
