package podpatch

import (
	"encoding/csv"
	"fmt"
	"strings"
)

// ParseNames reads a list of container names: one CSV record. Blanks around a
// name do not count, and neither do empty names.
func ParseNames(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.TrimLeadingSpace = true
	record, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("%.80q is no list of container names separated by ','", text)
	}
	return named(record), nil
}

// SplitNames reads a list of container names without quotes. Blanks around a name
// do not count, and neither do empty names.
func SplitNames(text, separator string) []string {
	return named(strings.Split(text, separator))
}

// named trims names, and drops the empty ones.
func named(names []string) []string {
	kept := names[:0]
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			kept = append(kept, name)
		}
	}
	return kept
}
