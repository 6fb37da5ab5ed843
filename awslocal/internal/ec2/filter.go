package ec2

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// filters are the values of a type that each filter compares. Those that AWS has
// and this does not are refused, not ignored.
var filters = map[string]func(instanceType) []string{
	"instance-type":                         func(t instanceType) []string { return []string{t.name} },
	"current-generation":                    func(t instanceType) []string { return []string{strconv.FormatBool(t.current)} },
	"bare-metal":                            func(t instanceType) []string { return []string{strconv.FormatBool(t.metal)} },
	"processor-info.supported-architecture": func(t instanceType) []string { return t.architectures },
	"vcpu-info.default-vcpus":               func(t instanceType) []string { return []string{strconv.Itoa(t.vcpus)} },
	"memory-info.size-in-mib":               func(t instanceType) []string { return []string{strconv.Itoa(t.memoryMiB)} },
}

// filtered keeps the items that pass every filter: one of its patterns fits one
// of the item's values.
func filtered[T any](all []T, f form, filters map[string]func(T) []string) ([]T, *call.Fault) {
	for i := 1; i <= maxMembers && f.Has(fmt.Sprintf("Filter.%d.Name", i)); i++ {
		name := f.Get(fmt.Sprintf("Filter.%d.Name", i))
		values, known := filters[name]
		if !known {
			return nil, unknownFilter(name)
		}
		patterns := f.list(fmt.Sprintf("Filter.%d.Value", i))
		all = slices.DeleteFunc(slices.Clone(all), func(item T) bool {
			return !slices.ContainsFunc(values(item), func(value string) bool {
				return slices.ContainsFunc(patterns, func(pattern string) bool { return fits(pattern, value) })
			})
		})
	}
	return all, nil
}

// fits compares with * and ?, as EC2's filters do. It remembers only the last
// star, so that no pattern costs more than its length times the text's.
func fits(pattern, text string) bool {
	p, t, star, back := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, back = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0: // let the last star take one character more
			back++
			p, t = star+1, back
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
