package podpatch

import (
	"encoding/csv"
	"fmt"
	"strings"
)

// ParseNames reads a list of container names: one CSV record, whose fields the
// separator divides. Blanks around a name do not count, and neither do empty
// names.
func ParseNames(text string, separator rune) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = separator
	reader.TrimLeadingSpace = true
	record, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("%.80q is no list of container names separated by %q", text, separator)
	}
	names := record[:0]
	for _, name := range record {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}
