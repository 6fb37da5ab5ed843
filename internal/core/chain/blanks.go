package chain

import (
	"slices"
	"strings"
)

// The words of commands that a person fills in. They are in upper case, as in the helps and the pages. A finding
// names its own: a role may have a name in upper case, too.
const (
	blankRole     = "ROLE_ARN"
	blankAction   = "SERVICE:ACTION"
	blankResource = "RESOURCE_ARN"
	blankFile     = "FILE"
	blankWorkload = "WORKLOAD"
)

// nameWorkload adds the workload to what a person fills in, where no pod tells which it is. Names in a cluster are
// in lower case, so that the word is nothing else in a command of kubectl.
func nameWorkload(f *Finding) {
	for _, command := range f.Mend {
		if strings.HasPrefix(command, "kubectl ") && slices.Contains(strings.Fields(command), blankWorkload) {
			f.Blanks = append(f.Blanks, blankWorkload)
			return
		}
	}
}
