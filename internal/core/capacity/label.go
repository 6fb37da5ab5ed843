package capacity

import (
	"slices"
	"strings"
)

// archLabel is the label by which the autoscaler knows a node's architecture.
const archLabel = "kubernetes.io/arch"

// labelList is the value of the labels annotation, taken apart as the
// autoscalers do: at commas, then at the first equals sign.
type labelList struct {
	values map[string]string
	// bare are the entries without a value. They mean nothing to the
	// autoscalers; somebody wrote them.
	bare []string
}

func readLabels(text string) labelList {
	out := labelList{values: map[string]string{}}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		key, value, found := strings.Cut(entry, "=")
		switch {
		case found:
			out.values[key] = value // the autoscalers take the last, too
		case entry != "":
			out.bare = append(out.bare, entry)
		}
	}
	return out
}

// String is the same for the same labels, whatever their order was.
func (l labelList) String() string {
	entries := make([]string, 0, len(l.values)+len(l.bare))
	for key, value := range l.values {
		entries = append(entries, key+"="+value)
	}
	slices.Sort(entries)
	return strings.Join(append(entries, l.bare...), ",")
}

// MergeLabels puts the architecture into a labels annotation and leaves all else
// in it. It is idempotent.
func MergeLabels(text, architecture string) string {
	list := readLabels(text)
	list.values[archLabel] = architecture
	return list.String()
}
