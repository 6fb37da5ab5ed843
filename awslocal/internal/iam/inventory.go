package iam

import (
	"maps"
	"slices"
)

// Operations are the names of all operations that the service plays, sorted.
func Operations() []string { return slices.Sorted(maps.Keys(operations)) }
